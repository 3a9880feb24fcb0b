//! A YAML text as a tree in which every value knows where it stands.

use std::fmt;

use forkcast_sim::outside::complaint;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Location, Options, Spanned};

/// Where a value stands, counted from one; line zero: not in the file, but on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Truth(bool),
    /// A whole number.
    Whole(i128),
    /// Another number.
    Real(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Fields in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// The name of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Where it stands.
    pub place: Place,
    /// The name.
    pub name: String,
}

/// A text that is no YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Where it was noticed.
    pub place: Place,
    /// Why.
    pub why: String,
}

impl From<Location> for Place {
    fn from(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

impl Node {
    /// Reads one YAML document.
    ///
    /// # Errors
    /// When the text is no YAML, has a field twice, or holds several documents.
    pub fn read(text: &str) -> Result<Self, Broken> {
        let mut options = Options::default();
        options.duplicate_keys = DuplicateKeyPolicy::Error;
        // YAML 1.2: `yes` and `no` are words.
        options.strict_booleans = true;
        let read: Result<Spanned<Bare>, _> = serde_saphyr::from_str_with_options(text, options);
        read.map(Self::from).map_err(|error| Broken {
            place: error.location().map(Place::from).unwrap_or_default(),
            why: complaint::yaml(&error),
        })
    }

    /// A word for what it is.
    pub const fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Truth(_) => "true or false",
            Value::Whole(_) | Value::Real(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "fields",
        }
    }

    /// The value as JSON.
    pub fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Truth(truth) => (*truth).into(),
            Value::Whole(number) => u64::try_from(*number)
                .map(serde_json::Value::from)
                .or_else(|_| i64::try_from(*number).map(serde_json::Value::from))
                .unwrap_or_else(|_| number.to_string().into()),
            Value::Real(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Self::json).collect(),
            Value::Map(fields) => fields.iter().map(|(key, value)| (key.name.clone(), value.json())).collect(),
        }
    }
}

/// A value whose own place is known to what holds it.
struct Bare(Value);

impl From<Spanned<Bare>> for Node {
    fn from(found: Spanned<Bare>) -> Self {
        Self { place: found.referenced.into(), value: found.value.0 }
    }
}

impl<'de> Deserialize<'de> for Bare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading).map(Self)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Truth(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Real(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Bare>>()? {
            list.push(item.into());
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = fields.next_key::<Spanned<String>>()? {
            let value: Spanned<Bare> = fields.next_value()?;
            map.push((Key { place: key.referenced.into(), name: key.value }, value.into()));
        }
        Ok(Value::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, Place, Value};

    #[test]
    fn every_value_knows_its_place() {
        let node = Node::read("a: 1\nb:\n  - x: yes\n    y: [1.5, ~]\n").unwrap();
        let Value::Map(fields) = &node.value else { panic!("{node:?}") };
        assert_eq!(
            (fields[0].0.place, fields[0].1.place),
            (Place { line: 1, column: 1 }, Place { line: 1, column: 4 })
        );
        let Value::List(items) = &fields[1].1.value else { panic!("{node:?}") };
        let Value::Map(inner) = &items[0].value else { panic!("{node:?}") };
        assert_eq!(inner[0].1.value, Value::Text("yes".to_owned()));
        assert_eq!(inner[1].1.place, Place { line: 4, column: 8 });
        assert_eq!(node.json()["b"][0]["y"], serde_json::json!([1.5, null]));
    }

    #[test]
    fn broken_text_is_located() {
        for (text, line) in [("a: 1\na: 2\n", 2), ("a: [1\n", 1), ("a: 1\n---\nb: 2\n", 2), ("a:\n\tb: 1\n", 2)] {
            let broken = Node::read(text).unwrap_err();
            assert!(broken.place.line >= line, "{text:?}: {broken:?}");
            assert!(!broken.why.is_empty());
        }
    }
}
