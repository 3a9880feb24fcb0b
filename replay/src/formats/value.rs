//! JSON values that keep the order of their keys, for bodies that a recorder stored as parsed YAML and for the
//! translation of dialects.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value with ordered keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// The digits as they are to be written.
    Number(String),
    Text(String),
    /// YAML's `!!binary`; in JSON it is written as base64.
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Value {
    /// Reads JSON; deeper than 128 levels is an error of serde_json.
    pub fn from_json(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// A text value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The value under `key` (the last one if it is repeated).
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The same; null if there is none.
    pub fn at(&self, key: &str) -> &Self {
        self.get(key).unwrap_or(&Self::Null)
    }

    /// The first of these keys that the object has more than once: two objects that ran into each other.
    pub fn repeated<'k>(&self, keys: &[&'k str]) -> Option<&'k str> {
        let count = |key: &str| self.members().iter().filter(|(name, _)| name == key).count();
        keys.iter().copied().find(|key| count(key) > 1)
    }

    /// An object of these members.
    pub fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// The object or list that this is, or that its text contains as JSON.
    pub fn parsed(&self) -> Option<Self> {
        match self {
            Self::Text(text) => Self::from_json(text.as_bytes()).ok(),
            Self::Object(_) | Self::List(_) => Some(self.clone()),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// The text under `key`.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    /// The elements of a list; none for other values.
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// The members of an object; none for other values.
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// Compact JSON, keys in their order.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = String::new();
        self.render(&mut out);
        out.into_bytes()
    }

    fn render(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(digits) => out.push_str(digits),
            Self::Text(text) => render_text(text, out),
            Self::Bytes(bytes) => render_text(&BASE64.encode(bytes), out),
            Self::List(elements) => {
                render_parts(out, '[', ']', elements.iter(), |element, out| element.render(out));
            }
            Self::Object(members) => render_parts(out, '{', '}', members.iter(), |(key, value), out| {
                render_text(key, out);
                out.push(':');
                value.render(out);
            }),
        }
    }
}

fn render_parts<T>(
    out: &mut String,
    open: char,
    close: char,
    parts: impl Iterator<Item = T>,
    render: impl Fn(T, &mut String),
) {
    out.push(open);
    for (i, part) in parts.enumerate() {
        if i > 0 {
            out.push(',');
        }
        render(part, out);
    }
    out.push(close);
}

/// Writes a JSON string with as few escapes as JSON requires.
pub(crate) fn render_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(Value::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Value::Object(members))
    }
}

/// The decoded bytes of base64, on one line or on several.
pub(crate) fn unpacked_base64(text: &str) -> Result<Vec<u8>, base64::DecodeError> {
    BASE64.decode(text.split_ascii_whitespace().collect::<String>())
}

/// A float as JSON writes it; others become text.
pub(crate) fn number(value: f64) -> Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => Value::Number(number.to_string()),
        None => Value::text(value.to_string()),
    }
}
