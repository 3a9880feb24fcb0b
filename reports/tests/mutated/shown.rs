//! Laws of every output text, for any content.

use std::collections::BTreeMap;
use std::io;

use forkcast_reports::format::SCHEMAS;
use jsonschema::Validator;
use serde_json::Value;

use super::laws::rows;
use super::mutate::PLANTED;

/// Something that should not be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Its class: `panic`, `law`, `schema`, `leak`, `control`, `formula`, `fault`, `hang`, `slow`, `memory`, `differs`.
    pub class: &'static str,
    /// In words, alike for all findings of one kind.
    pub what: String,
    /// Evidence, if words alone are not enough.
    pub example: String,
}

/// Schemas, which are made once.
pub struct Schemas(BTreeMap<&'static str, Validator>);

impl Schemas {
    pub fn all() -> Self {
        let made = |text: &str| jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap();
        Self(SCHEMAS.iter().map(|(name, text)| (*name, made(text))).collect())
    }
}

/// The findings in the texts of one case.
pub struct Shown<'a> {
    schemas: &'a Schemas,
    pub findings: Vec<Finding>,
}

/// The text that `write` writes.
pub fn text(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Characters that steer a terminal or turn the direction of text.
pub fn steers(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl<'a> Shown<'a> {
    pub const fn new(schemas: &'a Schemas) -> Self {
        Self { schemas, findings: Vec::new() }
    }

    pub fn found(&mut self, class: &'static str, what: impl Into<String>) {
        self.example(class, what, "");
    }

    pub fn example(&mut self, class: &'static str, what: impl Into<String>, example: &str) {
        self.findings.push(Finding { class, what: what.into(), example: example.to_owned() });
    }

    /// A text for people or for a log.
    pub fn plain(&mut self, what: &str, text: &str) {
        if let Some(c) = text.chars().find(|c| steers(*c)) {
            self.example("control", what, &format!("U+{:04X}", u32::from(c)));
        }
    }

    /// A text that is a file somewhere, or goes into one.
    pub fn file(&mut self, what: &str, text: &str) {
        self.plain(what, text);
        self.unplanted(what, text);
    }

    /// A text that holds nothing of a prompt.
    pub fn unplanted(&mut self, what: &str, text: &str) {
        if let Some(at) = text.find(PLANTED) {
            let before: Vec<char> = text[..at].chars().rev().take(80).collect();
            self.example("leak", what, &before.into_iter().rev().collect::<String>());
        }
    }

    /// Comma-separated values: no cell that a spreadsheet computes.
    pub fn table(&mut self, what: &str, text: &str) {
        self.file(what, text);
        let computed = |cell: &String| match cell.chars().next() {
            Some('=' | '@' | '\t' | '\r') => true,
            Some('+' | '-') => cell.parse::<f64>().is_err(),
            _ => false,
        };
        if let Some(cell) = rows(text).iter().flatten().find(|cell| computed(cell)) {
            self.example("formula", what, cell);
        }
    }

    /// A JSON object of one of our formats.
    pub fn object(&mut self, schema: &str, text: &str) {
        self.unplanted(schema, text);
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => return self.found("schema", format!("{schema}: {error}")),
        };
        let told: Vec<String> = self.schemas.0[schema]
            .iter_errors(&value)
            .take(3)
            .map(|error| format!("{schema}: {} at {}", error, error.instance_path()))
            .collect();
        told.into_iter().for_each(|what| self.found("schema", what));
    }
}
