//! Code shared by logs and traces, which contain requests in parts and usage in their own spelling.

mod prompt;

use forkcast_sim::wire::Usage;

use super::value::Value;
use super::{Reading, body, dialect, spelled};
use crate::exchange::{ANTHROPIC, Dialect, Exchange, Origin, RecordedUsage};

pub(super) use prompt::{Included, Split};

/// The prompt, as far as the log has it.
pub(super) enum Content {
    /// A body of the Messages API.
    Messages(Value),
    /// A body in the spelling of chat completions.
    Chat(Value),
    /// Omitted, redacted or truncated.
    Absent,
}

impl Content {
    /// Distinguishes the two spellings by features that only one of them has; a body without any counts as either.
    pub fn of(body: Value) -> Self {
        let elements = |name: &str| body.at(name).elements();
        let is_chat_part = |part: &Value| matches!(part.text_of("type"), Some("image_url" | "file" | "input_audio"));
        let is_chat = elements("tools").iter().any(|tool| tool.get("function").is_some())
            || elements("messages").iter().any(|message| {
                matches!(message.text_of("role"), Some("system" | "developer" | "tool"))
                    || message.get("tool_calls").is_some()
                    || message.at("content").elements().iter().any(is_chat_part)
            });
        match body.get("system").is_none() && is_chat {
            true => Self::Chat(body),
            false => Self::Messages(body),
        }
    }
}

/// An exchange from the parts in a log. `provider` is the log's name of the provider.
pub(super) fn exchange(
    origin: Origin,
    model: &str,
    provider: Option<&str>,
    content: Content,
) -> Result<Exchange, String> {
    let named = match &content {
        Content::Messages(body) | Content::Chat(body) => spelled::provider(model, || body.to_json()),
        Content::Absent => spelled::provider(model, Vec::new),
    };
    let is_claude = named.is_none();
    let (body, dialect) = match content {
        Content::Messages(body) if is_claude || body.get("system").is_some() => (body, Dialect::Messages),
        Content::Chat(body) if is_claude => (dialect::openrouter::translate(&body).body, Dialect::Rebuilt),
        Content::Messages(body) | Content::Chat(body) => (body, Dialect::ChatCompletions),
        Content::Absent if is_claude => (nothing(model), Dialect::Unprompted),
        Content::Absent => (nothing(model), Dialect::ChatCompletions),
    };
    let body = with_model(body, model).to_json();
    body::check(&body).map_err(|broken| format!("request body, byte {}: {}", broken.at, broken.what))?;
    let mut exchange = Exchange::request_only(origin, model.to_owned(), body);
    exchange.dialect = dialect;
    if let Some(named) = named {
        // Whose cache it met is not that of Claude's maker, whatever a gateway calls it.
        exchange.provider = provider.filter(|name| *name != ANTHROPIC).unwrap_or(named).to_owned();
    }
    Ok(exchange)
}

/// A gateway's client uses the gateway's names of models: the model that was called counts.
fn with_model(body: Value, model: &str) -> Value {
    let Value::Object(mut members) = body else { return body };
    for (_, value) in members.iter_mut().filter(|(key, _)| key == "model") {
        *value = Value::text(model);
    }
    Value::Object(members)
}

/// A body without a prompt, so that usage can be counted while the prompt is unknown.
fn nothing(model: &str) -> Value {
    Value::Object(vec![("model".to_owned(), Value::text(model)), ("messages".to_owned(), Value::List(Vec::new()))])
}

/// Usage in the additive convention; `short` and `long` are the tokens written for five minutes and for an hour, if the
/// log has these.
pub(super) fn usage(split: Split, output_tokens: u64, lifetimes: Option<(u64, u64)>) -> RecordedUsage {
    let known = lifetimes.filter(|(short, long)| short.checked_add(*long) == Some(split.written));
    let (short, long) = known.unwrap_or((split.written, 0));
    RecordedUsage {
        usage: Usage {
            input_tokens: split.input,
            cache_read_input_tokens: split.read,
            ephemeral_5m_input_tokens: short,
            ephemeral_1h_input_tokens: long,
            output_tokens,
        },
        split_by_ttl: known.is_some() && split.written > 0,
        ..RecordedUsage::default()
    }
}

/// One sentence for all records without a prompt.
pub(super) fn note_absent(reading: &mut Reading, records: &[usize], what: &str) {
    let Some(first) = records.first() else { return };
    let which = match records.len() {
        1 => format!("{what} {first} holds no whole prompt"),
        count => format!("{count} {what}s, the first of them {first}, hold no whole prompt"),
    };
    reading.notes.push(format!("{which}: usage is counted, but nothing can be said about why it missed"));
}
