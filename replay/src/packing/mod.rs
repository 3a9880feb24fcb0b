//! Compressed bytes: files, and bodies that a recorder kept as they were sent.
//!
//! Everything before damage is kept: a truncated recording is still a recording. All output has a limit, because a
//! compressed kilobyte may become a gigabyte.

mod zlib;
mod zstd;

use std::io::{BufRead, Read};

use forkcast_sim::words;

use brotli_decompressor::Decompressor as BrotliDecoder;
use flate2::bufread::MultiGzDecoder;

words! {
    /// A compression.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Packing {
        /// RFC 1952, any number of members.
        Gzip = "gzip",
        /// RFC 1950: `deflate` in HTTP, and files of ruby VCR (`serialize_with: :compressed`) and mitmproxy (`.zhar`).
        Zlib = "zlib",
        /// RFC 1951 without a frame: some servers send this as `deflate`.
        Deflate = "deflate",
        /// RFC 8878, any number of frames.
        Zstd = "zstd",
        /// RFC 7932; it has no magic bytes, so only a header can name it.
        Brotli = "brotli",
    }
}

/// Decompressed bytes.
pub(crate) struct Unpacked {
    /// The bytes up to the end or the damage.
    pub bytes: Vec<u8>,
    /// The damage.
    pub fault: Option<String>,
}

impl Packing {
    /// The compression with these first bytes.
    pub fn by_magic(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // A skippable frame may come first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            // The fourth level, 0x5e, is omitted: `x^` may begin a text.
            [0x78, 0x01 | 0x9c | 0xda, ..] => Some(Self::Zlib),
            _ => None,
        }
    }

    /// Decompresses while reading.
    pub fn reader<'a>(self, source: impl BufRead + 'a) -> Box<dyn Read + 'a> {
        match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(source)),
            Self::Zlib => Box::new(zlib::Inflater::new(source, true)),
            Self::Deflate => Box::new(zlib::Inflater::new(source, false)),
            Self::Zstd => Box::new(zstd::Frames::new(source)),
            Self::Brotli => Box::new(BrotliDecoder::new(source, 0)),
        }
    }

    /// Decompresses `packed`, to at most `limit` bytes.
    pub fn unpack(self, packed: &[u8], limit: u64) -> Unpacked {
        let mut bytes = Vec::new();
        let result = self.reader(packed).take(limit.saturating_add(1)).read_to_end(&mut bytes);
        let fault = match result {
            Err(error) => Some(format!("{} breaks off after {} unpacked bytes: {error}", self.name(), bytes.len())),
            Ok(_) if bytes.len() as u64 > limit => Some(format!("unpacks to more than {limit} bytes")),
            Ok(_) => None,
        };
        Unpacked { bytes, fault }
    }
}
