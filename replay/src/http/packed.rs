//! Bodies that recorders kept compressed.

use std::borrow::Cow;

use crate::packing::Packing;

/// The largest decompressed body. The API accepts 32 MB.
const BODY_LIMIT: u64 = 256 << 20;

/// `content-encoding` may name several, one around the other; more than two are useless.
const LAYERS_MAX: usize = 4;

/// The decompressed body. `encoding`, the `content-encoding` header, is only a hint, because many recorders decompress
/// bodies and keep the header. So text stays as it is, then the first bytes decide, and last the header.
pub(crate) fn unpacked<'a>(bytes: &'a [u8], encoding: Option<&str>) -> Result<Cow<'a, [u8]>, String> {
    let mut body = Cow::Borrowed(bytes);
    for _ in 0..LAYERS_MAX {
        let Some(packing) = packing(&body, encoding.unwrap_or_default()) else { break };
        let unpacked = packing.unpack(&body, BODY_LIMIT);
        match unpacked.fault {
            // Some recorders cut the trailer off; the reader of the body checks the result.
            Some(fault) if unpacked.bytes.is_empty() => return Err(format!("packed body: {fault}")),
            _ => body = Cow::Owned(unpacked.bytes),
        }
    }
    Ok(body)
}

fn packing(body: &[u8], encoding: &str) -> Option<Packing> {
    if body.is_empty() || std::str::from_utf8(body).is_ok() {
        return None;
    }
    let named = |word: &str| encoding.split(',').any(|named| named.trim().eq_ignore_ascii_case(word));
    match Packing::by_magic(body) {
        Some(packing) => Some(packing),
        None if named("br") => Some(Packing::Brotli),
        None if named("deflate") => Some(Packing::Deflate),
        None => None,
    }
}
