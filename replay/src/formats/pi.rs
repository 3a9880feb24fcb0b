//! Sessions of pi: `~/.pi/agent/sessions/--PATH--/TIME_ID.jsonl`.
//!
//! * The first line is the `session` (id, cwd); the others are entries. From version 2 on entries form a tree by `id`
//!   and `parentId`: an entry whose parent is not the last one goes back to its parent. Before that, only the order of
//!   entries is known.
//! * `message` entries contain one message each. The `timestamp` (milliseconds) of an assistant's message is the
//!   instant of the request, the entry's is when it was recorded. `usage{input, output, cacheRead, cacheWrite,
//!   cost{total}}`: all counts are separate, the cost is calculated by pi. An aborted answer has zeros: nothing was
//!   reported.
//! * `compaction` replaces everything before `firstKeptEntryId` (before version 2 `firstKeptEntryIndex`, which counts
//!   all lines) with a summary. The request that made it is not in the file.
//! * A branch is a new file that repeats the previous entries, byte by byte, with the messages' instants. So a message
//!   is recognised by its bytes.
//! * `custom`, `label`, `session_info` do not reach a model; `bashExecution` does, unless it is excluded.
//!
//! Source: badlogic/pi-mono `packages/coding-agent/docs/session.md` (commit 83378aa); recordings of 2025-11 and
//! 2025-12.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reader::{File, Object, Probe, Reader};
use super::thread::{Names, Place, Unknown, accepted, beside, call_part, conclude, cost, parsed, part, parts};
use super::thread::{pieces_hash, records, sized, spelled, thread, told_count};
use super::{Reading, when};
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::transcript::{Answer, Call, InputOrigin, Item, Part, Sign, Stop, Thinking, call_id};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "pi",
    what: "sessions of pi (`~/.pi/agent/sessions`)",
    detected_by: "lines with keys `type`, `timestamp` and `cwd`, or a `message` with a `role`",
    probe,
    read,
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    let is_message = || object.inner("message").is_some_and(|message| message.has("role"));
    Probe::sure(object.has_all(&["timestamp", "type"]) && (object.has_all(&["id", "cwd"]) || is_message()))
}

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut session = Session::default();
    records::<Entry<'_>>(text, &mut reading, |reading, line, entry| session.entry(reading, line, &entry));
    session.unknown.finish(&mut reading);
    conclude(&mut reading, thread(session.id, session.project, session.items));
    reading
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    id: Option<Cow<'a, str>>,
    #[serde(rename = "parentId")]
    parent: Option<Cow<'a, str>>,
    timestamp: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    message: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    summary: Option<&'a RawValue>,
    #[serde(rename = "firstKeptEntryId")]
    first_kept: Option<Cow<'a, str>>,
    #[serde(rename = "firstKeptEntryIndex")]
    first_kept_index: Option<usize>,
    #[serde(rename = "tokensBefore")]
    tokens_before: Option<u64>,
    #[serde(rename = "thinkingLevel")]
    thinking: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    content: Option<&'a RawValue>,
    provider: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    usage: Option<Counts>,
    #[serde(rename = "stopReason")]
    stop: Option<Cow<'a, str>>,
    timestamp: Option<&'a RawValue>,
    #[serde(rename = "toolCallId")]
    call: Option<Cow<'a, str>>,
    #[serde(default, rename = "excludeFromContext")]
    excluded: bool,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Counts {
    input: u64,
    output: u64,
    #[serde(rename = "cacheRead")]
    read: u64,
    #[serde(rename = "cacheWrite")]
    written: u64,
    cost: Option<Cost>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Cost {
    total: f64,
}

/// A block that may call a tool.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
}

#[derive(Default)]
struct Session {
    id: Option<Arc<str>>,
    project: Option<Arc<str>>,
    items: Vec<Item>,
    /// For each item, the bytes of all items before it.
    sizes: Vec<usize>,
    /// For each line, the number of items before it.
    before_line: Vec<usize>,
    /// For each entry, the numbers of items before and after it.
    entries: BTreeMap<String, (usize, usize)>,
    last: Option<String>,
    given_at: Option<Instant>,
    effort: Option<Arc<str>>,
    names: Names,
    unknown: Unknown,
}

