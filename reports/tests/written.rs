//! Output, its schemas, and its inputs.

use std::io;

use forkcast_reports::format::SCHEMAS;
use jsonschema::Validator;
use serde_json::Value;

pub fn text(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

pub fn schema(name: &str) -> Value {
    let (_, text) = SCHEMAS.iter().find(|(schema, _)| *schema == name).unwrap();
    serde_json::from_str(text).unwrap()
}

pub fn validator(name: &str) -> Validator {
    jsonschema::validator_for(&schema(name)).unwrap()
}

pub fn errors(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// The value of a text that must follow a schema.
pub fn check(validator: &Validator, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap();
    let errors = errors(validator, &value);
    assert!(errors.is_empty(), "{errors:#?}");
    value
}
