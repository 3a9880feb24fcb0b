//! Events of Copilot CLI: `~/.copilot/session-state/ID/events.jsonl`, lines of `{type, data, id, timestamp, parentId}`.
//!
//! * No request has usage of its own: an `assistant.message` (one request) has only its output. Sums by model are in
//!   `session.shutdown`, `modelMetrics{MODEL: {requests{count}, usage{inputTokens, outputTokens, cacheReadTokens,
//!   cacheWriteTokens, reasoningTokens}}}`, when the program ends normally. So a single message of a model takes the
//!   sum as its own; several become one answer with the sum, and a note says so; without a shutdown they are requests
//!   without usage.
//! * `inputTokens` includes read and written tokens; `reasoningTokens` are part of `outputTokens`. All zeros mean that
//!   nothing was reported.
//! * A resumed session continues in its file; the sums are those since the program was restarted.
//! * `requests.cost` counts premium requests, not money.
//! * Messages of sub-agents are among the others, and in the same sums.
//!
//! Source: recordings of 1.0.64 (2026-06, 2026-07).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::outside::{found, quoted};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reading;
use super::reader::{File, Probe, Reader};
use super::thread::{FAILED, Names, Place, Unknown, call_part, conclude, parsed, part, pieces_hash, within};
use super::thread::{records, take_sum, thread, told_count};
use crate::count::PromptCounts;
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::transcript::{Answer, InputOrigin, Item, Part, Sign, Stop, answer_id};

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "copilot-cli",
    what: "events of Copilot CLI (`~/.copilot/session-state`): sums of a session by model, no single request has usage",
    detected_by: "lines with keys `type`, `data`, `timestamp` and `parentId`",
    probe: |object| Probe::sure(object.has_all(&["type", "data", "timestamp", "parentId"])),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut reading = Reading::default();
    let mut session = Session::default();
    records::<Event<'_>>(text, &mut reading, |reading, line, event| session.event(reading, line, &event));
    session.finish(&mut reading);
    reading
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    data: Option<&'a RawValue>,
    timestamp: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
}

/// Possible fields of all events.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    copilot_version: Option<Cow<'a, str>>,
    context: Option<Context<'a>>,
    reasoning_effort: Option<Cow<'a, str>>,
    content: Option<&'a RawValue>,
    transformed_content: Option<&'a RawValue>,
    model: Option<Cow<'a, str>>,
    tool_requests: Option<Vec<ToolRequest<'a>>>,
    reasoning_text: Option<&'a RawValue>,
    output_tokens: Option<u64>,
    api_call_id: Option<Cow<'a, str>>,
    message_id: Option<Cow<'a, str>>,
    tool_call_id: Option<Cow<'a, str>>,
    result: Option<&'a RawValue>,
    pre_compaction_tokens: Option<u64>,
    model_metrics: Option<BTreeMap<Cow<'a, str>, Metrics>>,
}

