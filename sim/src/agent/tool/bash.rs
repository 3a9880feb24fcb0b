//! Runs a command of the scripted shell.

use std::rc::Rc;

use serde_json::Value;

use super::fields::{self, Field, Input, Kind};
use super::{Call, Definition, Effect, Outcome, Running, Tool, ToolError, background};
use crate::agent::session::Session;
use crate::agent::task;
use crate::agent::world::shell::{Command, Ran};
use crate::time::Duration;

/// Runs a command.
#[derive(Clone, Copy, Debug)]
pub struct Bash;

/// Default and maximum timeout of a foreground command in milliseconds (public tool reference of 2026-09).
const TIMEOUT_MS: u64 = 120_000;
const TIMEOUT_MS_MAX: u64 = 600_000;
/// Maximum number of output characters that the model sees.
const OUTPUT_CHARACTERS_MAX: usize = 30_000;

/// The last one is omitted if background work is disabled.
static FIELDS: [Field; 4] = [
    Field::required("command", Kind::Text, "The command line."),
    Field::optional("description", Kind::Text, "What it does, in five to ten words."),
    Field::optional("timeout", Kind::Count(1), "Milliseconds after which it is stopped, at most 600000."),
    Field::optional("run_in_background", Kind::Flag, "Do not wait for it; its end is reported later."),
];

/// The fields for a session: if background work is disabled, no field mentions it (contract G03).
fn fields(session: &Session) -> &'static [Field] {
    let shown = FIELDS.len() - usize::from(session.settings.backgrounds_are_off());
    FIELDS.get(..shown).unwrap_or(&FIELDS)
}

impl Tool for Bash {
    fn name(&self) -> &str {
        "Bash"
    }

    fn definition(&self, session: &Session) -> Definition {
        let fields = fields(session);
        let behind = if fields.len() == FIELDS.len() {
            " With `run_in_background` the call returns at once, and a notification follows when the command has ended."
        } else {
            ""
        };
        Definition {
            description: format!(
                "Runs a shell command in the working directory and shows its output, at most {OUTPUT_CHARACTERS_MAX} \
                 characters. It is stopped after {TIMEOUT_MS} ms unless `timeout` says otherwise.{behind} Use Read, \
                 Edit, Glob and Grep for files, not the shell."
            ),
            input_schema: fields::schema(fields),
        }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Any
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move {
            let input = fields::checked("Bash", fields(&call.context.session), &call.tool_use.input)?;
            if input.flag("run_in_background") { Ok(behind(&call, input)) } else { in_front(&call, input).await }
        })
    }
}

async fn in_front(call: &Call, input: Input<'_>) -> Result<Outcome, ToolError> {
    let timeout_ms = input.count("timeout").unwrap_or(TIMEOUT_MS).min(TIMEOUT_MS_MAX);
    let session = &call.context.session;
    let cwd = call.context.cwd.borrow().clone();
    let command = Command::begin(session, &call.context.world, &call.context.agent, &cwd, input.text("command"));
    crate::select! {
        () = call.abort.given() => Err(ToolError::Aborted),
        ran = command.end() => Ok(ended(&ran)),
        () = session.handle.sleep(Duration::from_millis(timeout_ms)) => {
            Err(ToolError::failed(format!("The command was stopped after {timeout_ms} ms: it had not ended by then.")))
        }
    }
}

/// What the model sees of an ended command.
fn ended(ran: &Ran) -> Outcome {
    let output = shortened(&ran.output);
    let content: Rc<str> = match (ran.exit_code, ran.output.is_empty()) {
        (0, true) => "(no output)".into(),
        (0, false) => output,
        (code, true) => format!("Exit code {code}").into(),
        (code, false) => format!("Exit code {code}\n{output}").into(),
    };
    Outcome { content: content.into(), is_error: ran.exit_code != 0 }
}

/// The beginning and the end of a long output.
pub(super) fn shortened(output: &Rc<str>) -> Rc<str> {
    let characters = output.chars().count();
    if characters <= OUTPUT_CHARACTERS_MAX {
        return output.clone();
    }
    let half = OUTPUT_CHARACTERS_MAX / 2;
    let head: String = output.chars().take(half).collect();
    let tail: String = output.chars().skip(characters - half).collect();
    format!("{head}\n({} characters are left out)\n{tail}", characters - 2 * half).into()
}

fn behind(call: &Call, input: Input<'_>) -> Outcome {
    let command = input.text("command");
    let description = input.optional_text("description").unwrap_or(command);
    let started = background::start(&call.context, &call.tool_use.id, task::Kind::Shell, command, description);
    Outcome::done(format!(
        "The command runs in the background as {}. Its output will stand in {}; a notification will say when it has \
         ended.",
        started.id, started.output_file
    ))
}
