//! Token counts in a usage object.

use forkcast_sim::outside::found;
use serde_json::{Map, Value};

use forkcast_sim::wire::TOKENS_MAX;

use crate::count::refused;
use crate::formats::text::{glimpse, json_reason};

/// The maximum number of listed keys of an unknown object.
const KEYS_LISTED: usize = 12;

/// A usage object.
pub(super) type Fields = Map<String, Value>;

/// Reads a usage object from raw JSON.
pub(super) fn fields(raw: &[u8]) -> Result<Fields, String> {
    serde_json::from_slice(raw)
        .map_err(|error| format!("found {}, expected a usage object: {}", glimpse(raw), json_reason(&error)))
}

/// The count under `name`; `None` if it is absent or null (all cache fields of the APIs are nullable).
pub(super) fn count(fields: &Fields, name: &str) -> Result<Option<u64>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => match whole(number) {
            Some(count) if count <= TOKENS_MAX => Ok(Some(count)),
            _ => Err(refused(name, number)),
        },
        Some(other) => Err(format!("`{name}` is {}, expected a whole number", kind(other))),
    }
}

/// The count under `name`; zero if it is absent or null.
pub(super) fn count_or_zero(fields: &Fields, name: &str) -> Result<u64, String> {
    Ok(count(fields, name)?.unwrap_or(0))
}

/// Some writers of JSON have no integers: `12.0` is twelve.
fn whole(number: &serde_json::Number) -> Option<u64> {
    let float = || number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..=TOKENS_MAX as f64).contains(float));
    number.as_u64().or_else(|| float().map(|float| float as u64))
}

/// The count at the end of `path`; zero if it or an object before it is absent or null.
pub(super) fn count_at(fields: &Fields, path: &[&str]) -> Result<u64, String> {
    Ok(found_at(fields, path)?.unwrap_or(0))
}

fn found_at(fields: &Fields, path: &[&str]) -> Result<Option<u64>, String> {
    let [inner @ .., name] = path else { return Ok(None) };
    let mut holder = fields;
    for step in inner {
        match holder.get(*step) {
            Some(Value::Object(next)) => holder = next,
            None | Some(Value::Null) => return Ok(None),
            Some(other) => return Err(format!("`{step}` is {}, expected an object", kind(other))),
        }
    }
    count(holder, name)
}

/// A count that may be in several places; zero if it is in none. It is an error if they differ.
pub(super) fn agreed(fields: &Fields, paths: &[&[&str]]) -> Result<u64, String> {
    let mut found: Option<(u64, &[&str])> = None;
    for path in paths {
        match (found_at(fields, path)?, found) {
            (Some(here), Some((there, other))) if here != there => {
                let (other, path) = (other.join("."), path.join("."));
                return Err(format!("`{other}` is {there} and `{path}` is {here}, expected the same count twice"));
            }
            (Some(here), None) => found = Some((here, path)),
            _ => {}
        }
    }
    Ok(found.map_or(0, |(count, _)| count))
}

/// The count under `name`. An object without it follows an unknown convention, which is an error.
pub(super) fn required(fields: &Fields, name: &str) -> Result<u64, String> {
    count(fields, name)?.ok_or_else(|| format!("usage has no `{name}`, its keys are {}", keys(fields)))
}

/// The keys of an object, for a message.
pub(super) fn keys(fields: &Fields) -> String {
    if fields.is_empty() {
        return "none".to_owned();
    }
    let listed: Vec<String> = fields.keys().take(KEYS_LISTED).map(|key| found(key)).collect();
    let further = fields.len().saturating_sub(KEYS_LISTED);
    if further > 0 { format!("{} and {further} more", listed.join(", ")) } else { listed.join(", ") }
}

/// The object under `name`, if it is one.
pub(super) fn object<'a>(fields: &'a Fields, name: &str) -> Option<&'a Fields> {
    fields.get(name)?.as_object()
}

/// The list under `name`; empty if there is none.
pub(super) fn list<'a>(fields: &'a Fields, name: &str) -> &'a [Value] {
    fields.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text under `name`, if it is one.
pub(super) fn word<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
