//! Gzip, recognised by its first bytes, with a limit on what comes out.

use std::io::Read;

use flate2::read::MultiGzDecoder;

/// The first bytes of every gzip stream.
pub(crate) const MAGIC: &[u8] = &[0x1f, 0x8b];

/// What came out, and why not all of it.
pub(crate) struct Inflated {
    /// The bytes up to the end or the damage.
    pub bytes: Vec<u8>,
    /// The damage.
    pub fault: Option<String>,
}

/// Unpacks `packed`, at most `limit` bytes.
pub(crate) fn inflate(packed: &[u8], limit: u64) -> Inflated {
    let mut bytes = Vec::new();
    let result = MultiGzDecoder::new(packed).take(limit.saturating_add(1)).read_to_end(&mut bytes);
    let fault = match result {
        Err(error) => Some(format!("gzip breaks off after {} unpacked bytes: {error}", bytes.len())),
        Ok(_) if bytes.len() as u64 > limit => Some(format!("unpacks to more than {limit} bytes")),
        Ok(_) => None,
    };
    Inflated { bytes, fault }
}
