//! Replaces text in a file of the world.

use std::rc::Rc;

use super::fields::{Field, Input, Kind};
use super::plain::PlainTool;
use super::{Call, Effect, Outcome, ToolError, knowledge};

/// Replaces text in a file.
pub const EDIT: PlainTool = PlainTool {
    name: "Edit",
    description: || {
        "Replaces text in a file that was read before. `old_string` must stand in the file exactly \
         once, unless `replace_all` is set; add lines around it until it does."
            .into()
    },
    fields: &[
        Field::required("file_path", Kind::Text, "The file, absolute or from the working directory."),
        Field::required("old_string", Kind::Text, "The text to replace, exactly as it stands in the file."),
        Field::required("new_string", Kind::Text, "The text in its place."),
        Field::optional("replace_all", Kind::Flag, "Replace every place instead of the only one."),
    ],
    effect: Effect::Edit,
    in_background: true,
    work: edit,
};

fn edit(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let path = knowledge::located(&call.context, input.text("file_path"));
    let files = &call.context.world.files;
    let before = files.read(&path).ok_or_else(|| ToolError::failed(format!("{path} does not exist.")))?;
    knowledge::may_change(&call.context, &path, &before)?;
    let old = input.text("old_string");
    let new = input.text("new_string");
    let places = places(&path, &before, old, new)?;
    if places > 1 && !input.flag("replace_all") {
        return Err(ToolError::failed(format!(
            "`old_string` stands in {path} {places} times. Give more of the text around it, or set `replace_all`."
        )));
    }
    let after: Rc<str> = before.replace(old, new).into();
    files.write(&path, after.clone());
    knowledge::note(&call.context, &path, &after);
    Ok(Outcome::done(format!("{path} was changed in {places} {}.", if places == 1 { "place" } else { "places" })))
}

/// The number of places that contain `old`; at least one.
fn places(path: &Rc<str>, text: &str, old: &str, new: &str) -> Result<usize, ToolError> {
    if old.is_empty() {
        return Err(ToolError::failed("`old_string` is empty; it must be text that stands in the file."));
    }
    if old == new {
        return Err(ToolError::failed("`old_string` and `new_string` are the same; nothing would change."));
    }
    match text.matches(old).count() {
        0 => Err(ToolError::failed(format!("`old_string` does not stand in {path}."))),
        places => Ok(places),
    }
}
