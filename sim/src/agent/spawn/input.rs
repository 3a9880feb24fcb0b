//! The input of an Agent call (contract AGENT-01..15).

use std::rc::Rc;

use serde_json::{Map, Value, json};

use crate::agent::definition::Isolation;
use crate::agent::permission::Mode;
use crate::agent::settings::{Settings, gate};
use crate::outside::words;

/// All fields of a call, shown in the schema or not (AGENT-11). Other fields have no effect: tools, hooks and skills
/// come only from definitions (contract TOOLS-12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Three to five words for people; never part of the child's prompt (AGENT-01).
    pub description: Rc<str>,
    /// The child's user message (AGENT-02).
    pub prompt: Rc<str>,
    /// The agent type (AGENT-03).
    pub subagent_type: Option<Rc<str>>,
    /// Its model (AGENT-04).
    pub model: Option<ShortModel>,
    /// Whether to run it in the background (AGENT-05).
    pub run_in_background: Option<bool>,
    /// Its name (AGENT-06).
    pub name: Option<Rc<str>>,
    /// The team it joins (AGENT-07).
    pub team_name: Option<Rc<str>>,
    /// A permission mode; it only affects teams (AGENT-08).
    pub mode: Option<Mode>,
    /// Where it works (AGENT-09).
    pub isolation: Option<Isolation>,
    /// Its directory (AGENT-10).
    pub cwd: Option<Rc<str>>,
}

words! {
    /// Short model names (AGENT-04).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "they are names")]
    pub enum ShortModel {
        Sonnet = "sonnet",
        Opus = "opus",
        Haiku = "haiku",
    }
}

/// The schema of the basic fields, which are always present (AGENT-11).
pub fn base_schema() -> Value {
    let properties = json!({
        "description": text("What the agent is to do, in three to five words"),
        "prompt": text("The whole task, for an agent that knows nothing else"),
        "subagent_type": text("The kind of agent"),
        "model": { "type": "string", "enum": ["sonnet", "opus", "haiku"],
            "description": "A model in the place of the one that the kind of agent has" },
        "run_in_background": { "type": "boolean",
            "description": "Go on at once; a notification tells when the agent has ended" },
    });
    json!({ "type": "object", "properties": properties, "required": ["description", "prompt"] })
}

/// The schema of all fields, for this build (AGENT-09, AGENT-11).
pub fn full_schema(settings: &Settings) -> Value {
    let places = if settings.internal_build { json!(["worktree", "remote"]) } else { json!(["worktree"]) };
    let modes = [Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::BypassPermissions].map(Mode::name);
    let more = json!({
        "name": text("A name for the agent, by which it can be written to while it runs"),
        "team_name": text("The team that the agent joins"),
        "mode": { "type": "string", "enum": modes, "description": "`plan` asks a teammate to plan first" },
        "isolation": { "type": "string", "enum": places, "description": "Where the agent works, not here" },
        "cwd": text("The directory that the agent works in, absolute; not together with a worktree"),
    });
    let mut schema = base_schema();
    if let (Some(properties), Value::Object(more)) = (schema.pointer_mut("/properties"), more)
        && let Some(properties) = properties.as_object_mut()
    {
        properties.extend(more);
    }
    schema
}

/// The schema that a model sees: the full one without fields that features hide (AGENT-12, AGENT-13, AGENT-15), and without
/// those of teams in a session without them.
pub fn visible_schema(settings: &Settings) -> Value {
    let mut schema = full_schema(settings);
    let mut hidden = Vec::new();
    if settings.teams.is_none() {
        hidden.extend(["team_name", "mode"]);
    }
    if !settings.worktrees.are_offered {
        hidden.push("isolation");
    }
    if settings.backgrounds_are_off() || gate::forces_background(settings) {
        hidden.push("run_in_background");
    }
    if settings.is_coordinator() {
        hidden.extend(["model", "run_in_background"]);
    }
    if !settings.features.contains("KAIROS") {
        hidden.push("cwd");
    }
    if let Some(properties) = schema.pointer_mut("/properties").and_then(Value::as_object_mut) {
        for field in hidden {
            properties.remove(field);
        }
    }
    schema
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

impl Input {
    /// Reads the input of a call.
    ///
    /// # Errors
    /// A message for the model: which field, what was found, what was expected.
    pub fn read(value: &Value, internal_build: bool) -> Result<Self, Rc<str>> {
        let Value::Object(fields) = value else {
            return Err(format!("the input of Agent is {}, expected an object", kind(value)).into());
        };
        let required = |field| string(fields, field)?.ok_or_else(|| missing(field));
        Ok(Self {
            description: required("description")?,
            prompt: required("prompt")?,
            subagent_type: string(fields, "subagent_type")?,
            model: word(fields, "model", &ShortModel::WORDS)?,
            run_in_background: boolean(fields, "run_in_background")?,
            name: string(fields, "name")?,
            team_name: string(fields, "team_name")?,
            mode: word(fields, "mode", &Mode::WORDS)?,
            isolation: word(fields, "isolation", isolations(internal_build))?,
            cwd: string(fields, "cwd")?,
        })
    }
}

/// Public builds have no remote isolation (AGENT-14).
const fn isolations(internal_build: bool) -> &'static [(&'static str, Isolation)] {
    if internal_build {
        &[("worktree", Isolation::Worktree), ("remote", Isolation::Remote)]
    } else {
        &[("worktree", Isolation::Worktree)]
    }
}

type Fields = Map<String, Value>;

fn missing(field: &str) -> Rc<str> {
    format!("the input of Agent has no `{field}`, expected a string").into()
}

fn wrong(field: &str, found: &Value, expected: &str) -> Rc<str> {
    format!("`{field}` of Agent is {}, expected {expected}", kind(found)).into()
}

/// A field sent as `null` counts as absent.
fn given<'a>(fields: &'a Fields, field: &str) -> Option<&'a Value> {
    fields.get(field).filter(|value| !value.is_null())
}

fn string(fields: &Fields, field: &str) -> Result<Option<Rc<str>>, Rc<str>> {
    given(fields, field)
        .map(|value| value.as_str().map(Rc::from).ok_or_else(|| wrong(field, value, "a string")))
        .transpose()
}

fn boolean(fields: &Fields, field: &str) -> Result<Option<bool>, Rc<str>> {
    given(fields, field)
        .map(|value| value.as_bool().ok_or_else(|| wrong(field, value, "`true` or `false`")))
        .transpose()
}

fn word<T: Copy>(fields: &Fields, field: &str, words: &[(&str, T)]) -> Result<Option<T>, Rc<str>> {
    let Some(value) = given(fields, field) else { return Ok(None) };
    let found = words.iter().find(|(word, _)| value.as_str() == Some(word));
    let expected = || {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        wrong(field, value, &format!("one of {}", words.join(", ")))
    };
    found.map(|(_, meant)| Some(*meant)).ok_or_else(expected)
}

/// The kind of a value; short strings are shown in full.
fn kind(value: &Value) -> String {
    match value {
        Value::String(text) if text.len() <= 40 => format!("\"{text}\""),
        Value::String(_) => "a long string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        other => other.to_string(),
    }
}
