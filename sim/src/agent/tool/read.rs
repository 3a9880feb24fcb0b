//! Reads a file of the world.

use std::fmt::Write as _;
use std::rc::Rc;

use serde_json::Value;

use super::fields::{self, Field, Kind};
use super::{Call, Definition, Effect, Offer, Outcome, Running, Tool, ToolError, seen};

/// Reads a file.
#[derive(Clone, Copy, Debug)]
pub struct Read;

/// Lines of an answer where the call does not say.
const LINES: usize = 2_000;
/// Characters of a line that are shown.
const LINE_CHARACTERS_MAX: usize = 2_000;

const FIELDS: [Field; 3] = [
    Field::required("file_path", Kind::Text, "The file, absolute or from the working directory."),
    Field::optional("offset", Kind::Count(1), "The first line to show, counted from 1."),
    Field::optional("limit", Kind::Count(1), "How many lines to show."),
];

impl Tool for Read {
    fn name(&self) -> &'static str {
        "Read"
    }

    fn definition(&self, _offer: &Offer<'_>) -> Definition {
        Definition {
            description: format!(
                "Shows a text file with line numbers, at most {LINES} lines unless `limit` says otherwise; `offset` and \
                 `limit` choose a part. A file must be read before it is edited or overwritten. Folders cannot be read."
            ),
            input_schema: fields::schema(&FIELDS),
        }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Read
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move { read(&call) })
    }
}

fn read(call: &Call) -> Result<Outcome, ToolError> {
    let input = fields::checked("Read", &FIELDS, &call.tool_use.input)?;
    let path = seen::located(&call.context, input.text("file_path"));
    let files = &call.context.session.world.files;
    let Some(text) = files.read(&path) else {
        let what = if files.is_folder(&path) { "is a folder, not a file" } else { "does not exist" };
        return Err(ToolError::failed(format!("{path} {what}.")));
    };
    seen::note(&call.context, &path, &text);
    let first = input.size("offset").unwrap_or(1);
    let limit = input.size("limit").unwrap_or(LINES);
    shown(&path, &text, first, limit).map(Outcome::done)
}

/// The lines from `first` on, each with its number.
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
