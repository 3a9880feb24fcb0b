//! Code shared by readers of transcripts: records with their places, sizes and hashes of the parts of a thread, counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use forkcast_sim::outside::found;
use forkcast_sim::pricing::Money;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::{Platform, resolve};
use forkcast_sim::wire::{BlockKind, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::Xxh3;

use super::json::{skip_space, walk_value};
use super::text::{Text, json_reason, no_object};
use super::{Reading, when};
use crate::count::{PromptCounts, believed, usd};
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::transcript::{Answer, Call, Input, InputOrigin, Item, Part, Sign, SpawnMode, SpawnResult, Thread, What};
use crate::transcript::{call_id, user_of};

/// The maximum number of unknown kinds of records that are listed.
const KINDS_NAMED: usize = 5;

/// Reads a file of one record per line. Two records on one line are split and reported as repaired; unreadable ones are
/// reported with their place.
pub(super) fn records<'a, T: Deserialize<'a>>(
    text: &Text<'a>,
    reading: &mut Reading,
    mut take: impl FnMut(&mut Reading, usize, T),
) {
    for (line, start, bytes) in text.lines() {
        let bytes = bytes.trim_ascii_end();
        if bytes.trim_ascii_start().is_empty() {
            continue;
        }
        if let Some(what) = no_object(bytes) {
            reading.damage(text.fault(start, what));
            continue;
        }
        match serde_json::from_slice(bytes) {
            Ok(value) => take(reading, line, value),
            Err(error) => match torn(bytes) {
                Some(pieces) => {
                    let count = pieces.len();
                    reading
                        .repaired
                        .push(Fault::in_line(line, format!("{count} records on one line were taken apart")));
                    for piece in pieces {
                        match serde_json::from_slice(piece) {
                            Ok(value) => take(reading, line, value),
                            Err(error) => {
                                let fault = text.json_fault(text.offset_of(piece), &error);
                                reading.damage(fault);
                            }
                        }
                    }
                }
                None => reading.damage(text.record_fault(start, bytes, &error)),
            },
        }
    }
}

/// Reads the elements of the list under `key`, as far as it goes.
pub(super) fn records_under<'a, T: Deserialize<'a>>(
    text: &Text<'a>,
    key: &str,
    reading: &mut Reading,
    take: impl FnMut(&mut Reading, usize, T),
) {
    let (ranges, fault) = text.elements_under(key);
    elements(text, ranges, reading, take);
    fault.into_iter().for_each(|fault| reading.damage(fault));
}

/// Reads the elements of a list at `ranges`.
pub(super) fn elements<'a, T: Deserialize<'a>>(
    text: &Text<'a>,
    ranges: Vec<Range<usize>>,
    reading: &mut Reading,
    mut take: impl FnMut(&mut Reading, usize, T),
) {
    for range in ranges {
        let start = range.start;
        match serde_json::from_slice(&text.bytes[range]) {
            Ok(value) => take(reading, text.line_of(start), value),
            Err(error) => reading.damage(text.json_fault(start, &error)),
        }
    }
}

/// A value from the JSON of a part of a record.
pub(super) fn parsed<'a, T: Deserialize<'a>>(raw: &'a str) -> Result<T, String> {
    serde_json::from_str(raw).map_err(|error| json_reason(&error))
}

/// The value of `name`; `None` if it is implausible, which is reported.
pub(super) fn accepted<T>(
    reading: &mut Reading,
    line: usize,
    name: &str,
    read: Result<Option<T>, String>,
) -> Option<T> {
    read.unwrap_or_else(|what| {
        reading.damage(Fault::in_line(line, format!("{name}: {what}")));
        None
    })
}

/// The objects of a line with several and nothing else.
fn torn(line: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut pieces, mut at) = (Vec::new(), skip_space(line, 0));
    while at < line.len() {
        if line.get(at) != Some(&b'{') {
            return None;
        }
        let end = walk_value(line, at).ok()?;
        pieces.push(line.get(at..end)?);
        at = skip_space(line, end);
    }
    (pieces.len() > 1).then_some(pieces)
}

/// Repeated names, each stored once.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeSet<Arc<str>>);

impl Names {
    /// A call of a tool that does not start an agent.
    pub fn call(&mut self, tool: Option<&str>, id: Option<&str>) -> Call {
        Call { tool: self.named(tool), id: call_of(id), spawn: None }
    }

    /// The shared copy of `name`, or of the empty text.
    pub fn named(&mut self, name: Option<&str>) -> Arc<str> {
        self.get(name.unwrap_or_default())
    }

    /// The shared copy of `name`.
    pub fn get(&mut self, name: &str) -> Arc<str> {
        match self.0.get(name) {
            Some(known) => known.clone(),
            None => {
                let shared: Arc<str> = Arc::from(name);
                self.0.insert(shared.clone());
                shared
            }
        }
    }
}

/// Unknown data: records of unknown kinds are skipped, invalid instants count as absent, and both are reported.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    /// For each kind, the number of records and the line of the first.
    kinds: BTreeMap<String, (usize, usize)>,
    /// The same for instants.
    instants: Option<(usize, usize)>,
}

