//! Writes a file of the world.

use serde_json::Value;

use super::fields::{self, Field, Kind};
use super::{Call, Definition, Effect, Offer, Outcome, Running, Tool, ToolError, seen};

/// Writes a whole file.
#[derive(Clone, Copy, Debug)]
pub struct Write;

const FIELDS: [Field; 2] = [
    Field::required("file_path", Kind::Text, "The file, absolute or from the working directory."),
    Field::required("content", Kind::Text, "All that the file is to hold."),
];

impl Tool for Write {
    fn name(&self) -> &'static str {
        "Write"
    }

    fn definition(&self, _offer: &Offer<'_>) -> Definition {
        Definition {
            description: "Creates a file or replaces all that it holds. A file that exists must have been read first. \
                          Prefer Edit for a change to a file that exists."
                .into(),
            input_schema: fields::schema(&FIELDS),
        }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Edit
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move { write(&call) })
    }
}

fn write(call: &Call) -> Result<Outcome, ToolError> {
    let input = fields::checked("Write", &FIELDS, &call.tool_use.input)?;
    let path = seen::located(&call.context, input.text("file_path"));
    let files = &call.context.session.world.files;
    if files.is_folder(&path) {
        return Err(ToolError::failed(format!("{path} is a folder, not a file.")));
    }
    let before = files.read(&path);
    if let Some(before) = &before {
        seen::may_change(&call.context, &path, before)?;
    }
    let text = input.text("content").into();
    files.write(&path, std::rc::Rc::clone(&text));
    seen::note(&call.context, &path, &text);
    let what = if before.is_some() { "replaced" } else { "created" };
    Ok(Outcome::done(format!("{path} was {what}.")))
}
