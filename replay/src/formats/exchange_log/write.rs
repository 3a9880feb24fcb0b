//! Writing an exchange log.

use std::io::Write;

use forkcast_sim::pricing::ServiceTier;

use crate::error::Error;
use crate::exchange::{Exchange, RecordedUsage};
use crate::formats::value::render_text;
use crate::formats::{body, json, when};

/// The answer as it came, if the writer has it.
#[derive(Clone, Copy, Debug)]
pub enum RawAnswer<'a> {
    /// Only what the exchange itself knows: its usage is written as an answer without content, so that
    /// `server_passes` does not survive.
    UsageOnly,
    /// A body in JSON.
    Json(&'a [u8]),
    /// The text of a stream.
    Events(&'a str),
}

/// Writes one line of `forkcast.exchanges/1`. The request body is kept byte for byte, save that line breaks outside of
/// strings become spaces, since a line is a record.
pub fn write_line(out: &mut impl Write, exchange: &Exchange, answer: RawAnswer<'_>) -> Result<(), Error> {
    let mut line = String::from("{\"v\":1");
    let instants =
        [("at_ms", exchange.sent_at), ("first_byte_ms", exchange.first_byte_at), ("ended_ms", exchange.ended_at)];
    for (name, instant) in instants {
        if let Some(instant) = instant {
            line.push_str(&format!(",\"{name}\":{}", when::to_millis(instant)));
        }
    }
    for (name, word) in [("chain", &exchange.chain), ("scope", &exchange.scope)] {
        if let Some(word) = word {
            line.push_str(&format!(",\"{name}\":"));
            render_text(word, &mut line);
        }
    }
    if exchange.tier == ServiceTier::Batch {
        line.push_str(",\"batch\":true");
    }
    line.push_str(",\"request\":");
    line.push_str(&one_line(exchange, &exchange.body)?);
    push_answer(&mut line, exchange, answer)?;
    if let Some(status) = exchange.status {
        line.push_str(&format!(",\"status\":{status}"));
    }
    line.push_str("}\n");
    out.write_all(line.as_bytes()).map_err(Error::from)
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
        (RawAnswer::UsageOnly, Some(usage)) => line.push_str(&usage_answer(&usage)),
        (RawAnswer::UsageOnly, None) => line.push_str(",\"response\":null"),
    }
    Ok(())
}

fn usage_answer(recorded: &RecordedUsage) -> String {
    let usage = &recorded.usage;
    let split = if recorded.split_by_ttl {
        let (short, long) = (usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens);
        format!(",\"cache_creation\":{{\"ephemeral_5m_input_tokens\":{short},\"ephemeral_1h_input_tokens\":{long}}}")
    } else {
        String::new()
    };
    format!(
        ",\"response\":{{\"usage\":{{\"input_tokens\":{},\"cache_creation_input_tokens\":{},\
         \"cache_read_input_tokens\":{}{split},\"output_tokens\":{}}}}}",
        usage.input_tokens,
        usage.cache_creation_input_tokens(),
        usage.cache_read_input_tokens,
        usage.output_tokens,
    )
}

fn one_line(exchange: &Exchange, raw: &[u8]) -> Result<String, Error> {
    let unwritable =
        |reason: String| Error::Unwritable { file: exchange.origin.file.clone(), index: exchange.origin.index, reason };
    body::check(raw).map_err(|broken: json::Broken| unwritable(format!("byte {}: {}", broken.at, broken.what)))?;
    let text = std::str::from_utf8(raw).map_err(|error| unwritable(error.to_string()))?;
    Ok(text.replace(['\n', '\r'], " "))
}
