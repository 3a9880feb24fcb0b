//! Names that repeat on every line, stored once per file.

use std::sync::Arc;

use forkcast_sim::wire::Index;

use crate::formats::json::unescaped;

/// Names by their spelling.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    known: Index<&'a [u8], Arc<str>>,
}

impl<'a> Names<'a> {
    /// The name whose text between quotes is `raw`.
    pub fn get(&mut self, raw: &'a [u8]) -> Arc<str> {
        self.known.get_or_insert_with(raw, || Arc::from(&*unescaped(raw))).clone()
    }
}