impl Session {
    fn entry(&mut self, reading: &mut Reading, line: usize, entry: &Entry<'_>) {
        self.before_line.push(self.items.len());
        let place = self.unknown.place(line, entry.timestamp.as_deref());
        if entry.kind != "session" {
            self.climb(place, entry);
        }
        let before = self.items.len();
        match &*entry.kind {
            "session" => self.header(entry),
            "message" => {
                if let Err(what) = self.message(reading, place, entry.message.map_or("null", RawValue::get)) {
                    reading.damage(Fault::in_line(line, format!("message: {what}")));
                }
            }
            "compaction" => {
                let before = told_count(reading, line, "tokensBefore", entry.tokens_before);
                self.compaction(place, entry, before);
            }
            "branch_summary" => self.given(place, InputOrigin::Summary, summary(entry)),
            "custom_message" => {
                self.given(place, InputOrigin::Injected, parts(entry.content));
            }
            "thinking_level_change" => self.thinking(place, entry.thinking.as_deref().unwrap_or("off")),
            "model_change" | "custom" | "label" | "session_info" => {}
            other => self.unknown.add(other, line),
        }
        if let Some(id) = entry.id.as_deref().filter(|_| entry.kind != "session") {
            self.entries.insert(id.to_owned(), (before, self.items.len()));
            self.last = Some(id.to_owned());
        }
    }

    fn header(&mut self, entry: &Entry<'_>) {
        self.id = entry.id.as_deref().map(Arc::from).or_else(|| self.id.take());
        self.project = entry.cwd.as_deref().map(Arc::from).or_else(|| self.project.take());
        self.effort = entry.thinking.as_deref().map(|level| self.names.get(level)).or_else(|| self.effort.take());
    }

    /// An entry whose parent is not the last one goes back to its parent.
    fn climb(&mut self, place: Place, entry: &Entry<'_>) {
        let (Some(last), Some(_)) = (&self.last, &entry.id) else { return };
        let to = match entry.parent.as_deref() {
            Some(parent) if parent == last => return,
            Some(parent) => match self.entries.get(parent) {
                Some((_, behind)) => behind.checked_sub(1),
                None => return,
            },
            None => None,
        };
        let to = to.and_then(|to| u32::try_from(to).ok());
        self.push(place.sign(Sign::Rewound { to }));
    }

    fn push(&mut self, item: Item) {
        let own: usize = item.parts().iter().map(|part| part.bytes as usize).sum();
        let before = self.sizes.last().copied().unwrap_or(0);
        self.sizes.push(before + own);
        self.items.push(item);
    }

    fn given(&mut self, place: Place, origin: InputOrigin, parts: Vec<Part>) {
        if !parts.is_empty() {
            self.given_at = place.at.or(self.given_at);
            self.push(place.input(origin, parts));
        }
    }

    fn thinking(&mut self, place: Place, level: &str) {
        let state = match level {
            "off" => Thinking::Off,
            level => Thinking::On(call_id(level.as_bytes())),
        };
        self.effort = Some(self.names.get(level));
        self.push(place.sign(Sign::Thinking(state)));
    }

