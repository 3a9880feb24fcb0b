//! Trajectories of SWE-agent (`.traj`): one document of `{trajectory[], history[], info{model_stats}}`.
//!
//! * Usage is in `info.model_stats{tokens_sent, tokens_received, api_calls, instance_cost}`, summed over the whole run,
//!   without the cache. So one answer represents all `api_calls` requests, with the sum, and a note says so. A
//!   demonstration or a replay of recorded actions has zeros: its answers are requests without usage.
//! * `history` is the conversation (`system`, `user`, `assistant`, `tool`); messages with `is_demo` are part of the
//!   first prompt. `trajectory` repeats it by steps. Demonstrations written by hand have only `history`.
//! * There are no instants. The model is given only by `replay_config`, or by a part of the file's path
//!   (`MODEL__DATASET__…`), which is used if it is a model's name.
//!
//! Source: SWE-agent/SWE-agent, docs/usage/trajectories and `sweagent/agent/agents.py` (commit 3ea751c).

use std::borrow::Cow;
use std::sync::Arc;

use forkcast_sim::wire::BlockKind;
use forkcast_sim::wire::model::resolve;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::json::{member, text as json_text};
use super::reader::{File, Object, Probe, Reader};
use super::text::{Text, json_reason};
use super::thread::{Names, Place, accepted, beside, call_part, conclude, cost, part, pieces_hash, records_under};
use super::thread::{take_sum, thread};
use crate::error::Fault;
use crate::transcript::{Answer, InputOrigin, Item, Stop};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "swe-agent",
    what: "trajectories of SWE-agent (`.traj`): sums of a run, nothing of the cache",
    detected_by: "top-level key `history` with `trajectory`, or with messages that name an `agent`",
    probe,
    read,
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    let names_agent = |message: Object<'_>| message.has_all(&["role", "content", "agent"]);
    let is_conversation = || object.first_under("history").is_some_and(names_agent);
    Probe::sure(object.has("history") && (object.has("trajectory") || is_conversation()))
}

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut run = Trajectory {
        document: pieces_hash(&[text.bytes]),
        model: model(file.name, text.bytes),
        items: Vec::new(),
        names: Names::default(),
    };
    records_under::<Message<'_>>(text, "history", &mut reading, |_, line, message| run.message(line, &message));
    run.stats(&mut reading, text);
    conclude(&mut reading, thread(None, None, run.items));
    reading
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    content: Option<&'a RawValue>,
    tool_calls: Option<Vec<ToolCall<'a>>>,
    tool_call_ids: Option<Vec<Cow<'a, str>>>,
    message_type: Option<Cow<'a, str>>,
    is_demo: Option<bool>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Info {
    model_stats: Option<Stats>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Stats {
    tokens_sent: u64,
    tokens_received: u64,
    api_calls: u64,
    instance_cost: f64,
}

struct Trajectory {
    /// Hash of the whole document, which distinguishes its answers from those of others.
    document: u128,
    model: Arc<str>,
    items: Vec<Item>,
    names: Names,
}

impl Trajectory {
    fn message(&mut self, line: usize, message: &Message<'_>) {
        let place = Place { line, at: None };
        let content = message.content.filter(|content| !matches!(content.get(), "null" | "\"\""));
        let text = content.map(|content| part(BlockKind::Text, content.get()));
        let is_demo = message.is_demo == Some(true);
        let given = |origin| place.input(origin, text.into_iter().collect());
        match &*message.role {
            "assistant" if !is_demo => self.answer(place, message),
            "tool" => {
                let id = message.tool_call_ids.iter().flatten().next().map(|id| &**id);
                let part = call_part(BlockKind::ToolResult, content.map_or("\"\"", RawValue::get), id);
                self.items.push(place.input(InputOrigin::ToolResults, vec![part]));
            }
            _ if text.is_none() => {}
            "system" => self.items.push(given(InputOrigin::Attachment)),
            "user" if is_demo => self.items.push(given(InputOrigin::Injected)),
            // The first user message is the task; the text after an answer is the shell's output.
            "user" => {
                self.items.push(given(match self.answered() || message.message_type.as_deref() == Some("action") {
                    true => InputOrigin::ToolResults,
                    false => InputOrigin::Prompt,
                }));
            }
            _ => self.items.push(given(InputOrigin::Injected)),
        }
    }

    fn answered(&self) -> bool {
        self.items.iter().rev().take(2).any(|item| item.answer().is_some())
    }

    fn answer(&mut self, place: Place, message: &Message<'_>) {
        let mut parts: Vec<_> = message.content.iter().map(|content| part(BlockKind::Text, content.get())).collect();
        let mut calls = Vec::new();
        for call in message.tool_calls.iter().flatten() {
            let id = call.id.as_deref();
            let function = call.function.as_ref();
            let arguments = function.and_then(|function| function.arguments).map_or("{}", RawValue::get);
            parts.push(call_part(BlockKind::ToolUse, arguments, id));
            calls.push(self.names.call(function.and_then(|function| function.name.as_deref()), id));
        }
        let id = pieces_hash(&[b"swe-agent", &self.document.to_le_bytes(), &self.items.len().to_le_bytes()]);
        let stop = if calls.is_empty() { Stop::Other } else { Stop::ToolUse };
        self.items.push(place.answer(Answer { stop, parts, calls, ..Answer::of(id, self.model.clone()) }));
    }

    /// The sums of the whole run.
    fn stats(&mut self, reading: &mut Reading, text: &Text<'_>) {
        let Some(info) = member(text.bytes, "info") else { return };
        let line = text.line_of(text.offset_of(info));
        let read = serde_json::from_slice::<Info>(info).map_err(|error| json_reason(&error));
        let stats = accepted(reading, line, "`info`", read.map(|info| info.model_stats));
        let Some(Stats { tokens_sent, tokens_received, api_calls, instance_cost }) = stats else { return };
        if tokens_sent == 0 && tokens_received == 0 {
            return;
        }
        let mut usage = match beside(tokens_sent, 0, 0, tokens_received, 0) {
            Ok(usage) => usage,
            Err(what) => return reading.damage(Fault::in_line(line, format!("`model_stats`: {what}"))),
        };
        usage.reported_cost = cost(instance_cost);
        let own: Vec<usize> = (0..self.items.len()).filter(|at| self.items[*at].answer().is_some()).collect();
        if api_calls != 1 || own.len() != 1 {
            let count = api_calls.max(own.len() as u64);
            reading
                .notes
                .push(format!("{count} requests are merged into one: only their sum is recorded, without the cache"));
        }
        let id = pieces_hash(&[b"swe-agent", &self.document.to_le_bytes()]);
        let alone = || Place { line, at: None }.answer(Answer::of(id, self.model.clone()));
        take_sum(&mut self.items, &own, usage, alone);
    }
}

/// The model from the configuration, else from the path.
fn model(file: &str, document: &[u8]) -> Arc<str> {
    let configured = || {
        let config = member(document, "replay_config")?;
        // Older versions keep it as a string of JSON.
        let inner = json_text(config).map_or(Cow::Borrowed(config), |text| Cow::Owned(text.into_owned().into_bytes()));
        let name = json_text(member(member(member(&inner, "agent")?, "model")?, "name")?)?.into_owned();
        resolve(&name).map(|_| name)
    };
    let named =
        || file.split(['/', '\\']).filter_map(|folder| folder.split("__").next()).find(|name| resolve(name).is_some());
    Arc::from(configured().or_else(|| named().map(str::to_owned)).unwrap_or_default())
}
