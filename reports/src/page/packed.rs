//! JSON inside a page: compressed, and as text in which no character has a meaning for a browser.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

/// A record, compressed.
#[derive(Debug)]
pub(super) struct Packed {
    /// Its name in the page.
    pub name: &'static str,
    /// Gzip as base64.
    pub base64: String,
}

impl Packed {
    /// Compresses what is written. Equal records give equal bytes: the header has no time.
    pub fn of(name: &'static str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let mut target = GzEncoder::new(Vec::new(), Compression::default());
        write(&mut target)?;
        Ok(Self { name, base64: STANDARD.encode(target.finish()?) })
    }
}
