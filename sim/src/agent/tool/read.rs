//! Reads a file of the world.

use std::fmt::Write as _;
use std::rc::Rc;

use super::fields::{Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Effect, Outcome, ToolError, knowledge};

/// Default number of lines in an answer.
const LINES: usize = 2_000;
/// Maximum number of characters shown per line.
const LINE_CHARACTERS_MAX: usize = 2_000;

/// Reads a file.
pub const READ: PlainTool = PlainTool {
    name: "Read",
    description: || {
        format!(
            "Shows a text file with line numbers, at most {LINES} lines unless `limit` says otherwise; `offset` and \
             `limit` choose a part. A file must be read before it is edited or overwritten. Folders cannot be read."
        )
    },
    fields: &[
        Field::required("file_path", Kind::Text, "The file, absolute or from the working directory."),
        Field::optional("offset", Kind::Count(1), "The first line to show, counted from 1."),
        Field::optional("limit", Kind::Count(1), "How many lines to show."),
    ],
    effect: Effect::Read,
    in_background: true,
    work: read,
};

fn read(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let path = knowledge::located(&call.context, input.text("file_path"));
    let files = &call.context.world.files;
    let Some(text) = files.read(&path) else {
        let what = if files.is_folder(&path) { "is a folder, not a file" } else { "does not exist" };
        return Err(ToolError::failed(format!("{path} {what}.")));
    };
    knowledge::note(&call.context, &path, &text);
    let first = input.size("offset").unwrap_or(1);
    let limit = input.size("limit").unwrap_or(LINES);
    shown(&path, &text, first, limit).map(Outcome::done)
}

/// The lines from `first` on, with their numbers.
fn shown(path: &Rc<str>, text: &str, first: usize, limit: usize) -> Result<String, ToolError> {
    if text.is_empty() {
        return Ok(format!("{path} is empty."));
    }
    let mut shown = String::new();
    for (index, line) in text.lines().enumerate().skip(first - 1).take(limit) {
        let cut = line.char_indices().nth(LINE_CHARACTERS_MAX).map_or(line.len(), |(at, _)| at);
        // Writing to a text cannot fail.
        let _ = writeln!(shown, "{:>6}\t{}", index + 1, &line[..cut]);
    }
    if shown.is_empty() {
        let lines = text.lines().count();
        return Err(ToolError::failed(format!("{path} has {lines} lines; line {first} is behind its end.")));
    }
    Ok(shown)
}
