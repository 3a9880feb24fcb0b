//! Names that repeat on every line, kept once per file.

use std::sync::Arc;

use forkcast_sim::wire::Index;

use crate::formats::json::unescaped;

/// Names by how they are written.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    known: Index<&'a [u8], Arc<str>>,
}

impl<'a> Names<'a> {
    /// The name that stands between quotes as `raw`.
    pub fn get(&mut self, raw: &'a [u8]) -> Arc<str> {
        self.known.get_or_insert_with(raw, || Arc::from(&*unescaped(raw))).clone()
    }
}
