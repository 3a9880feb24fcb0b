//! Bodies that recorders kept packed.

use std::borrow::Cow;

use crate::formats::gzip::{self, inflate};

/// Largest body of one message, unpacked. The API takes 32 MB.
const BODY_LIMIT: u64 = 256 << 20;

/// The body itself. What stands in `encoding` (a `content-encoding` header) is only a hint: many recorders unpack bodies
/// and keep the header, so the first bytes decide.
pub(crate) fn unpacked<'a>(bytes: &'a [u8], _encoding: Option<&str>) -> Result<Cow<'a, [u8]>, String> {
    if !bytes.starts_with(gzip::MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let inflated = inflate(bytes, BODY_LIMIT);
    match inflated.fault {
        // Some recorders cut the trailer off; what came out is judged by the reader of the body.
        Some(fault) if inflated.bytes.is_empty() => Err(format!("packed body: {fault}")),
        _ => Ok(Cow::Owned(inflated.bytes)),
    }
}
