//! An assembled chat: the last state of each message, in the order in which they first appeared.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use serde_json::value::RawValue;

use super::{Checkpoint, Message, Record, Tokens};
use crate::count::{PromptCounts, believed};
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::formats::Reading;
use crate::formats::json::{member, member_text};
use crate::formats::thread::{
    FAILED, Names, Place, Unknown, accepted, call_of, call_part, parsed, part, parts, within,
};
use crate::transcript::{Answer, Call, InputOrigin, Item, Sign, Spawn, SpawnMode, Stop, Thread};
use crate::transcript::{answer_id, file_stem};

/// The state of reading.
#[derive(Default)]
pub(super) struct Chat<'a> {
    session: Option<String>,
    project: Option<Arc<str>>,
    is_agent: bool,
    /// Last state of each message, with its line.
    messages: Vec<(usize, Message<'a>)>,
    index: BTreeMap<String, usize>,
    events: Vec<Event>,
}

enum Event {
    Message(usize),
    /// Back to before this message, or to the beginning if it is unknown.
    Rewind(usize, Option<usize>),
    Compressed(usize),
}

impl<'a> Chat<'a> {
    /// The keys that identify the chat.
    pub fn head(&mut self, object: &[u8]) {
        let word = |key: &str| member_text(object, key).map(|text| text.into_owned());
        self.session = self.session.take().or_else(|| word("sessionId"));
        self.is_agent |= word("kind").as_deref() == Some("subagent");
        let directory = member(object, "directories").and_then(|raw| serde_json::from_slice::<Vec<String>>(raw).ok());
        let first = directory.and_then(|directories| directories.into_iter().next());
        let project = self.project.take();
        self.project = project.or_else(|| first.or_else(|| word("projectHash")).map(Arc::from));
    }

    /// A line of the newer form.
    pub fn record(&mut self, reading: &mut Reading, line: usize, raw: &'a RawValue) {
        let kind = match parsed::<Record<'_>>(raw.get()) {
            Ok(kind) => kind,
            Err(what) => return reading.damage(Fault::in_line(line, what)),
        };
        if let Some(to) = &kind.rewind_to {
            self.events.push(Event::Rewind(line, self.index.get(&**to).copied()));
        } else if kind.id.is_some() {
            self.message(reading, line, raw);
        } else if let Some(set) = kind.set {
            self.checkpoint(reading, line, set);
        } else if kind.session.is_some() {
            self.head(raw.get().as_bytes());
        } else {
            reading.damage(Fault::in_line(line, "found a record without `id`, `$set`, `$rewindTo` or `sessionId`"));
        }
    }

    fn checkpoint(&mut self, reading: &mut Reading, line: usize, set: &'a RawValue) {
        let messages = match parsed::<Checkpoint<'_>>(set.get()) {
            Ok(checkpoint) => checkpoint.messages,
            Err(what) => return reading.damage(Fault::in_line(line, what)),
        };
        let Some(messages) = messages else { return };
        if messages.len() < self.messages.len() {
            self.events.push(Event::Compressed(line));
        }
        for message in messages {
            self.message(reading, line, message);
        }
    }

    /// A message, or a newer state of one.
    pub fn message(&mut self, reading: &mut Reading, line: usize, raw: &'a RawValue) {
        let read = parsed::<Message<'_>>(raw.get()).map(Some);
        let Some(message) = accepted(reading, line, "message", read) else { return };
        let id = message.id.as_deref().unwrap_or_default().to_owned();
        match self.index.get(&id).filter(|_| !id.is_empty()) {
            Some(known) => self.messages[*known].1 = message,
            None => {
                self.index.insert(id, self.messages.len());
                self.events.push(Event::Message(self.messages.len()));
                self.messages.push((line, message));
            }
        }
    }

    pub fn finish(self, file: &str, reading: &mut Reading) -> Thread {
        let own = self.session.as_deref().map(Arc::from);
        let agent = self.is_agent.then(|| own.clone().unwrap_or_else(|| Arc::from(file_stem(file))));
        let folder = file.rsplit(['/', '\\']).nth(1).filter(|folder| *folder != "chats" && self.is_agent);
        let mut draft = Draft::default();
        for event in &self.events {
            match event {
                Event::Message(index) => {
                    let (line, message) = &self.messages[*index];
                    draft.starts.resize(index + 1, draft.items.len());
                    draft.message(reading, *line, message);
                }
                Event::Rewind(line, to) => {
                    let start = to.and_then(|index| draft.starts.get(index).copied()).unwrap_or(0);
                    let to = start.checked_sub(1).and_then(|to| u32::try_from(to).ok());
                    draft.items.push(Place { line: *line, at: None }.sign(Sign::Rewound { to }));
                }
                Event::Compressed(line) => {
                    let compacted = Sign::Compacted { before_tokens: None, automatic: true };
                    draft.items.push(Place { line: *line, at: None }.sign(compacted));
                }
            }
        }
        draft.unknown.finish(reading);
        Thread { session: folder.map(Arc::from).or(own), agent, user: None, project: self.project, items: draft.items }
    }
}