impl Unknown {
    /// Counts a record of an unknown kind.
    pub fn add(&mut self, kind: &str, line: usize) {
        self.kinds.entry(found(kind)).or_insert((0, line)).0 += 1;
    }

    /// A place in a file, with its instant.
    pub fn place(&mut self, line: usize, instant: Option<&str>) -> Place {
        let at = instant.and_then(when::iso);
        if at.is_none() && instant.is_some() {
            self.instants.get_or_insert((0, line)).0 += 1;
        }
        Place { line, at }
    }

    /// Reports what was skipped.
    pub fn finish(self, reading: &mut Reading) {
        if let Some((count, line)) = self.instants {
            reading.repaired.push(Fault::in_line(line, format!("{count} instants are no dates, taken as unknown")));
        }
        let beyond = self.kinds.len().saturating_sub(KINDS_NAMED);
        for (kind, (count, line)) in self.kinds.into_iter().take(KINDS_NAMED) {
            reading.notes.push(format!("{count} records of the unknown kind {kind}, the first in line {line}"));
        }
        if beyond > 0 {
            reading.notes.push(format!("records of {beyond} more unknown kinds"));
        }
    }
}

/// A place in a file, and when it was recorded.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// Line, counted from one.
    pub line: usize,
    /// The instant, if the file has it.
    pub at: Option<Instant>,
}

impl Place {
    fn item(self, what: What) -> Item {
        Item { line: u32::try_from(self.line).unwrap_or(u32::MAX), at: self.at, what }
    }

    /// Input with one origin.
    pub fn input(self, origin: InputOrigin, parts: Vec<Part>) -> Item {
        self.item(What::Input(Input { origin, parts, wording: Vec::new() }))
    }

    /// A sign of the client.
    pub fn sign(self, sign: Sign) -> Item {
        self.item(What::Sign(sign))
    }

    /// A call started an agent.
    pub fn spawned(self, call: u64, agent: Arc<str>, mode: SpawnMode) -> Item {
        self.sign(Sign::Spawned(Box::new(SpawnResult { call, agent, mode, total_tokens: None })))
    }

    /// An answer.
    pub fn answer(self, answer: Answer) -> Item {
        self.item(What::Answer(Box::new(answer)))
    }
}

/// A failed request about which nothing else is known.
pub(super) const FAILED: Sign = Sign::Failed { status: None, attempt: 1, retry_in_ms: None };

/// A block by its JSON.
pub(super) fn part(kind: BlockKind, json: &str) -> Part {
    Part::of(kind, json.as_bytes())
}

/// A block whose only known property is its size.
pub(super) fn sized(kind: BlockKind, bytes: usize) -> Part {
    Part::sized(kind, u32::try_from(bytes).unwrap_or(u32::MAX))
}

/// A call of a tool or its result.
pub(super) fn call_part(kind: BlockKind, json: &str, call: Option<&str>) -> Part {
    Part { call: call_of(call), ..part(kind, json) }
}

/// Hash of the id of a call; calls without an id count as having an empty one.
pub(super) fn call_of(id: Option<&str>) -> u64 {
    call_id(id.unwrap_or_default().as_bytes())
}

/// One block of a list of contents, as clients write them.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
}

/// The blocks of content that is a string, a block, or a list of blocks and strings; none without content.
pub(super) fn parts(content: Option<&RawValue>) -> Vec<Part> {
    let Some(content) = content else { return Vec::new() };
    let raw = content.get();
    if raw == "null" || raw == "\"\"" {
        return Vec::new();
    }
    match serde_json::from_str::<Vec<&RawValue>>(raw) {
        Ok(blocks) => blocks.iter().map(|block| part(block_kind(block), block.get())).collect(),
        Err(_) => vec![part(block_kind(content), raw)],
    }
}

fn block_kind(block: &RawValue) -> BlockKind {
    let kind = serde_json::from_str::<Block<'_>>(block.get()).ok().and_then(|block| block.kind);
    match kind.as_deref() {
        Some("thinking" | "redacted_thinking" | "reasoning") => BlockKind::Thinking,
        Some("image" | "image_url" | "input_image" | "document" | "file") => BlockKind::Media,
        Some("toolCall" | "tool_use") => BlockKind::ToolUse,
        Some("tool_result") => BlockKind::ToolResult,
        _ => BlockKind::Text,
    }
}

/// Providers and the prefixes of their routers' model names, used if the name alone does not show the router. The
/// clients' names first.
const ROUTERS: [(&str, &str); 6] = [
    ("openrouter", "openrouter/"),
    ("github-copilot", "github_copilot/"),
    ("google-vertex", "vertex_ai/"),
    ("google-vertex-anthropic", "vertex_ai/"),
    ("azure", "azure/"),
    ("azure-openai-responses", "azure/"),
];

/// The spelling of a model that a client stores separately from its provider.
pub(super) fn spelled<'a>(provider: &str, model: &'a str) -> Cow<'a, str> {
    let is_plain = resolve(model).is_some_and(|found| found.platform == Platform::Maker);
    let prefix = ROUTERS.iter().find(|(name, _)| *name == provider).map(|(_, prefix)| *prefix);
    match prefix.map(|prefix| format!("{prefix}{model}")) {
        Some(spelling) if is_plain && resolve(&spelling).is_some() => Cow::Owned(spelling),
        _ => Cow::Borrowed(model),
    }
}