    fn message(&mut self, reading: &mut Reading, place: Place, raw: &str) -> Result<(), String> {
        let message: Message<'_> = parsed(raw)?;
        let whole = |kind| vec![part(kind, raw)];
        match &*message.role {
            "assistant" => {
                let usage = accepted(reading, place.line, "`usage`", message.usage.map_or(Ok(None), usage));
                self.answer(place, &message, raw, usage);
            }
            "user" => self.given(place, InputOrigin::Prompt, parts(message.content)),
            "toolResult" => {
                let content = message.content.map_or(raw, RawValue::get);
                let result = call_part(BlockKind::ToolResult, content, message.call.as_deref());
                self.given(place, InputOrigin::ToolResults, vec![result]);
            }
            "bashExecution" if message.excluded => {}
            "bashExecution" => self.given(place, InputOrigin::Injected, whole(BlockKind::Text)),
            "custom" | "hookMessage" => {
                self.given(place, InputOrigin::Injected, parts(message.content));
            }
            "branchSummary" | "compactionSummary" => self.given(place, InputOrigin::Summary, whole(BlockKind::Text)),
            other => self.unknown.add(other, place.line),
        }
        Ok(())
    }

    fn answer(&mut self, place: Place, message: &Message<'_>, raw: &str, usage: Option<RecordedUsage>) {
        let model = message.model.as_deref().unwrap_or_default();
        let model = spelled(message.provider.as_deref().unwrap_or_default(), model);
        let sent_at = message.timestamp.and_then(|raw| when::millis(raw.get())).or(self.given_at);
        let (parts, calls) = self.blocks(message.content);
        let answer = Answer {
            sent_at,
            first_at: place.at,
            ended_at: place.at,
            usage,
            stop: match message.stop.as_deref() {
                Some("toolUse") => Stop::ToolUse,
                Some("stop") => Stop::EndTurn,
                Some("length") => Stop::MaxTokens,
                _ => Stop::Other,
            },
            parts,
            calls,
            effort: self.effort.clone(),
            ..Answer::of(pieces_hash(&[b"pi", raw.as_bytes()]), self.names.get(&model))
        };
        let is_aborted = message.stop.as_deref() == Some("aborted");
        self.given_at = place.at.or(self.given_at);
        self.push(place.answer(answer));
        if is_aborted {
            self.push(place.sign(Sign::Interrupted));
        }
    }

    fn blocks(&mut self, content: Option<&RawValue>) -> (Vec<Part>, Vec<Call>) {
        let Some(content) = content else { return Default::default() };
        let mut found = parts(Some(content));
        let raw: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
        let mut calls = Vec::new();
        for (block, found) in raw.iter().zip(&mut found) {
            let Ok(block) = serde_json::from_str::<Block<'_>>(block.get()) else { continue };
            if block.kind == "toolCall" {
                let call = self.names.call(block.name.as_deref(), block.id.as_deref());
                found.call = call.id;
                calls.push(call);
            }
        }
        (found, calls)
    }

    /// The summary and the kept part of the history, as one block.
    fn compaction(&mut self, place: Place, entry: &Entry<'_>, before_tokens: Option<u64>) {
        let by_id = entry.first_kept.as_deref().and_then(|id| self.entries.get(id)).map(|(before, _)| *before);
        let by_index = entry.first_kept_index.and_then(|index| self.before_line.get(index).copied());
        let now = self.sizes.last().copied().unwrap_or(0);
        let kept = by_id.or(by_index).map_or(0, |first| {
            let before = first.checked_sub(1).and_then(|last| self.sizes.get(last).copied()).unwrap_or(0);
            now.saturating_sub(before)
        });
        self.push(place.sign(Sign::Compacted { before_tokens, automatic: false }));
        let mut parts = summary(entry);
        parts.extend((kept > 0).then(|| sized(BlockKind::Opaque, kept)));
        self.given(place, InputOrigin::Summary, parts);
    }
}

fn summary(entry: &Entry<'_>) -> Vec<Part> {
    parts(entry.summary)
}

/// `None` if all counts are zero: pi writes this if nothing was reported.
fn usage(counts: Counts) -> Result<Option<RecordedUsage>, String> {
    let Counts { input, output, read, written, cost: reckoned } = counts;
    if [input, output, read, written].iter().all(|count| *count == 0) {
        return Ok(None);
    }
    let reported_cost = reckoned.and_then(|reckoned| cost(reckoned.total));
    Ok(Some(RecordedUsage { reported_cost, ..beside(input, read, written, output, 0)? }))
}
