//! Sessions of pi: `~/.pi/agent/sessions/--PATH--/TIME_ID.jsonl`.
//!
//! * The first line is the `session` (id, cwd); the others are entries. From version 2 entries form a tree by `id` and
//!   `parentId`: one that hangs on another than the last goes back to it. Before, their order is all there is.
//! * `message` entries hold one message each. Of an assistant's, `timestamp` (milliseconds) is when it was asked and the entry's
//!   is when it was written down. `usage{input, output, cacheRead, cacheWrite, cost{total}}`: all counts stand beside each other,
//!   the cost is pi's own reckoning. An aborted answer has zeros: nothing was reported.
//! * `compaction` replaces what stood before `firstKeptEntryId` (before version 2 `firstKeptEntryIndex`, which counts all lines)
//!   with a summary. The request that made it is not in the file.
//! * A branch is a new file that repeats the entries before it, byte by byte, with the messages' instants. So a message is
//!   known again by its bytes.
//! * `custom`, `label`, `session_info` reach no model; `bashExecution` does, unless it is excluded.
//!
//! Source: badlogic/pi-mono `packages/coding-agent/docs/session.md` (commit 83378aa); recordings of 2025-11 and 2025-12.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reader::{File, FormatInfo, Object, Probe, Reader};
use super::text::{Text, json_reason};
use super::thread::{Names, Record, Unknown, answer, beside, call_hash, call_part, cost, input, line_number};
use super::thread::{note_unmeasured, part, parts, pieces_hash, records, sign, sized, spelled, told_count, user};
use super::{Reading, when};
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::transcript::{Answer, Call, InputOrigin, Item, Part, Sign, Stop, Thinking, Thread, What};

/// The reader.
pub(super) struct Pi;

impl Reader for Pi {
    fn info(&self) -> FormatInfo {
        FormatInfo {
            name: "pi",
            what: "sessions of pi (`~/.pi/agent/sessions`)",
            detected_by: "lines with keys `type`, `timestamp` and `cwd`, or a `message` with a `role`",
        }
    }

    fn probe(&self, object: &Object<'_>) -> Probe {
        let is_message = || object.inner("message").is_some_and(|message| message.has("role"));
        Probe::sure(object.has_all(&["timestamp", "type"]) && (object.has_all(&["id", "cwd"]) || is_message()))
    }

    fn read(&self, file: &File<'_>) -> Reading {
        read(&file.text())
    }
}

/// Reads one session.
fn read(text: &Text<'_>) -> Reading {
    let mut reading = Reading::default();
    let mut session = Session::default();
    records::<Entry<'_>>(text, &mut reading, |reading, record| session.entry(reading, &record));
    let thread = session.finish(&mut reading);
    note_unmeasured(&mut reading, &thread.items);
    if !thread.items.is_empty() {
        reading.threads.push(thread);
    }
    reading
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "parentId")]
    parent: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "firstKeptEntryId")]
    first_kept: Option<Cow<'a, str>>,
    #[serde(default, rename = "firstKeptEntryIndex")]
    first_kept_index: Option<usize>,
    #[serde(default, rename = "tokensBefore")]
    tokens_before: Option<u64>,
    #[serde(borrow, default, rename = "thinkingLevel")]
    thinking: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    provider: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    usage: Option<Counts>,
    #[serde(borrow, default, rename = "stopReason")]
    stop: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "toolCallId")]
    call: Option<Cow<'a, str>>,
    #[serde(default, rename = "excludeFromContext")]
    excluded: bool,
}

#[derive(Clone, Copy, Deserialize)]
struct Counts {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default, rename = "cacheRead")]
    read: u64,
    #[serde(default, rename = "cacheWrite")]
    written: u64,
    #[serde(default)]
    cost: Option<Cost>,
}

#[derive(Clone, Copy, Deserialize)]
struct Cost {
    #[serde(default)]
    total: f64,
}

/// A block that may call a tool.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