/// The thread under construction.
#[derive(Default)]
struct Draft {
    items: Vec<Item>,
    /// The index of the first item of each message.
    starts: Vec<usize>,
    given_at: Option<Instant>,
    names: Names,
    unknown: Unknown,
}

impl Draft {
    fn message(&mut self, reading: &mut Reading, line: usize, message: &Message<'_>) {
        let place = self.unknown.place(line, message.timestamp.as_deref());
        match &*message.kind {
            "user" => {
                let parts = parts(message.content);
                let text = message.content.map_or("", RawValue::get);
                // Text that the client itself adds: `System: Please continue.`, `<session_context>…`.
                let origin = match text.starts_with("\"System: ") || text.starts_with("\"<session_context>") {
                    true => InputOrigin::Injected,
                    false => InputOrigin::Prompt,
                };
                self.given_at = place.at.or(self.given_at);
                self.items.push(place.input(origin, parts));
            }
            "gemini" => self.answer(reading, place, message),
            "error" => self.items.push(place.sign(FAILED)),
            "info" | "warning" => {}
            other => self.unknown.add(other, line),
        }
    }

    fn answer(&mut self, reading: &mut Reading, place: Place, message: &Message<'_>) {
        let Place { line, at } = place;
        let usage = accepted(reading, line, "`tokens`", message.tokens.map_or(Ok(None), Tokens::usage));
        let calls = message.calls.as_deref().unwrap_or_default();
        let thoughts = message.thoughts.iter().flatten();
        let mut blocks: Vec<_> = thoughts.map(|thought| part(BlockKind::Thinking, thought.get())).collect();
        blocks.extend(parts(message.content));
        blocks.extend(calls.iter().map(|call| {
            let args = call.args.map_or("{}", RawValue::get);
            call_part(BlockKind::ToolUse, args, call.id.as_deref())
        }));
        let id = message.id.as_deref().filter(|id| !id.is_empty());
        let id = id.map_or_else(|| Cow::Owned(format!("gemini-cli {line} {at:?}")), Cow::Borrowed);
        let made: Vec<Call> = calls.iter().map(|call| self.call(call)).collect();
        let answer = Answer {
            sent_at: self.given_at,
            first_at: at,
            ended_at: at,
            usage,
            stop: Stop::after(&made),
            parts: blocks,
            calls: made,
            ..Answer::of(answer_id(id.as_bytes()), self.names.named(message.model.as_deref()))
        };
        self.given_at = at.or(self.given_at);
        self.items.push(place.answer(answer));
        for call in calls {
            self.result(line, call);
        }
    }

    fn call(&mut self, call: &super::ToolCall<'_>) -> Call {
        let made = self.names.call(call.name.as_deref(), call.id.as_deref());
        let kind = Some(made.tool.clone());
        let spawn = call.agent.as_ref().map(|_| Box::new(Spawn { kind, ..Spawn::default() }));
        Call { spawn, ..made }
    }

    fn result(&mut self, line: usize, call: &super::ToolCall<'_>) {
        let place = self.unknown.place(line, call.timestamp.as_deref());
        let id = call.id.as_deref();
        if let Some(result) = call.result.filter(|result| result.get() != "null") {
            self.given_at = place.at.max(self.given_at);
            let part = call_part(BlockKind::ToolResult, result.get(), id);
            self.items.push(place.input(InputOrigin::ToolResults, vec![part]));
        }
        if let Some(agent) = &call.agent {
            let agent = self.names.get(agent);
            self.items.push(place.spawned(call_of(id), agent, SpawnMode::Sync));
        }
    }
}

impl Tokens {
    /// `None` if nothing was counted.
    fn usage(self) -> Result<Option<RecordedUsage>, String> {
        let Self { input, output, cached, thoughts, tool } = self;
        if input == 0 && output == 0 {
            return Ok(None);
        }
        let prompt = believed("input", input)? + believed("tool", tool)?;
        let output = believed("output", output)? + believed("thoughts", thoughts)?;
        let prompt = PromptCounts { name: "input", tokens: prompt, read: cached, written: 0 };
        within(prompt, output, thoughts).map(Some)
    }
}
