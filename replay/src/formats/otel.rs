//! OpenTelemetry traces of generative AI: OTLP in JSON (`resourceSpans[].scopeSpans[].spans[]`), one document or one
//! export per line, as the collector's file exporter writes it.
//!
//! These attributes of a span that calls a model (`gen_ai.operation.name`, or its equivalent in older instrumentations)
//! are read:
//!
//! | | today | before, and elsewhere |
//! |---|---|---|
//! | model | `gen_ai.request.model`, `gen_ai.response.model` | `llm.model_name` (OpenInference), `llm.request.model` |
//! | prompt | `gen_ai.input.messages`, `gen_ai.system_instructions`, `gen_ai.tool.definitions` | `gen_ai.prompt.0.content` … (OpenLLMetry), events `gen_ai.content.prompt`, `input.value` and `llm.input_messages.0.…` (OpenInference) |
//! | usage | `gen_ai.usage.input_tokens`, which includes read and written tokens | the same names with other endings; some write the provider's additive counts |
//!
//! Traces contain no cache markers: prompts of Claude models are assembled as bodies of the Messages API and show what
//! changed, but not the breakpoints. Spans around other model spans (frameworks trace a call that the client library
//! traces too) are skipped; the innermost counts.
//!
//! Sources: open-telemetry/semantic-conventions-genai `docs/gen-ai/` (spans, input messages, agent spans) and its
//! deprecations; traceloop/openllmetry `opentelemetry-semantic-conventions-ai`; Arize-ai/openinference
//! `spec/semantic_conventions.md` (all accessed in 2026-11).

mod attributes;
mod content;
mod spans;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::outside::quoted;
use forkcast_sim::time::Instant;

use self::attributes::Attributes;
use super::Reading;
use super::calls::Calls;
use super::logged::{self, Content};
use super::reader::{File, Probe, Reader};
use super::value::Value;
use crate::error::Fault;
use crate::exchange::Exchange;

/// What a log of traces lacks, noted once for each file.
const NO_MARKERS: &str = "traces hold no cache breakpoints: where they stood is not known";

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "otel",
    what: "OpenTelemetry traces of generative AI (OTLP in JSON, `gen_ai.*`, OpenLLMetry, OpenInference): usage, and prompts where spans hold them",
    detected_by: "objects with `resourceSpans`",
    probe: |object| Probe::sure(object.has("resourceSpans")),
    read,
    reads_lists: true,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let (ranges, faults) = spans::find(text);
    let mut calls = Calls::new(file, "span");
    let mut found = Vec::new();
    for (index, range) in ranges.into_iter().enumerate() {
        match Value::from_json(&text.bytes[range.clone()]) {
            Ok(span) => found.push(Span::new(index, text.line_of(range.start), &span)),
            Err(error) => calls.reading.damage(text.json_fault(range.start, &error)),
        }
    }
    let around = around_others(&found);
    for span in &found {
        take(&mut calls, span, around.contains(&span.index));
    }
    faults.into_iter().for_each(|fault| calls.reading.damage(fault));
    let without_prompt = calls.without_prompt.len();
    let mut reading = calls.finish();
    if reading.exchanges.len() > without_prompt {
        reading.notes.push(NO_MARKERS.to_owned());
    }
    reading
}

/// The relevant fields of a span.
struct Span {
    index: usize,
    line: usize,
    id: String,
    parent: String,
    name: String,
    started_at: Option<Instant>,
    ended_at: Option<Instant>,
    failed: bool,
    attributes: Attributes,
}

impl Span {
    fn new(index: usize, line: usize, span: &Value) -> Self {
        let text = |name: &str| span.text_of(name).unwrap_or_default().to_owned();
        let nanos = |name: &str| match span.get(name)? {
            Value::Text(digits) | Value::Number(digits) => digits.parse().ok().filter(|nanos| *nanos > 0).map(Instant),
            _ => None,
        };
        let code = span.get("status").and_then(|status| status.get("code"));
        Self {
            index,
            line,
            id: text("spanId"),
            parent: text("parentSpanId"),
            name: text("name"),
            started_at: nanos("startTimeUnixNano"),
            ended_at: nanos("endTimeUnixNano"),
            failed: code.is_some_and(|code| code.as_u64() == Some(2) || code.as_text() == Some("STATUS_CODE_ERROR")),
            attributes: Attributes::of(span),
        }
    }

