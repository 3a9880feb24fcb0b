//! Writing an exchange log.

use std::io::Write;

use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::time::Instant;

use crate::error::Error;
use crate::exchange::{Exchange, OtherPasses, RecordedAnswer, RecordedUsage};
use crate::formats::value::render_text;
use crate::formats::{body, json, when};

/// The answer as received, if the writer has it.
#[derive(Clone, Copy, Debug)]
pub enum RawAnswer<'a> {
    /// Only the data of the exchange itself: its usage is written as an answer without content. `server_passes`, its
    /// valid parts, and the provider's own cost are lost.
    UsageOnly,
    /// A body in JSON.
    Json(&'a [u8]),
    /// The text of a stream.
    Events(&'a str),
}

impl<'a> RawAnswer<'a> {
    /// The answer that an exchange keeps.
    pub fn kept(exchange: &'a Exchange) -> Self {
        let body = exchange.answer.as_ref().map_or(&[][..], |answer| &answer.body);
        match std::str::from_utf8(body) {
            Ok("") | Err(_) => Self::UsageOnly,
            Ok(text) if text.starts_with('{') => Self::Json(body),
            Ok(text) => Self::Events(text),
        }
    }
}

/// Writes one line of `forkcast.exchanges/1`. The request body is kept byte for byte, except that line breaks outside
/// of strings become spaces, because a line is a record.
pub fn write_line(out: &mut (impl Write + ?Sized), exchange: &Exchange, answer: RawAnswer<'_>) -> Result<(), Error> {
    let mut line = String::from("{\"v\":1");
    let instants =
        [("at_ms", exchange.sent_at), ("first_byte_ms", exchange.first_byte_at), ("ended_ms", exchange.ended_at)];
    for (name, instant) in instants {
        if let Some(instant) = instant {
            line.push_str(&format!(",\"{name}\":{}", when::to_millis(instant)));
        }
    }
    push_sender(&mut line, exchange);
    if exchange.tier == ServiceTier::Batch {
        line.push_str(",\"batch\":true");
    }
    line.push_str(",\"request\":");
    line.push_str(&one_line(exchange, &exchange.body)?);
    if let Some(ends) = &exchange.sizes {
        let starts = std::iter::once(&0).chain(ends);
        let blocks: Vec<String> = ends.iter().zip(starts).map(|(end, start)| (end - start).to_string()).collect();
        line.push_str(&format!(",\"block_tokens\":[{}]", blocks.join(",")));
    }
    push_answer(&mut line, exchange, answer)?;
    if let Some(status) = exchange.status {
        line.push_str(&format!(",\"status\":{status}"));
    }
    if let Some(kept) = &exchange.answer {
        push_kept(&mut line, exchange, kept);
    }
    line.push_str("}\n");
    out.write_all(line.as_bytes()).map_err(Error::from)
}

fn push_sender(line: &mut String, exchange: &Exchange) {
    let words = [
        ("chain", &exchange.chain),
        ("parent", &exchange.parent),
        ("agent_kind", &exchange.agent_kind),
        ("scope", &exchange.scope),
    ];
    for (name, word) in words {
        if let Some(word) = word {
            line.push_str(&format!(",\"{name}\":"));
            render_text(word, line);
        }
    }
    if let Some(continues) = exchange.continues {
        line.push_str(&format!(",\"continues\":{continues}"));
    }
}

/// What those need who play the answer again.
fn push_kept(line: &mut String, exchange: &Exchange, kept: &RecordedAnswer) {
    if !kept.events_at.is_empty() {
        let events: Vec<String> = kept.events_at.iter().copied().map(when::to_millis).collect();
        line.push_str(&format!(",\"events_ms\":[{}]", events.join(",")));
    }
    if let Some(break_off) = kept.break_off {
        line.push_str(&format!(",\"broke_off\":\"{}\"", break_off.name()));
        if let Some(usage) = &exchange.usage {
            line.push_str(&format!(",\"usage\":{}", usage_object(usage)));
        }
    }
    if let Some(wait) = kept.retry_after {
        line.push_str(&format!(",\"retry_after_ms\":{}", when::to_millis(Instant(wait.0))));
    }
}

fn push_answer(line: &mut String, exchange: &Exchange, answer: RawAnswer<'_>) -> Result<(), Error> {
    match (answer, exchange.usage) {
        (RawAnswer::Json(raw), _) => {
            line.push_str(",\"response\":");
            line.push_str(&one_line(exchange, raw)?);
        }
        (RawAnswer::Events(events), _) => {
            line.push_str(",\"response_sse\":");
            render_text(events, line);
        }
        (RawAnswer::UsageOnly, Some(usage)) => {
            line.push_str(&format!(",\"response\":{{\"usage\":{}}}", usage_object(&usage)));
        }
        (RawAnswer::UsageOnly, None) => line.push_str(",\"response\":null"),
    }
    Ok(())
}

/// Usage with the field names of the Messages API, whose counts are separate, as ours are.
fn usage_object(recorded: &RecordedUsage) -> String {
    let usage = &recorded.usage;
    let mut line = format!(
        "{{\"input_tokens\":{},\"cache_creation_input_tokens\":{},\"cache_read_input_tokens\":{}",
        usage.input_tokens,
        usage.cache_creation_input_tokens(),
        usage.cache_read_input_tokens,
    );
    if recorded.split_by_ttl {
        let (short, long) = (usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens);
        line.push_str(&format!(
            ",\"cache_creation\":{{\"ephemeral_5m_input_tokens\":{short},\"ephemeral_1h_input_tokens\":{long}}}"
        ));
    }
    line.push_str(&format!(",\"output_tokens\":{}", usage.output_tokens));
    push_beside_tokens(&mut line, recorded);
    push_passes(&mut line, recorded);
    line.push('}');
    line
}

/// The passes of the answer, if several.
fn push_passes(line: &mut String, recorded: &RecordedUsage) {
    let object = |pass: &OtherPasses| {
        let model = pass.model.map_or_else(String::new, |model| format!("\"model\":\"{model}\","));
        let counts = usage_object(&RecordedUsage { usage: pass.usage, split_by_ttl: true, ..RecordedUsage::default() });
        format!("{{\"type\":\"{}\",{model}{}", pass.kind.name(), &counts[1..])
    };
    let passes: Vec<String> = recorded.listed_passes().iter().map(object).collect();
    if !passes.is_empty() {
        line.push_str(&format!(",\"iterations\":[{}]", passes.join(",")));
    }
}

/// Other data needed for a bill, if there is any.
fn push_beside_tokens(line: &mut String, recorded: &RecordedUsage) {
    let pieces = [
        ("web_search_requests", recorded.web_search_requests),
        ("web_fetch_requests", recorded.web_fetch_requests),
        ("code_execution_requests", recorded.code_execution_requests),
    ];
    if pieces.iter().any(|(_, count)| *count > 0) {
        let pieces = pieces.map(|(name, count)| format!("\"{name}\":{count}"));
        line.push_str(&format!(",\"server_tool_use\":{{{}}}", pieces.join(",")));
    }
    if recorded.reasoning_tokens > 0 {
        let thought = recorded.reasoning_tokens;
        line.push_str(&format!(",\"output_tokens_details\":{{\"thinking_tokens\":{thought}}}"));
    }
    let words = [
        ("service_tier", recorded.tier.map(ServiceTier::word)),
        ("speed", recorded.fast.map(|fast| if fast { "fast" } else { "standard" })),
        ("inference_geo", recorded.geo_us.map(|us| if us { "us" } else { "global" })),
    ];
    for (name, word) in words.into_iter().filter_map(|(name, word)| Some((name, word?))) {
        line.push_str(&format!(",\"{name}\":\"{word}\""));
    }
}

fn one_line(exchange: &Exchange, raw: &[u8]) -> Result<String, Error> {
    let unwritable =
        |reason: String| Error::Unwritable { file: exchange.origin.file.clone(), index: exchange.origin.index, reason };
    body::check(raw).map_err(|broken: json::Broken| unwritable(format!("byte {}: {}", broken.at, broken.what)))?;
    let text = std::str::from_utf8(raw).map_err(|error| unwritable(error.to_string()))?;
    Ok(text.replace(['\n', '\r'], " "))
}
