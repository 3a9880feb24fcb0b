//! The input of a tool, declared once: its schema and the check of a call come from the same table.

use serde_json::{Map, Value, json};

use super::ToolError;

/// A field of an input.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether a call without it is refused.
    pub required: bool,
    /// Its purpose, for the model.
    pub says: &'static str,
}

/// The kind of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A text, or an object.
    TextOrObject,
    /// True or false.
    Flag,
    /// A whole number of at least this.
    Count(u64),
    /// A list of texts.
    Texts,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Field {
    /// A required field.
    pub const fn required(name: &'static str, kind: Kind, says: &'static str) -> Self {
        Self { name, kind, required: true, says }
    }

    /// An optional field.
    pub const fn optional(name: &'static str, kind: Kind, says: &'static str) -> Self {
        Self { name, kind, required: false, says }
    }
}

impl Kind {
    fn schema(self, says: &str) -> Value {
        match self {
            Self::Text => json!({ "type": "string", "description": says }),
            Self::TextOrObject => json!({ "type": ["string", "object"], "description": says }),
            Self::Flag => json!({ "type": "boolean", "description": says }),
            Self::Count(least) => json!({ "type": "integer", "minimum": least, "description": says }),
            Self::Texts => json!({ "type": "array", "items": { "type": "string" }, "description": says }),
            Self::Choice(words) => json!({ "type": "string", "enum": words, "description": says }),
        }
    }

    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::TextOrObject => value.is_string() || value.is_object(),
            Self::Flag => value.is_boolean(),
            Self::Count(least) => value.as_u64().is_some_and(|count| count >= least),
            Self::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Self::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }

    fn expected(self) -> String {
        match self {
            Self::Text => "a string".into(),
            Self::TextOrObject => "a string or an object".into(),
            Self::Flag => "true or false".into(),
            Self::Count(least) => format!("a whole number from {least}"),
            Self::Texts => "a list of strings".into(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
        }
    }
}

/// The JSON Schema of an input with these fields and no others.
pub fn schema(fields: &[Field]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), field.kind.schema(field.says))).collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// A checked input.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(&'a Map<String, Value>);

/// Checks the input of a call of `tool`.
///
/// # Errors
/// A message for the model: what is missing, unknown or of the wrong type, and what was expected.
pub fn checked<'a>(tool: &str, fields: &[Field], input: &'a Value) -> Result<Input<'a>, ToolError> {
    let wrong = |what: String| Err(ToolError::failed(format!("{tool}: {what}")));
    let Some(given) = input.as_object() else {
        return wrong(format!("the input is {input}, expected an object"));
    };
    for field in fields {
        let expected = field.kind.expected();
        match given.get(field.name) {
            None if field.required => {
                return wrong(format!("the required field `{}` is missing, expected {expected}", field.name));
            }
            Some(value) if !field.kind.holds(value) => {
                return wrong(format!("the field `{}` is {}, expected {expected}", field.name, shortened(value)));
            }
            _ => {}
        }
    }
    let known = |key: &&String| fields.iter().any(|field| field.name == key.as_str());
    if let Some(unknown) = given.keys().find(|key| !known(key)) {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        return wrong(format!("the field `{unknown}` is unknown, expected only {}", names.join(", ")));
    }
    Ok(Input(given))
}

/// Maximum number of characters of a wrong value that an error repeats.
const SHOWN_MAX: usize = 80;

fn shortened(value: &Value) -> String {
    let whole = value.to_string();
    let shown: String = whole.chars().take(SHOWN_MAX).collect();
    if shown.len() < whole.len() { format!("{shown}…") } else { shown }
}

impl<'a> Input<'a> {
    /// A text; empty if absent.
    pub fn text(&self, name: &str) -> &'a str {
        self.optional_text(name).unwrap_or_default()
    }

    /// An optional text.
    pub fn optional_text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str()
    }

    /// A field as JSON.
    pub fn json(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name)
    }

    /// The texts of a list; none if absent.
    pub fn texts(&self, name: &str) -> Vec<&'a str> {
        self.0.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// A flag; `false` if absent.
    pub fn flag(&self, name: &str) -> bool {
        self.flag_or(name, false)
    }

    /// A flag; `default` if absent.
    pub fn flag_or(&self, name: &str, default: bool) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(default)
    }

    /// An optional number.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// An optional number of items.
    pub fn size(&self, name: &str) -> Option<usize> {
        self.count(name).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }
}
