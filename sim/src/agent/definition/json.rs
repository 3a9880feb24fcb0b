//! Definitions as JSON: an object from names to fields (ADEF-15), as given on the command line.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::outside::{complaint, found_value};

use super::check::{Field, Raw};
use super::invalid::Invalid;
use super::sources::Text;

type Object<'a> = BTreeMap<String, &'a RawValue>;

/// Reads `text`, which may define several agents.
///
/// # Errors
/// If it is not a JSON object. A definition that is not an object is an error by itself; the others still count.
pub(super) fn read(text: &Text) -> Result<Vec<Result<Raw, Invalid>>, Invalid> {
    let all: Object<'_> = match serde_json::from_str(&text.text) {
        Ok(all) => all,
        Err(error) => {
            let expected = "a JSON object from names of agents to their fields";
            return Err(Invalid::at(text, error.line().max(1), "definitions", complaint::json(&error), expected));
        }
    };
    Ok(all.into_iter().map(|(name, raw)| one(text, &name, raw)).collect())
}

fn one(text: &Text, name: &str, raw: &RawValue) -> Result<Raw, Invalid> {
    let line = line_of(text, raw);
    let object: Object<'_> = serde_json::from_str(raw.get())
        .map_err(|_| Invalid::at(text, line, name, kind(raw.get()), "an object with `description` and `prompt`"))?;
    let mut fields = BTreeMap::new();
    for (field, raw) in object {
        let line = line_of(text, raw);
        let value: Value = serde_json::from_str(raw.get()).map_err(|error| {
            Invalid::at(text, line, &format!("{name}.{field}"), complaint::json(&error), "a JSON value")
        })?;
        fields.insert(field, Field { line, value });
    }
    // The key is the name and replaces a field `name`.
    fields.insert("name".to_owned(), Field { line, value: Value::from(name) });
    Ok(Raw { fields, line, place: format!("{name}.") })
}

/// The line of a value that is borrowed from `text`.
fn line_of(text: &Text, raw: &RawValue) -> usize {
    let offset = raw.get().as_ptr().addr().saturating_sub(text.text.as_ptr().addr());
    debug_assert!(offset + raw.get().len() <= text.text.len(), "the value is borrowed from the text");
    let before = text.text.as_bytes().get(..offset).unwrap_or_default();
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The kind of a value, for an error.
fn kind(json: &str) -> String {
    serde_json::from_str(json).map_or_else(|error| complaint::json(&error), |value| found_value(&value))
}
