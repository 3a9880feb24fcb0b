//! Normalised rounds of TraceLab: one request of Claude Code or Codex per line.
//!
//! * `input_tokens_total = prefix_tokens + newly_append_tokens`; of Claude also `claude_uncached_input_tokens`,
//!   `claude_cache_creation_input_tokens` and `claude_cache_read_input_tokens`, which are used if present. Written
//!   tokens have no lifetime here.
//! * Texts are removed: `timing_events[]` has their instants and sizes in characters, which are used as bytes.
//! * `round_id` is Claude's message id, so a round and its original transcript count once. Those of Codex count once with
//!   their rollout by their counts. Sanitised files have other ids.
//! * Rounds of many sessions may be in one file, in sequence or mixed; `round_index` orders those of a session.
//!
//! Source: uw-syfi/TraceLab, `example_sessions/derived/README.md` (commit 0b8a262).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::wire::BlockKind;
use serde::Deserialize;

use super::Reading;
use super::codex::Listed;
use super::reader::{File, Probe, Reader};
use super::thread::{Names, Place, Unknown, beside, pieces_hash, records, sized, thread, within};
use crate::count::PromptCounts;
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::transcript::{Answer, Call, InputOrigin, Item, Part, Stop, Thread, answer_id, call_id};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "tracelab",
    what: "normalised rounds of TraceLab, sizes without texts",
    detected_by: "lines with keys `provider`, `round_index` and `prefix_tokens`",
    probe: |object| Probe::sure(object.has_all(&["provider", "round_index", "prefix_tokens"])),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut rounds: BTreeMap<String, Vec<(usize, Round<'_>)>> = BTreeMap::new();
    records::<Round<'_>>(text, &mut reading, |_, line, round| {
        rounds.entry(round.session_id.to_string()).or_default().push((line, round));
    });
    let (mut names, mut unknown) = (Names::default(), Unknown::default());
    for (session, mut own) in rounds {
        own.sort_by_key(|(line, round)| (round.round_index, *line));
        let cwd = own.iter().find_map(|(_, round)| round.cwd.as_deref());
        let named = own.iter().find_map(|(_, round)| round.project.as_deref());
        let mut items = Vec::new();
        let mut listed = Listed::default();
        for (line, round) in &own {
            let id = round.id(*line, &mut listed);
            round.tell(*line, id, &mut items, &mut reading, &mut names, &mut unknown);
        }
        let own = thread(Some(Arc::from(session)), cwd.map(Arc::from), items);
        let project = own.project.clone().or_else(|| named.map(Arc::from));
        reading.threads.push(Thread { project, ..own });
    }
    unknown.finish(&mut reading);
    reading
}

#[derive(Deserialize)]
struct Round<'a> {
    #[serde(borrow)]
    provider: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    round_index: u64,
    round_id: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    project: Option<Cow<'a, str>>,
    input_tokens_total: u64,
    prefix_tokens: u64,
    claude_uncached_input_tokens: Option<u64>,
    claude_cache_creation_input_tokens: Option<u64>,
    output_tokens: u64,
    reasoning_output_tokens: Option<u64>,
    #[serde(default)]
    timing_events: Vec<TimingEvent<'a>>,
}

#[derive(Deserialize)]
struct TimingEvent<'a> {
    #[serde(borrow)]
    event_type: Cow<'a, str>,
    timestamp: Option<Cow<'a, str>>,
    content_chars: Option<usize>,
    result_chars: Option<usize>,
    tool_call_id: Option<Cow<'a, str>>,
    tool_name: Option<Cow<'a, str>>,
}

impl Round<'_> {
    fn tell(
        &self,
        line: usize,
        id: u128,
        items: &mut Vec<Item>,
        reading: &mut Reading,
        names: &mut Names,
        unknown: &mut Unknown,
    ) {
        let usage = self.usage().map_err(|what| reading.damage(Fault::in_line(line, what))).ok();
        let model = names.named(self.model.as_deref());
        let mut made = Answer { usage, ..Answer::of(id, model) };
        for event in &self.timing_events {
            let place = unknown.place(line, event.timestamp.as_deref());
            let at = place.at;
            let block = |kind, chars: Option<usize>| sized(kind, chars.unwrap_or(0));
            let call = event.tool_call_id.as_deref().map_or(0, |id| call_id(id.as_bytes()));
            let part = match &*event.event_type {
                "user_message" => {
                    let part = block(BlockKind::Text, event.content_chars);
                    made.sent_at = made.sent_at.max(at);
                    items.push(place.input(InputOrigin::Prompt, vec![part]));
                    continue;
                }
                "tool_result" => {
                    let part = Part { call, ..block(BlockKind::ToolResult, event.result_chars) };
                    made.sent_at = made.sent_at.max(at);
                    items.push(place.input(InputOrigin::ToolResults, vec![part]));
                    continue;
                }
                "reasoning" => block(BlockKind::Thinking, event.content_chars),
                "text" => block(BlockKind::Text, event.content_chars),
                "tool_call" => {
                    let tool = names.named(event.tool_name.as_deref());
                    made.calls.push(Call { tool, id: call, spawn: None });
                    Part { call, ..block(BlockKind::ToolUse, event.content_chars) }
                }
                "usage_report" => continue,
                other => {
                    unknown.add(other, line);
                    continue;
                }
            };
            made.first_at = made.first_at.or(at);
            made.ended_at = at.or(made.ended_at);
            made.parts.push(part);
        }
        made.stop = Stop::after(&made.calls);
        items.push(Place { line, at: made.first_at }.answer(made));
    }

    fn id(&self, line: usize, listed: &mut Listed) -> u128 {
        let rollout = self.session_id.strip_prefix("codex:").filter(|_| self.provider == "codex");
        if let Some(session) = rollout {
            let counts = [self.input_tokens_total, self.prefix_tokens, self.output_tokens, self.reasoning_tokens()];
            return listed.next(session, counts);
        }
        match self.round_id.as_deref() {
            Some(id) if self.provider == "claude" => answer_id(id.as_bytes()),
            Some(id) => pieces_hash(&[b"tracelab", self.session_id.as_bytes(), id.as_bytes()]),
            None => pieces_hash(&[b"tracelab", self.session_id.as_bytes(), &line.to_le_bytes()]),
        }
    }

    fn reasoning_tokens(&self) -> u64 {
        self.reasoning_output_tokens.unwrap_or(0)
    }

    fn usage(&self) -> Result<RecordedUsage, String> {
        let (whole, read) = (self.input_tokens_total, self.prefix_tokens);
        let reasoning = self.reasoning_tokens();
        match (self.claude_uncached_input_tokens, self.claude_cache_creation_input_tokens) {
            (Some(input), Some(written)) => {
                let counts = beside(input, read, written, self.output_tokens, reasoning)?;
                let sum = counts.usage.total_input_tokens();
                if sum != whole {
                    return Err(format!("`input_tokens_total` is {whole}, expected {sum}, the sum of its parts"));
                }
                Ok(counts)
            }
            _ => {
                let prompt = PromptCounts { name: "input_tokens_total", tokens: whole, read, written: 0 };
                within(prompt, self.output_tokens, reasoning)
            }
        }
    }
}
