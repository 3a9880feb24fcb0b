//! The parameters of a level: settings of the request that are part of a level's identity.
//!
//! Source for which setting breaks which level: Anthropic prompt-caching page, "what invalidates the cache" (2026-09).

use super::json;
use super::level::Level;
use super::normal::{self, NormalForms};
use super::request::EnvelopeField;

/// Effort of a request without the field; an explicit default is equal to it (page of 2026-09).
const EFFORT_DEFAULT: &[u8] = b"\"high\"";

/// What OpenRouter passes on as thinking or effort: its page on Claude 4.6, update of 2026-06-22 (`providers-2026-11.md` D).
const EFFORT_OF_ROUTERS: [&str; 2] = ["reasoning", "verbosity"];

/// The key under which a body that was translated from another spelling carries the parts of its identity besides tools
/// and input: an object of settings by their JSON paths. They come before the tools, because a change of any of them
/// keeps nothing (`OpenAI` prompt-caching guide, "cache-affecting settings", 2026-09).
pub const TRANSLATED_SETTINGS: &str = "translated_settings";

/// The key that a message of a translated body carries if the message before it has the same role: other providers than
/// Anthropic are not known to join two messages, so that one message with both texts is another prompt.
pub const MESSAGE_START: &str = "message_start";

/// Facts about the prompt's blocks that its parameters depend on.
#[derive(Clone, Debug, Default)]
pub struct PromptFacts {
    /// Canonical bytes of the tool definitions that alter the system text.
    pub system_tools: Vec<Vec<u8>>,
    /// A document has citations switched on.
    pub citations: bool,
    /// There is an image.
    pub image: bool,
}

/// The canonical parameters of `level` as a JSON object; `None` if all have their defaults.
pub fn canonical(
    level: Level,
    envelope: &[EnvelopeField],
    facts: &PromptFacts,
    forms: &NormalForms,
) -> Option<Vec<u8>> {
    let mut fields: Vec<(&str, Vec<u8>)> = Vec::new();
    if level == Level::Tools {
        settings(envelope, &mut fields);
    }
    if level == Level::System {
        system(envelope, facts, &mut fields);
    }
    if level == Level::Messages {
        messages(envelope, facts, forms, &mut fields);
    }
    if level == forms.thinking_level {
        thinking(envelope, &mut fields);
    }
    (!fields.is_empty()).then(|| object(&fields))
}

fn value<'a>(envelope: &'a [EnvelopeField], key: &str) -> Option<&'a [u8]> {
    let field = envelope.iter().find(|field| field.key == key)?;
    (!json::is_null(&field.value)).then_some(field.value.as_slice())
}

fn nested<'a>(object: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    json::member(object, key).filter(|value| !json::is_null(value))
}

fn settings<'a>(envelope: &'a [EnvelopeField], fields: &mut Vec<(&'a str, Vec<u8>)>) {
    let translated = value(envelope, TRANSLATED_SETTINGS).into_iter();
    for (key, value) in translated.flat_map(|all| json::members(all).flatten()) {
        let name = str::from_utf8(key).ok().and_then(|key| key.strip_prefix('"')?.strip_suffix('"'));
        fields.extend(name.map(|name| (name, value.to_vec())));
    }
}

fn system(envelope: &[EnvelopeField], facts: &PromptFacts, fields: &mut Vec<(&str, Vec<u8>)>) {
    if let Some(speed) = value(envelope, "speed").filter(|speed| *speed != b"\"standard\"") {
        fields.push(("speed", speed.to_vec()));
    }
    for tool in &facts.system_tools {
        fields.push(("web_search", tool.clone()));
    }
    if facts.citations {
        fields.push(("citations", b"true".to_vec()));
    }
}

fn messages(envelope: &[EnvelopeField], facts: &PromptFacts, forms: &NormalForms, fields: &mut Vec<(&str, Vec<u8>)>) {
    if let Some(choice) = value(envelope, "tool_choice") {
        let mut bytes = Vec::new();
        // A body read this far is valid JSON, so the copy is complete.
        let whole = normal::push_parameter(choice, &[], &mut bytes).is_ok();
        if whole && bytes != b"{\"type\":\"auto\"}" {
            fields.push(("tool_choice", bytes));
        }
    }
    if let Some(format) = value(envelope, "output_config").and_then(|config| nested(config, b"\"format\"")) {
        fields.push(("output_config.format", format.to_vec()));
    }
    if forms.images_in_level && facts.image {
        fields.push(("images", b"true".to_vec()));
    }
}

fn thinking(envelope: &[EnvelopeField], fields: &mut Vec<(&str, Vec<u8>)>) {
    if let Some(thinking) = value(envelope, "thinking") {
        let mut bytes = Vec::new();
        // `display` differs only between a parent and its foreground children (clients.md 9, 2026-11).
        let whole = normal::push_parameter(thinking, &[b"\"display\""], &mut bytes).is_ok();
        if whole && bytes != b"{\"type\":\"disabled\"}" {
            fields.push(("thinking", bytes));
        }
    }
    for key in EFFORT_OF_ROUTERS {
        let mut bytes = Vec::new();
        let chosen = value(envelope, key);
        if chosen.is_some_and(|chosen| normal::push_parameter(chosen, &[b"\"exclude\""], &mut bytes).is_ok()) {
            fields.push((key, bytes));
        }
    }
    let effort = value(envelope, "output_config").and_then(|config| nested(config, b"\"effort\""));
    if let Some(effort) = effort.filter(|effort| *effort != EFFORT_DEFAULT) {
        fields.push(("output_config.effort", effort.to_vec()));
    }
}

fn object(fields: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = vec![b'{'];
    for (index, (key, value)) in fields.iter().enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        json::push_string(key, &mut bytes);
        bytes.push(b':');
        bytes.extend_from_slice(value);
    }
    bytes.push(b'}');
    bytes
}
