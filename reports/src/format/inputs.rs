//! What could not be read, as `forkcast.check/1` and `forkcast.replay/1` tell it alike.

use serde::Serialize;

use crate::names::Names;

/// A file that holds nothing that is read.
#[derive(Debug, Serialize)]
pub(super) struct SkippedObject {
    file: String,
    reason: String,
}

impl SkippedObject {
    /// The file and the reason as they are shown.
    pub(super) fn new(file: &str, reason: &str, names: Names) -> Self {
        Self { file: names.file(file), reason: names.message(reason) }
    }
}

/// A place that cannot be read.
#[derive(Debug, Serialize)]
pub(super) struct UnreadableObject {
    file: String,
    line: usize,
    reason: String,
}

impl UnreadableObject {
    /// File, line (0 for the whole file) and reason as they are shown.
    pub(super) fn new(file: &str, line: usize, reason: &str, names: Names) -> Self {
        Self { file: names.file(file), line, reason: names.message(reason) }
    }
}
