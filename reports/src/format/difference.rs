//! Where two requests differ: names and places, never the text.

use forkcast_sim::diagnosis::Difference;
use serde::Serialize;

use crate::names::Names;

/// A difference.
#[derive(Debug, Serialize)]
pub struct DifferenceObject {
    cause: &'static str,
    level: &'static str,
    path: String,
    name: String,
    offset_in_block: Option<u64>,
    offset_in_prefix: Option<u64>,
    volatile: Option<&'static str>,
}

impl DifferenceObject {
    /// The difference with its names as they are shown.
    pub fn of(found: &Difference, names: Names) -> Self {
        Self {
            cause: found.cause.word(),
            level: found.level.name(),
            path: found.path.clone(),
            name: names.thing(&found.name),
            offset_in_block: found.offset_in_block,
            offset_in_prefix: found.offset_in_prefix,
            volatile: found.volatile.map(|volatile| volatile.word()),
        }
    }
}
