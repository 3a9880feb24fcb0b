//! Writes a file of the world.

use super::fields::{Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Effect, Outcome, ToolError, knowledge};

/// Writes a whole file.
pub const WRITE: PlainTool = PlainTool {
    name: "Write",
    description: || {
        "Creates a file or replaces all that it holds. A file that exists must have been read first. \
         Prefer Edit for a change to a file that exists."
            .into()
    },
    fields: &[
        Field::required("file_path", Kind::Text, "The file, absolute or from the working directory."),
        Field::required("content", Kind::Text, "All that the file is to hold."),
    ],
    effect: Effect::Edit,
    in_background: true,
    work: write,
};

fn write(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let path = knowledge::located(&call.context, input.text("file_path"));
    let files = &call.context.world.files;
    if files.is_folder(&path) {
        return Err(ToolError::failed(format!("{path} is a folder, not a file.")));
    }
    let before = files.read(&path);
    if let Some(before) = &before {
        knowledge::may_change(&call.context, &path, before)?;
    }
    let text = input.text("content").into();
    files.write(&path, std::rc::Rc::clone(&text));
    knowledge::note(&call.context, &path, &text);
    let what = if before.is_some() { "replaced" } else { "created" };
    Ok(Outcome::done(format!("{path} was {what}.")))
}
