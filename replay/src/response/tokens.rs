//! Token counts out of a usage object.

use serde_json::{Map, Value};

use crate::formats::text::{glimpse, json_reason};

/// Largest count that is believed: 2⁵³, up to which JSON readers agree on integers. No prompt comes near it.
const LARGEST: u64 = 1 << 53;

/// A usage object.
pub(super) type Fields = Map<String, Value>;

/// Reads a usage object from raw JSON.
pub(super) fn fields(raw: &[u8]) -> Result<Fields, String> {
    serde_json::from_slice(raw)
        .map_err(|error| format!("found {}, expected a usage object: {}", glimpse(raw), json_reason(&error)))
}

/// The count under `name`; `None` where it is absent or null (all cache fields of the API are nullable).
pub(super) fn count(fields: &Fields, name: &str) -> Result<Option<u64>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => match number.as_u64() {
            Some(count) if count <= LARGEST => Ok(Some(count)),
            _ => Err(format!("`{name}` is {number}, expected a whole number from 0 to 2^53")),
        },
        Some(other) => Err(format!("`{name}` is {}, expected a whole number", kind(other))),
    }
}

/// The count under `name`, which must be there.
pub(super) fn required(fields: &Fields, name: &str) -> Result<u64, String> {
    count(fields, name)?.ok_or_else(|| format!("usage has no `{name}`"))
}

/// The object under `name`, if it is one.
pub(super) fn object<'a>(fields: &'a Fields, name: &str) -> Option<&'a Fields> {
    fields.get(name)?.as_object()
}

/// The list under `name`; empty where there is none.
pub(super) fn list<'a>(fields: &'a Fields, name: &str) -> &'a [Value] {
    fields.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
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
