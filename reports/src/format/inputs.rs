//! What could not be read, in `forkcast.check/1` and `forkcast.replay/1` alike.

use crate::names::Names;

/// A file that holds nothing that is read.
pub(super) struct Skipped {
    file: String,
    reason: String,
}

impl Skipped {
    /// The file and the reason as they are shown.
    pub fn new(file: &str, reason: &str, names: Names) -> Self {
        Self { file: names.file(file), reason: names.message(reason) }
    }
}

record! {
    Skipped, "skipped":
    text "file", "The file." => |skipped| skipped.file.clone();
    text "reason", "Why it is not read." => |skipped| skipped.reason.clone();
}

/// A place that cannot be read as it is.
pub(super) struct Damage {
    pub file: String,
    pub line: usize,
    pub reason: String,
}

impl Damage {
    /// File, line (0 for the whole file) and reason as they are shown.
    pub fn new(file: &str, line: usize, reason: &str, names: Names) -> Self {
        Self { file: names.file(file), line, reason: names.message(reason) }
    }
}

record! {
    Damage, "unreadable":
    text "file", "The file." => |found| found.file.clone();
    count "line", "Its line, from 1; 0 for the whole file." => |found| found.line;
    text "reason", "Why it is not read." => |found| found.reason.clone();
}
