//! OpenTelemetry spans as JSON (OTLP, `ExportTraceServiceRequest`), with the conventions for generative AI: a trace for
//! each session, a span for each agent, and within it one for each request. Our own reader reads them back.
//!
//! Source: open-telemetry/semantic-conventions-genai, `docs/gen-ai/gen-ai-spans.md` and `gen-ai-agent-spans.md`
//! (accessed in 2026-11): `gen_ai.usage.input_tokens` includes read and written tokens.

use std::collections::BTreeMap;
use std::io::{self, Write};

use forkcast_sim::pricing::ModelKey;
use forkcast_sim::wire::model::Vendor;
use serde_json::{Value, json};

use super::{Times, agent_of, times};
use crate::document::json_text;
use crate::report::{Recorded, Report};

/// Writes the spans. Returns how many requests have no times and are not among them.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, target: &mut dyn Write) -> io::Result<u64> {
    let mut agents: BTreeMap<(usize, String), Times> = BTreeMap::new();
    let (mut spans, mut timeless) = (Vec::new(), 0);
    report.each(&mut |entry| match times(entry) {
        Some(times) => {
            let key = (entry.line.session, agent_of(report, entry).to_owned());
            let all = agents.entry(key).or_insert(times);
            *all = Times { at: all.at.min(times.at), ended: all.ended.max(times.ended) };
            spans.push(request(report, entry, times));
        }
        None => timeless += 1,
    });
    spans.splice(0..0, agents.iter().map(|((session, id), time)| agent(report, *session, id, *time)));
    let scope = json!({"name": "forkcast", "version": env!("CARGO_PKG_VERSION")});
    let resource = json!({"attributes": attributes([("service.name", "forkcast".into())])});
    let spans = json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]});
    json_text::compact(target, &spans)?;
    writeln!(target)?;
    Ok(timeless)
}

/// An agent, below the one that started it.
fn agent(report: &Report<'_>, session: usize, id: &str, times: Times) -> Value {
    let found = report.session(session);
    let agent = found.and_then(|found| found.agents.iter().find(|agent| agent.id == id));
    let parent = agent.and_then(|agent| found?.agents.get(agent.parent?));
    let parent = parent.map_or_else(String::new, |parent| span_id(session, &parent.id));
    let name = agent.map_or("unknown", |agent| agent.kind.name());
    let more = [
        ("gen_ai.operation.name", "invoke_agent".into()),
        ("gen_ai.agent.id", id.into()),
        ("gen_ai.agent.name", name.into()),
        ("gen_ai.conversation.id", found.map_or("unknown", |found| &found.id).into()),
    ];
    span(report, session, &span_id(session, id), &parent, &format!("invoke_agent {name}"), times, &attributes(more))
}

/// A request, in the span of its agent.
fn request(report: &Report<'_>, entry: &Recorded<'_>, times: Times) -> Value {
    let line = &entry.line;
    let (session, id) = (line.session, agent_of(report, entry));
    let model = report.names.model(&line.model);
    let vendor = ModelKey::from(line.model.as_str()).vendor().map(Vendor::word);
    let mut found = vec![
        ("gen_ai.operation.name", "chat".into()),
        ("gen_ai.provider.name", vendor.unwrap_or("unknown").into()),
        ("gen_ai.request.model", (&*model).into()),
        ("gen_ai.conversation.id", report.session_of(entry).map_or("unknown", |session| &session.id).into()),
        ("gen_ai.agent.id", id.into()),
        ("forkcast.request", line.index.into()),
    ];
    if let Some(usage) = line.billed() {
        found.extend([
            ("gen_ai.usage.input_tokens", usage.total_input_tokens().into()),
            ("gen_ai.usage.cache_read.input_tokens", usage.cache_read_input_tokens.into()),
            ("gen_ai.usage.cache_creation.input_tokens", usage.cache_creation_input_tokens().into()),
            ("gen_ai.usage.output_tokens", usage.output_tokens.into()),
        ]);
    }
    found.extend(line.first_byte_at.map(|first| {
        ("gen_ai.response.time_to_first_chunk", (first.since(times.at).as_millis() as f64 / 1_000.0).into())
    }));
    found.extend(line.charge.bill.as_ref().map(|bill| ("forkcast.cost_usd", bill.total.to_string().into())));
    found.extend(line.explanation.as_ref().map(|why| ("forkcast.missed_tokens", why.missed_tokens().into())));
    let causes: Vec<&str> = line.charge.causes.iter().map(|part| part.cause.word()).collect();
    if !causes.is_empty() {
        found.push(("forkcast.causes", causes.join(" ").into()));
    }
    let own = span_id(session, &format!("request {}", line.index));
    span(report, session, &own, &span_id(session, id), &format!("chat {model}"), times, &attributes(found))
}

fn span(
    report: &Report<'_>,
    session: usize,
    id: &str,
    parent: &str,
    name: &str,
    times: Times,
    attributes: &Value,
) -> Value {
    let trace = report.session(session).map_or("unknown", |session| &session.id);
    json!({
        "traceId": hash(trace.as_bytes(), 16),
        "spanId": id,
        "parentSpanId": parent,
        "name": name,
        // A client's call of a service.
        "kind": 3,
        // 64-bit numbers are text in OTLP.
        "startTimeUnixNano": times.at.0.to_string(),
        "endTimeUnixNano": times.ended.0.to_string(),
        "attributes": attributes,
    })
}

fn span_id(session: usize, name: &str) -> String {
    hash(format!("{session} {name}").as_bytes(), 8)
}

/// The first bytes of a digest, as hexadecimal digits.
fn hash(bytes: &[u8], length: usize) -> String {
    blake3::hash(bytes).to_hex()[..2 * length].to_owned()
}

/// Attributes in the form of OTLP.
fn attributes<'a>(of_name: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let one = |(name, value): (&str, Value)| {
        let value = match value {
            Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
            Value::Number(number) => json!({"intValue": number.to_string()}),
            value => json!({"stringValue": value}),
        };
        json!({"key": name, "value": value})
    };
    of_name.into_iter().map(one).collect()
}