#[derive(Default)]
struct Session {
    id: Option<Arc<str>>,
    project: Option<Arc<str>>,
    items: Vec<Item>,
    /// Bytes of all items before each.
    sizes: Vec<usize>,
    /// How many items there were before each line.
    before_line: Vec<usize>,
    /// Of each entry, how many items there were before it and behind it.
    entries: BTreeMap<String, (usize, usize)>,
    last: Option<String>,
    given_at: Option<Instant>,
    effort: Option<Arc<str>>,
    names: Names,
    unknown: Unknown,
}

impl Session {
    fn entry(&mut self, reading: &mut Reading, record: &Record<Entry<'_>>) {
        let Record { line, value: entry } = record;
        self.before_line.push(self.items.len());
        let at = entry.timestamp.as_deref().and_then(when::iso);
        if entry.kind != "session" {
            self.climb(*line, at, entry);
        }
        let before = self.items.len();
        match &*entry.kind {
            "session" => self.header(entry),
            "message" => {
                if let Err(what) = self.message(reading, *line, at, entry.message.map_or("null", RawValue::get)) {
                    reading.damage(Fault::in_line(*line, format!("message: {what}")));
                }
            }
            "compaction" => {
                let before = told_count(reading, *line, "tokensBefore", entry.tokens_before);
                self.compaction(*line, at, entry, before);
            }
            "branch_summary" => self.given(*line, at, InputOrigin::Summary, summary(entry)),
            "custom_message" => {
                self.given(*line, at, InputOrigin::Injected, entry.content.map(parts).unwrap_or_default());
            }
            "thinking_level_change" => self.thinking(*line, at, entry.thinking.as_deref().unwrap_or("off")),
            "model_change" | "custom" | "label" | "session_info" => {}
            other => self.unknown.add(other, *line),
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

    /// An entry that hangs on another than the last one goes back to that.
    fn climb(&mut self, line: usize, at: Option<Instant>, entry: &Entry<'_>) {
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
        self.push(sign(line, at, Sign::Rewound { to }));
    }

    fn push(&mut self, item: Item) {
        let own: usize = match &item.what {
            What::Input(input) => input.parts.iter().map(|part| part.bytes as usize).sum(),
            What::Answer(answer) => answer.parts.iter().map(|part| part.bytes as usize).sum(),
            What::Sign(_) => 0,
        };
        let before = self.sizes.last().copied().unwrap_or(0);
        self.sizes.push(before + own);
        self.items.push(item);
    }

    fn given(&mut self, line: usize, at: Option<Instant>, origin: InputOrigin, parts: Vec<Part>) {
        if !parts.is_empty() {
            self.given_at = at.or(self.given_at);
            self.push(input(line, at, origin, parts));
        }
    }

    fn thinking(&mut self, line: usize, at: Option<Instant>, level: &str) {
        let state = match level {
            "off" => Thinking::Off,
            level => Thinking::On(call_hash(level)),
        };
        self.effort = Some(self.names.get(level));
        self.push(sign(line, at, Sign::Thinking(state)));
    }

    fn message(&mut self, reading: &mut Reading, line: usize, at: Option<Instant>, raw: &str) -> Result<(), String> {
        let message: Message<'_> = serde_json::from_str(raw).map_err(|error| json_reason(&error))?;
        let whole = |kind| vec![part(kind, raw)];
        match &*message.role {
            "assistant" => {
                let usage = message.usage.map_or(Ok(None), usage).unwrap_or_else(|what| {
                    reading.damage(Fault::in_line(line, format!("`usage`: {what}")));
                    None
                });
                self.answer(line, at, &message, raw, usage);
            }
            "user" => self.given(line, at, InputOrigin::Prompt, message.content.map(parts).unwrap_or_default()),
            "toolResult" => {
                let call = message.call.as_deref().unwrap_or_default();
                let content = message.content.map_or(raw, RawValue::get);
                self.given(line, at, InputOrigin::ToolResults, vec![call_part(BlockKind::ToolResult, content, call)]);
            }
            "bashExecution" if message.excluded => {}
            "bashExecution" => self.given(line, at, InputOrigin::Injected, whole(BlockKind::Text)),
            "custom" | "hookMessage" => {
                self.given(line, at, InputOrigin::Injected, message.content.map(parts).unwrap_or_default());
            }
            "branchSummary" | "compactionSummary" => self.given(line, at, InputOrigin::Summary, whole(BlockKind::Text)),
            other => self.unknown.add(other, line),
        }
        Ok(())
    }

    fn answer(
        &mut self,
        line: usize,
        at: Option<Instant>,
        message: &Message<'_>,
        raw: &str,
        usage: Option<RecordedUsage>,
    ) {
        let model = message.model.as_deref().unwrap_or_default();
        let model = spelled(message.provider.as_deref().unwrap_or_default(), model);
        let sent_at = message.timestamp.and_then(|raw| when::millis(raw.get())).or(self.given_at);
        let (parts, calls) = self.blocks(message.content);
        let answer = Answer {
            sent_at,
            first_at: at,
            ended_at: at,
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
            ..answer(pieces_hash(&[b"pi", raw.as_bytes()]), self.names.get(&model))
        };
        let is_aborted = message.stop.as_deref() == Some("aborted");
        self.given_at = at.or(self.given_at);
        self.push(Item { line: line_number(line), at, what: What::Answer(Box::new(answer)) });
        if is_aborted {
            self.push(sign(line, at, Sign::Interrupted));
        }
    }

    fn blocks(&mut self, content: Option<&RawValue>) -> (Vec<Part>, Vec<Call>) {
        let Some(content) = content else { return Default::default() };
        let mut found = parts(content);
        let raw: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
        let mut calls = Vec::new();
        for (block, found) in raw.iter().zip(&mut found) {
            let Ok(block) = serde_json::from_str::<Block<'_>>(block.get()) else { continue };
            if block.kind == "toolCall" {
                found.call = call_hash(block.id.as_deref().unwrap_or_default());
                let tool = self.names.get(block.name.as_deref().unwrap_or_default());
                calls.push(Call { tool, id: found.call, spawn: None });
            }
        }
        (found, calls)
    }

    /// The summary, and what is kept of what stood before it, as one block.
    fn compaction(&mut self, line: usize, at: Option<Instant>, entry: &Entry<'_>, before_tokens: Option<u64>) {
        let by_id = entry.first_kept.as_deref().and_then(|id| self.entries.get(id)).map(|(before, _)| *before);
        let by_index = entry.first_kept_index.and_then(|index| self.before_line.get(index).copied());
        let now = self.sizes.last().copied().unwrap_or(0);
        let kept = by_id.or(by_index).map_or(0, |first| {
            let before = first.checked_sub(1).and_then(|last| self.sizes.get(last).copied()).unwrap_or(0);
            now.saturating_sub(before)
        });
        self.push(sign(line, at, Sign::Compacted { before_tokens, automatic: false }));
        let mut parts = summary(entry);
        parts.extend((kept > 0).then(|| sized(BlockKind::Opaque, kept)));
        self.given(line, at, InputOrigin::Summary, parts);
    }

    fn finish(mut self, reading: &mut Reading) -> Thread {
        mem::take(&mut self.unknown).finish(reading);
        Thread {
            session: self.id,
            agent: None,
            user: self.project.as_deref().map(user),
            project: self.project,
            items: self.items,
        }
    }
}

fn summary(entry: &Entry<'_>) -> Vec<Part> {
    entry.summary.map(parts).unwrap_or_default()
}

/// Nothing where all counts are zero: so pi writes down that nothing was reported.
fn usage(counts: Counts) -> Result<Option<RecordedUsage>, String> {
    let Counts { input, output, read, written, cost: reckoned } = counts;
    if [input, output, read, written].iter().all(|count| *count == 0) {
        return Ok(None);
    }
    let reported_cost = reckoned.and_then(|reckoned| cost(reckoned.total));
    Ok(Some(RecordedUsage { reported_cost, ..beside(input, read, written, output, 0)? }))
}
