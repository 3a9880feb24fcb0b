//! Framing tokens of OpenAI's chat format.
//!
//! Source: the maker's cookbook, "How to count tokens with tiktoken", its parts on messages and on tools of gpt-4o (as
//! of 2024-07). Twenty-two recorded requests without definitions of tools agree to the token
//! (`replay/tests/calibration.rs`). Tools follow the cookbook's estimate. It does not cover nested objects, which are
//! counted here like other properties.

use forkcast_sim::wire::json;

use crate::vocabulary::Vocabulary;

/// Per message: three, and one for its role.
pub const MESSAGE_TOKENS: u64 = 4;
/// Before the answer.
pub const TAIL_TOKENS: u64 = 3;
/// After all tools.
pub const TOOLS_TOKENS: u64 = 12;

const FUNCTION_TOKENS: u64 = 7;
const PROPERTIES_TOKENS: u64 = 3;
const PROPERTY_TOKENS: u64 = 3;
const CHOICE_TOKENS: u64 = 3;

/// Maximum schema depth that is counted.
const DEPTH_MAX: u8 = 6;

fn field<'a>(raw: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    json::members(raw).flatten().filter(|(name, _)| *name == key).map(|(_, value)| value).last()
}

fn text(raw: Option<&[u8]>) -> String {
    raw.and_then(json::string).unwrap_or_default()
}

/// Tokens of a tool definition, in OpenAI's or Anthropic's spelling.
pub fn definition_tokens(raw: &[u8], vocabulary: Vocabulary) -> u64 {
    let function = field(raw, b"\"function\"").unwrap_or(raw);
    let schema = field(function, b"\"parameters\"").or_else(|| field(function, b"\"input_schema\""));
    let description = text(field(function, b"\"description\""));
    let line = format!("{}:{}", text(field(function, b"\"name\"")), description.trim_end_matches('.'));
    FUNCTION_TOKENS + vocabulary.count(&line) + schema.map_or(0, |schema| properties(schema, vocabulary, DEPTH_MAX))
}

fn properties(schema: &[u8], vocabulary: Vocabulary, depth_left: u8) -> u64 {
    let Some(listed) = field(schema, b"\"properties\"") else { return 0 };
    let mut members = json::members(listed).flatten().peekable();
    if members.peek().is_none() || depth_left == 0 {
        return 0;
    }
    let mut sum = PROPERTIES_TOKENS;
    for (key, property) in members {
        let kind = text(field(property, b"\"type\""));
        let description = text(field(property, b"\"description\""));
        let line = format!("{}:{kind}:{}", text(Some(key)), description.trim_end_matches('.'));
        sum += PROPERTY_TOKENS + vocabulary.count(&line) + choices(property, vocabulary);
        let nested = field(property, b"\"items\"").unwrap_or(property);
        sum += properties(nested, vocabulary, depth_left - 1);
    }
    sum
}

/// Tokens of a property's allowed values. The list itself saves the cost of a property.
fn choices(property: &[u8], vocabulary: Vocabulary) -> u64 {
    let Some(list) = field(property, b"\"enum\"") else { return 0 };
    let items = json::elements(list).flatten();
    let sum: u64 = items.map(|item| CHOICE_TOKENS + vocabulary.count(&text(Some(item)))).sum();
    sum.saturating_sub(PROPERTY_TOKENS)
}

/// Per call and result. Not in the cookbook: the remainder in four recorded requests of gpt-4o (2026).
const CALL_TOKENS: u64 = 7;

/// Tokens of a message's tool calls: names, arguments and framing.
pub fn calls_tokens(list: &[u8], vocabulary: Vocabulary) -> u64 {
    let calls = json::elements(list).flatten().filter_map(|call| field(call, b"\"function\""));
    calls
        .map(|function| {
            let arguments = text(field(function, b"\"arguments\""));
            CALL_TOKENS + vocabulary.count(&text(field(function, b"\"name\""))) + vocabulary.count(&arguments)
        })
        .sum()
}
