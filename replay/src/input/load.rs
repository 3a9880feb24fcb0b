//! Bytes of a file: decompressed, within limits, and not read to the end if the beginning shows that it is not a recording.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::{FILE_LIMIT, detect};
use crate::packing::Packing;

/// Bytes that are checked before the rest is read.
const HEAD: u64 = 64 << 10;

/// The most memory that is kept from one file to the next.
const ROOM_LIMIT: usize = 8 << 20;

const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// A loaded file.
pub(super) enum Loaded {
    /// Its decompressed bytes; if they are incomplete, with the reason.
    Bytes { bytes: Vec<u8>, fault: Option<String> },
    /// Not a recording.
    Skip(String),
    /// Perhaps a recording, but unreadable.
    Broken(String),
}

/// Memory that is reused for one file after the other, unless it has become large.
#[derive(Default)]
pub(super) struct Room(Vec<u8>);

impl Room {
    /// The memory of a loaded file.
    pub fn of(loaded: io::Result<Loaded>) -> Self {
        match loaded {
            Ok(Loaded::Bytes { mut bytes, .. }) if bytes.capacity() <= ROOM_LIMIT => {
                bytes.clear();
                Self(bytes)
            }
            _ => Self::default(),
        }
    }
}

/// Opens and loads a file. `picky`: files that cannot be recordings are skipped.
pub(super) fn open(path: &Path, picky: bool, room: Room) -> io::Result<Loaded> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > FILE_LIMIT {
        return Ok(Loaded::Broken(too_large()));
    }
    let mut bytes = room.0;
    // One byte more, to see the end.
    bytes.reserve(usize::try_from(size.saturating_add(1)).unwrap_or(0));
    load_into(bytes, file, picky)
}

/// Loads from any source.
pub(super) fn load(source: impl Read, picky: bool) -> io::Result<Loaded> {
    load_into(Vec::new(), source, picky)
}

fn load_into(bytes: Vec<u8>, source: impl Read, picky: bool) -> io::Result<Loaded> {
    let mut source = BufReader::new(source);
    match Packing::by_magic(source.fill_buf()?) {
        Some(packing) => {
            let trouble = format!("{} breaks off", packing.name());
            Ok(take(bytes, packing.reader(source), picky, FILE_LIMIT, &trouble))
        }
        None => Ok(take(bytes, source, picky, FILE_LIMIT, "reading failed")),
    }
}

/// Reads to the end or to the first damage; everything before the damage is kept.
fn take(mut bytes: Vec<u8>, mut source: impl Read, picky: bool, limit: u64, trouble: &str) -> Loaded {
    let mut result = source.by_ref().take(HEAD).read_to_end(&mut bytes);
    if let (true, Err(error)) = (bytes.is_empty(), &result) {
        return Loaded::Broken(format!("{trouble} before its first byte: {error}"));
    }
    // White space is skipped even if a format was named: a gigabyte of it must not be loaded.
    if (picky || bytes.trim_ascii().is_empty())
        && let Some(reason) = detect::no_recording(&bytes)
    {
        return Loaded::Skip(reason);
    }
    if result.is_ok() && bytes.len() as u64 == HEAD {
        result = source.take(limit + 1 - HEAD).read_to_end(&mut bytes);
    }
    if bytes.len() as u64 > limit {
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

#[cfg(test)]
mod tests {
    use std::io::{Read, repeat};

    use super::{HEAD, Loaded, take};

    #[test]
    fn what_is_larger_than_the_limit_is_refused_and_no_more_of_it_is_read() {
        let limit = HEAD + 1000;
        let endless = repeat(b'x');
        assert!(matches!(take(Vec::new(), endless, true, limit, ""), Loaded::Broken(_)));
        let fits = repeat(b'x').take(limit);
        assert!(
            matches!(take(Vec::new(), fits, true, limit, ""), Loaded::Bytes { bytes, fault: None } if bytes.len() as u64 == limit)
        );
    }
}