    /// The model, if the span called one.
    fn model(&self) -> Option<String> {
        let operation = self.attributes.text(&["gen_ai.operation.name", "llm.request.type", "openinference.span.kind"]);
        let asks = match operation.as_deref() {
            Some(word) => MODEL_OPERATIONS.contains(&word.to_ascii_lowercase().as_str()),
            None => self.attributes.has_any(usage::PROMPT),
        };
        let names = ["gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "llm.request.model"];
        asks.then(|| self.attributes.text(&names)).flatten()
    }
}

/// Conversation and agent. A conversation alone is not a chain, because side requests (titles, summaries) have its id
/// too.
fn chain(span: &Span) -> Option<String> {
    let conversation = span.attributes.text(&["gen_ai.conversation.id", "session.id"])?;
    let agent = span.attributes.text(&["gen_ai.agent.id", "gen_ai.agent.name"])?;
    Some(format!("{conversation}/{agent}"))
}

/// Operations that call a model: of the conventions, of OpenLLMetry, of OpenInference.
const MODEL_OPERATIONS: &[&str] =
    &["chat", "text_completion", "generate_content", "completion", "messages", "responses", "llm"];

/// Model spans with model spans inside, at any depth.
fn around_others(spans: &[Span]) -> BTreeSet<usize> {
    let by_id: BTreeMap<&str, &Span> = spans.iter().map(|span| (span.id.as_str(), span)).collect();
    let mut around = BTreeSet::new();
    for span in spans.iter().filter(|span| span.model().is_some()) {
        let (mut parent, mut steps) = (by_id.get(span.parent.as_str()), 0);
        while let Some(above) = parent.filter(|above| above.index != span.index && steps < ANCESTORS_MAX) {
            if above.model().is_some() {
                around.insert(above.index);
            }
            parent = by_id.get(above.parent.as_str());
            steps += 1;
        }
    }
    around
}

/// The maximum number of ancestors that are followed, because identifiers in a broken trace may form a cycle.
const ANCESTORS_MAX: usize = 64;

fn take(calls: &mut Calls<'_>, span: &Span, is_around: bool) {
    let Some(model) = span.model() else {
        let name = quoted(&span.name);
        return calls.pass_over(span.index, span.line, &format!("{name} asks no model"));
    };
    if is_around {
        let reason = "the call is traced again inside of it, and counted there";
        return calls.pass_over(span.index, span.line, reason);
    }
    let exchange = exchange(calls, span, &model).map(Some);
    calls.take(span.index, span.line, exchange);
}

fn exchange(calls: &mut Calls<'_>, span: &Span, model: &str) -> Result<Exchange, String> {
    let content = content::of(&span.attributes, model);
    if matches!(content, Content::Absent) {
        calls.without_prompt.push(span.index);
    }
    let provider = span.attributes.text(&["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"]);
    let mut exchange = logged::exchange(calls.origin(span.index, span.line), model, provider.as_deref(), content)?;
    (exchange.sent_at, exchange.ended_at) = (span.started_at, span.ended_at);
    let first = span.attributes.seconds(&["gen_ai.response.time_to_first_chunk"]);
    exchange.first_byte_at = span.started_at.zip(first).map(|(sent, first)| sent + first);
    exchange.chain = chain(span);
    let status = span.attributes.number(&["http.response.status_code", "http.status_code", "error.type"]);
    exchange.status = status.and_then(|status| u16::try_from(status).ok()).filter(|status| *status >= 400);
    match usage::of(&span.attributes) {
        Ok(usage) if !exchange.failed() => exchange.usage = usage,
        Ok(_) => {}
        Err(what) => calls.reading.damage(Fault::in_line(span.line, format!("exchange {}: {what}", span.index))),
    }
    if exchange.usage.is_none() && !span.failed && !exchange.failed() {
        calls.reading.notes.push(format!("exchange {}: no usage in the span", span.index));
    }
    Ok(exchange)
}
