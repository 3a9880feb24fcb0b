//! Bytes of a file: unpacked, within limits, and not read to the end where the beginning shows that it is no recording.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::{FILE_LIMIT, detect};
use crate::formats::gzip;

/// How much is looked at before the rest is read.
const HEAD: u64 = 64 << 10;

const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// What became of a file.
pub(super) enum Loaded {
    /// Its bytes, unpacked; with the reason why they are not all of it.
    Bytes { bytes: Vec<u8>, fault: Option<String> },
    /// No recording.
    Skip(String),
    /// Perhaps a recording, but not one that can be read.
    Broken(String),
}

impl Loaded {
    /// Bytes that were read, for inputs whose size nobody knows beforehand.
    pub fn size(&self) -> u64 {
        match self {
            Self::Bytes { bytes, .. } => bytes.len() as u64,
            Self::Skip(_) | Self::Broken(_) => 0,
        }
    }
}

/// Opens and loads a file. `picky`: what cannot be a recording is skipped.
pub(super) fn open(path: &Path, picky: bool) -> io::Result<Loaded> {
    let file = File::open(path)?;
    if file.metadata()?.len() > FILE_LIMIT {
        return Ok(Loaded::Broken(too_large()));
    }
    load(file, picky)
}

/// Loads from any source.
pub(super) fn load(source: impl Read, picky: bool) -> io::Result<Loaded> {
    let mut source = BufReader::new(source);
    let magic = source.fill_buf()?;
    if magic.starts_with(ZSTD_MAGIC) {
        return Ok(Loaded::Skip("packed with zstd: not supported yet".to_owned()));
    }
    if magic.starts_with(gzip::MAGIC) {
        return Ok(take(MultiGzDecoder::new(source), picky, "gzip breaks off"));
    }
    Ok(take(source, picky, "reading failed"))
}

/// Reads to the end or to the first damage; what came before damage is kept.
fn take(mut source: impl Read, picky: bool, trouble: &str) -> Loaded {
    let mut bytes = Vec::new();
    let mut result = source.by_ref().take(HEAD).read_to_end(&mut bytes);
    // White space is skipped whatever the user said: a gigabyte of it must not be taken into memory.
    if (picky || bytes.trim_ascii().is_empty())
        && let Some(reason) = detect::no_recording(&bytes)
    {
        return Loaded::Skip(reason);
    }
    if result.is_ok() && bytes.len() as u64 == HEAD {
        result = source.take(FILE_LIMIT + 1 - HEAD).read_to_end(&mut bytes);
    }
    if bytes.len() as u64 > FILE_LIMIT {
        return Loaded::Broken(too_large());
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    let fault = result.err().map(|error| format!("{trouble} after {} bytes: {error}", bytes.len()));
    Loaded::Bytes { bytes, fault }
}

fn too_large() -> String {
    format!("larger than {} GiB unpacked, which is the most that is read", FILE_LIMIT >> 30)
}
