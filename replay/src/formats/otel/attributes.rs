//! Attributes of a span and of its events, by name.

use std::collections::BTreeMap;

use forkcast_sim::time::Duration;

use crate::formats::value::Value;

/// Names and values. If an event repeats an attribute of a span, the span's value counts.
pub(super) struct Attributes {
    by_name: BTreeMap<String, Value>,
    /// Events by name, in their order, each with its attributes.
    pub events: Vec<(String, BTreeMap<String, Value>)>,
}

impl Attributes {
    /// The attributes of a span.
    pub fn of(span: &Value) -> Self {
        let mut by_name = named(span);
        let events: Vec<_> = span
            .at("events")
            .elements()
            .iter()
            .map(|event| (event.text_of("name").unwrap_or_default().to_owned(), named(event)))
            .collect();
        for (_, attributes) in &events {
            for (name, value) in attributes {
                by_name.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        Self { by_name, events }
    }

    /// The first existing attribute of these names.
    pub fn get(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.by_name.get(*name))
    }

    /// Whether one of these names exists.
    pub fn has_any(&self, names: &[&str]) -> bool {
        self.get(names).is_some()
    }

    /// A non-empty text.
    pub fn text(&self, names: &[&str]) -> Option<String> {
        names
            .iter()
            .filter_map(|name| self.by_name.get(*name)?.as_text())
            .find(|text| !text.is_empty())
            .map(str::to_owned)
    }

    /// A whole number; some writers use text.
    pub fn number(&self, names: &[&str]) -> Option<u64> {
        names.iter().find_map(|name| match self.by_name.get(*name)? {
            Value::Number(digits) | Value::Text(digits) => digits.parse().ok(),
            _ => None,
        })
    }

    /// A duration in seconds.
    pub fn seconds(&self, names: &[&str]) -> Option<Duration> {
        /// A year.
        const LONGEST_S: f64 = 3.2e7;
        let Value::Number(digits) = self.get(names)? else { return None };
        let seconds: f64 = digits.parse().ok()?;
        (0.0..=LONGEST_S).contains(&seconds).then(|| Duration((seconds * 1e9).round() as u64))
    }

    /// The attributes under `prefix.0.…`, `prefix.1.…`, as one object each with the rest of the name as key.
    pub fn rows(&self, prefix: &str) -> BTreeMap<u64, BTreeMap<&str, &Value>> {
        let mut rows: BTreeMap<u64, BTreeMap<&str, &Value>> = BTreeMap::new();
        let after = |name: &str| name.starts_with(prefix);
        for (name, value) in self.by_name.range(prefix.to_owned()..).take_while(|(name, _)| after(name)) {
            let rest = name.get(prefix.len()..).and_then(|rest| rest.strip_prefix('.'));
            let Some((number, field)) = rest.and_then(|rest| rest.split_once('.')) else { continue };
            if let Ok(number) = number.parse() {
                rows.entry(number).or_default().insert(field, value);
            }
        }
        rows
    }
}

/// `attributes[]` of a span or an event.
fn named(holder: &Value) -> BTreeMap<String, Value> {
    let list = holder.at("attributes").elements();
    list.iter()
        .filter_map(|attribute| Some((attribute.text_of("key")?.to_owned(), plain(attribute.get("value")?))))
        .collect()
}

/// The value in an `AnyValue`; 64-bit integers are text in OTLP's JSON.
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.members().first() else { return Value::Null };
    let elements = |inner: &Value| inner.at("values").elements().to_vec();
    match (kind.as_str(), inner) {
        ("intValue" | "doubleValue", Value::Text(digits)) if digits.parse::<f64>().is_ok_and(f64::is_finite) => {
            Value::Number(digits.clone())
        }
        ("arrayValue", list) => Value::List(elements(list).iter().map(plain).collect()),
        ("kvlistValue", list) => Value::Object(
            elements(list)
                .iter()
                .filter_map(|member| Some((member.text_of("key")?.to_owned(), plain(member.at("value")))))
                .collect(),
        ),
        (_, inner) => inner.clone(),
    }
}