/// The hash of an answer without an id, from several pieces that together are unique.
pub(super) fn pieces_hash(pieces: &[&[u8]]) -> u128 {
    let mut hash = Xxh3::new();
    for piece in pieces {
        hash.update(&piece.len().to_le_bytes());
        hash.update(piece);
    }
    hash.digest128()
}

/// A thread of the main agent of a session in the folder `project`.
pub(super) fn thread(session: Option<Arc<str>>, project: Option<Arc<str>>, items: Vec<Item>) -> Thread {
    let user = project.as_deref().map(|cwd| Arc::from(user_of(cwd)));
    Thread { session, agent: None, user, project, items }
}

/// Gives the sum `usage` to one answer, which replaces those at `own`; to `otherwise` if there are none.
pub(super) fn take_sum(items: &mut Vec<Item>, own: &[usize], usage: RecordedUsage, otherwise: impl FnOnce() -> Item) {
    let place = merge(items, own).unwrap_or_else(|| {
        items.push(otherwise());
        items.len() - 1
    });
    if let Some(Item { what: What::Answer(answer), .. }) = items.get_mut(place) {
        answer.usage = Some(usage);
    }
}

/// Merges several answers into one, at the place of the last, to represent a sum of all of them.
fn merge(items: &mut Vec<Item>, at: &[usize]) -> Option<usize> {
    let (last, earlier) = at.split_last()?;
    let (mut parts, mut calls, mut sent_at, mut first_at) = (Vec::new(), Vec::new(), None, None);
    for index in at {
        let Some(Item { what: What::Answer(answer), .. }) = items.get_mut(*index) else { return None };
        parts.append(&mut answer.parts);
        calls.append(&mut answer.calls);
        sent_at = sent_at.or(answer.sent_at);
        first_at = first_at.or(answer.first_at);
    }
    if let Some(Item { what: What::Answer(answer), .. }) = items.get_mut(*last) {
        (answer.parts, answer.calls, answer.sent_at, answer.first_at) = (parts, calls, sent_at, first_at);
    }
    let gone: BTreeSet<usize> = earlier.iter().copied().collect();
    let mut index = 0;
    items.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    Some(last - gone.len())
}

/// Counts whose read and written tokens are part of the prompt's, as separate counts; `output` includes `reasoning`. An
/// error if the parts exceed the whole, or a count is implausible.
pub(super) fn within(prompt: PromptCounts, output: u64, reasoning: u64) -> Result<RecordedUsage, String> {
    believed(prompt.name, prompt.tokens)?;
    let usage = prompt.additive(output)?;
    beside(usage.input_tokens, prompt.read, prompt.written, output, reasoning)
}

/// Separate counts; an error if one is implausible.
pub(super) fn beside(
    input: u64,
    read: u64,
    written: u64,
    output: u64,
    reasoning: u64,
) -> Result<RecordedUsage, String> {
    let counts = [("input", input), ("read", read), ("written", written), ("output", output), ("reasoning", reasoning)];
    for (name, count) in counts {
        believed(name, count)?;
    }
    let usage = Usage {
        input_tokens: input,
        cache_read_input_tokens: read,
        ephemeral_5m_input_tokens: written,
        ephemeral_1h_input_tokens: 0,
        output_tokens: output,
    };
    Ok(RecordedUsage { usage, reasoning_tokens: reasoning, ..RecordedUsage::default() })
}

/// A count other than usage, such as the size before a compaction; an implausible one is reported and counts as
/// unknown.
pub(super) fn told_count(reading: &mut Reading, line: usize, name: &str, count: Option<u64>) -> Option<u64> {
    believed(name, count?).map_err(|what| reading.damage(Fault::in_line(line, what))).ok()
}

/// The cost of an answer according to a client; `None` for zero, which clients write for models without a known price.
pub(super) fn cost(amount: f64) -> Option<Money> {
    usd(amount).filter(|_| amount > 0.0)
}

/// Adds a thread, if it is not empty, with a sentence on its answers without usage.
pub(super) fn conclude(reading: &mut Reading, thread: Thread) {
    let lines: Vec<u32> = thread
        .items
        .iter()
        .filter(|item| item.answer().is_some_and(|answer| answer.usage.is_none()))
        .map(|item| item.line)
        .collect();
    if let Some(first) = lines.first() {
        let count = lines.len();
        reading.notes.push(format!("{count} requests without usage, the first in line {first}"));
    }
    if !thread.items.is_empty() {
        reading.threads.push(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::torn;

    #[test]
    fn only_complete_objects_are_split() {
        assert_eq!(torn(b"{\"a\":1}{\"b\":2}").unwrap().len(), 2);
        assert!(torn(b"{\"a\":1}").is_none());
        assert!(torn(b"{\"a\":1}{\"b\":").is_none());
        assert!(torn(b"{\"a\":1} 7").is_none());
    }
}
