//! Finds files of the world by name.

use super::fields::{Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Effect, Outcome, ToolError, knowledge};
use crate::agent::world::{path, pattern};

/// Maximum number of paths in an answer.
const PATHS_MAX: usize = 100;

/// Finds files by name.
pub const GLOB: PlainTool = PlainTool {
    name: "Glob",
    description: || {
        format!(
            "Lists the files whose path below `path` fits a glob, in the order of their paths, at most {PATHS_MAX}. \
             `*` stays within one name, `**` crosses folders."
        )
    },
    fields: &[
        Field::required("pattern", Kind::Text, "A glob such as `src/**/*.rs`."),
        Field::optional("path", Kind::Text, "The folder to search; the working directory if left out."),
    ],
    effect: Effect::Read,
    in_background: true,
    work: find,
};

fn find(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let folder = knowledge::located(&call.context, input.text("path"));
    let glob = input.text("pattern");
    let fits = pattern::paths(glob)
        .map_err(|why| ToolError::failed(format!("Glob: the pattern `{glob}` is no glob: {why}.")))?;
    let files = call.context.world.files.below(&folder);
    let found: Vec<&str> = files
        .iter()
        .map(AsRef::as_ref)
        // An absolute pattern is matched against the whole path.
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