#[derive(Deserialize)]
struct Context<'a> {
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolRequest<'a> {
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    arguments: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metrics {
    requests: Requests,
    usage: Tokens,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Requests {
    count: u64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    reasoning_tokens: u64,
}

#[derive(Default)]
struct Session {
    id: Option<Arc<str>>,
    project: Option<Arc<str>>,
    version: Option<Arc<str>>,
    effort: Option<Arc<str>>,
    items: Vec<Item>,
    /// Answers since the program was started, by model.
    run: BTreeMap<Arc<str>, Vec<usize>>,
    /// The sum of outputs of the messages since then.
    outputs: u64,
    given_at: Option<Instant>,
    names: Names,
    unknown: Unknown,
}

impl Session {
    fn event(&mut self, reading: &mut Reading, line: usize, event: &Event<'_>) {
        let place = self.unknown.place(line, event.timestamp.as_deref());
        let data = match parsed::<Data<'_>>(event.data.map_or("{}", RawValue::get)) {
            Ok(data) => data,
            Err(what) => return reading.damage(Fault::in_line(line, format!("{}: {what}", found(&event.kind)))),
        };
        match &*event.kind {
            "session.start" | "session.resume" => self.start(&data),
            "session.model_change" => {
                self.effort = data.reasoning_effort.as_deref().map(|effort| self.names.get(effort));
            }
            "user.message" => self.given(place, InputOrigin::Prompt, text(&data)),
            "system.notification" => self.given(place, InputOrigin::Notification, text(&data)),
            "assistant.message" => {
                self.outputs += told_count(reading, line, "outputTokens", data.output_tokens).unwrap_or(0);
                self.answer(place, &data);
            }
            "tool.execution_complete" => {
                let result = data.result.map_or("null", RawValue::get);
                let part = call_part(BlockKind::ToolResult, result, data.tool_call_id.as_deref());
                self.given(place, InputOrigin::ToolResults, vec![part]);
            }
            "session.compaction_complete" => {
                let before_tokens = told_count(reading, line, "preCompactionTokens", data.pre_compaction_tokens);
                let compacted = Sign::Compacted { before_tokens, automatic: true };
                self.items.push(place.sign(compacted));
            }
            "session.error" => self.items.push(place.sign(FAILED)),
            "abort" => self.items.push(place.sign(Sign::Interrupted)),
            "session.shutdown" => self.shutdown(reading, place, event.id.as_deref().unwrap_or_default(), &data),
            kind if is_told_elsewhere(kind) => {}
            other => self.unknown.add(other, line),
        }
    }

    fn start(&mut self, data: &Data<'_>) {
        self.end_run();
        self.id = data.session_id.as_deref().map(Arc::from).or_else(|| self.id.take());
        self.version = data.copilot_version.as_deref().map(Arc::from).or_else(|| self.version.take());
        let cwd = data.context.as_ref().and_then(|context| context.cwd.as_deref());
        self.project = self.project.take().or_else(|| cwd.map(Arc::from));
    }

    fn end_run(&mut self) {
        (self.run, self.outputs) = Default::default();
    }

    fn given(&mut self, place: Place, origin: InputOrigin, parts: Vec<Part>) {
        if !parts.is_empty() {
            self.given_at = place.at.or(self.given_at);
            self.items.push(place.input(origin, parts));
        }
    }

    fn answer(&mut self, place: Place, data: &Data<'_>) {
        let requests = data.tool_requests.as_deref().unwrap_or_default();
        let mut parts: Vec<Part> =
            data.reasoning_text.iter().map(|text| part(BlockKind::Thinking, text.get())).collect();
        parts.extend(text(data));
        let mut calls = Vec::new();
        for request in requests {
            let id = request.tool_call_id.as_deref();
            parts.push(call_part(BlockKind::ToolUse, request.arguments.map_or("{}", RawValue::get), id));
            calls.push(self.names.call(request.name.as_deref(), id));
        }
        let own = self.id.as_deref().unwrap_or_default();
        let id = data.api_call_id.as_deref().or(data.message_id.as_deref());
        let place_hash = || pieces_hash(&[own.as_bytes(), &place.line.to_le_bytes()]);
        let id = id.map_or_else(place_hash, |id| answer_id(id.as_bytes()));
        let model = self.names.named(data.model.as_deref());
        let answer = Answer {
            version: self.version.clone(),
            effort: self.effort.clone(),
            sent_at: self.given_at,
            first_at: place.at,
            ended_at: place.at,
            stop: Stop::after(&calls),
            parts,
            calls,
            ..Answer::of(id, model.clone())
        };
        self.given_at = place.at.or(self.given_at);
        self.run.entry(model).or_default().push(self.items.len());
        self.items.push(place.answer(answer));
    }

    fn shutdown(&mut self, reading: &mut Reading, place: Place, id: &str, data: &Data<'_>) {
        let Place { line, at } = place;
        for (model, metrics) in data.model_metrics.iter().flatten() {
            let Metrics { requests, usage } = metrics;
            if usage.input_tokens == 0 && usage.output_tokens == 0 {
                let count = requests.count;
                reading
                    .notes
                    .push(format!("line {line}: {count} requests of {} were reported with no tokens", quoted(model)));
                continue;
            }
            let usage = match usage.counts() {
                Ok(usage) => usage,
                Err(what) => {
                    reading.damage(Fault::in_line(line, format!("`modelMetrics` of {}: {what}", quoted(model))));
                    continue;
                }
            };
            let name = self.names.get(model);
            let own = self.run.remove(&name).unwrap_or_default();
            if own.len() as u64 != 1 || requests.count > 1 {
                let count = requests.count.max(own.len() as u64);
                reading.notes.push(format!(
                    "{count} requests of {} are merged into one: only their sum is recorded, in line {line}",
                    quoted(model)
                ));
            }
            let sent_at = self.given_at;
            take_sum(&mut self.items, &own, usage, || {
                let id = pieces_hash(&[b"copilot-cli", id.as_bytes(), model.as_bytes(), &line.to_le_bytes()]);
                place.answer(Answer { sent_at, first_at: at, ended_at: at, ..Answer::of(id, name) })
            });
            self.shift(&own);
        }
        self.end_run();
    }

    /// Adjusts the places of other models' answers after all of `gone` except the last were removed.
    fn shift(&mut self, gone: &[usize]) {
        let Some((_, gone)) = gone.split_last() else { return };
        for place in self.run.values_mut().flatten() {
            *place -= gone.partition_point(|earlier| earlier < place);
        }
    }

    fn finish(self, reading: &mut Reading) {
        self.unknown.finish(reading);
        let open: usize = self.run.values().map(Vec::len).sum();
        if open > 0 {
            let outputs = self.outputs;
            reading.notes.push(format!(
                "the session has no orderly end, so the sums of {open} requests are missing; their outputs alone are {outputs} tokens"
            ));
        }
        conclude(reading, thread(self.id, self.project, self.items));
    }
}

/// Events that repeat others, or that do not reach a model.
fn is_told_elsewhere(kind: &str) -> bool {
    let families = ["hook.", "permission.", "tool.", "subagent.", "skill.", "session."];
    families.iter().any(|family| kind.starts_with(family))
        || matches!(kind, "system.message" | "assistant.turn_start" | "assistant.turn_end" | "assistant.intent")
        || matches!(
            kind,
            "assistant.reasoning" | "assistant.usage" | "assistant.message_delta" | "user_input.requested"
        )
}

fn text(data: &Data<'_>) -> Vec<Part> {
    let content = data.transformed_content.or(data.content).filter(|content| content.get() != "\"\"");
    content.iter().map(|content| part(BlockKind::Text, content.get())).collect()
}

impl Tokens {
    fn counts(&self) -> Result<RecordedUsage, String> {
        let prompt = PromptCounts {
            name: "inputTokens",
            tokens: self.input_tokens,
            read: self.cache_read_tokens,
            written: self.cache_write_tokens,
        };
        within(prompt, self.output_tokens, self.reasoning_tokens)
    }
}
