//! Finds files of the world by their names.

use serde_json::Value;

use super::fields::{self, Field, Kind};
use super::{Call, Definition, Effect, Offer, Outcome, Running, Tool, ToolError, seen};
use crate::agent::world::{path, pattern};

/// Finds files by name.
#[derive(Clone, Copy, Debug)]
pub struct Glob;

/// Paths of an answer.
const PATHS_MAX: usize = 100;

const FIELDS: [Field; 2] = [
    Field::required("pattern", Kind::Text, "A glob such as `src/**/*.rs`."),
    Field::optional("path", Kind::Text, "The folder to search; the working directory if left out."),
];

impl Tool for Glob {
    fn name(&self) -> &'static str {
        "Glob"
    }

    fn definition(&self, _offer: &Offer<'_>) -> Definition {
        Definition {
            description: format!(
                "Lists the files whose path below `path` fits a glob, in the order of their paths, at most {PATHS_MAX}. \
                 `*` stays within one name, `**` crosses folders."
            ),
            input_schema: fields::schema(&FIELDS),
        }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Read
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move { find(&call) })
    }
}

fn find(call: &Call) -> Result<Outcome, ToolError> {
    let input = fields::checked("Glob", &FIELDS, &call.tool_use.input)?;
    let folder = seen::located(&call.context, input.text("path"));
    let glob = input.text("pattern");
    let fits = pattern::paths(glob)
        .map_err(|why| ToolError::failed(format!("Glob: the pattern `{glob}` is no glob: {why}.")))?;
    let files = call.context.session.world.files.below(&folder);
    let found: Vec<&str> = files
        .iter()
        .map(AsRef::as_ref)
        // An absolute pattern is held against the whole path.
        .filter(|file| fits.is_match(path::below(&folder, file).unwrap_or(file)) || fits.is_match(file))
        .collect();
    Ok(Outcome::done(match found.len() {
        0 => "No files found.".to_owned(),
        all if all > PATHS_MAX => {
            format!("{}\n({} more are left out)", found[..PATHS_MAX].join("\n"), all - PATHS_MAX)
        }
        _ => found.join("\n"),
    }))
}
