//! A YAML text as a tree whose values know their places.

use std::fmt;

use forkcast_sim::outside::complaint;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_saphyr::{DuplicateKeyPolicy, Location, Options, Spanned};

/// The place of a value, counted from one. Line zero means the command line.
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
    /// The place where it begins.
    pub place: Place,
    /// The value.
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
    /// Its place.
    pub place: Place,
    /// The name.
    pub name: String,
}

/// A text that is not valid YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The place of the error.
    pub place: Place,
    /// The reason.
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
    /// If the text is not valid YAML, has a duplicate field, or contains several documents.
    pub fn read(text: &str) -> Result<Self, Broken> {
        let mut options = Options::default();
        options.duplicate_keys = DuplicateKeyPolicy::Error;
        // YAML 1.2: `yes` and `no` are text.
        options.strict_booleans = true;
        let read: Result<Spanned<Bare>, _> = serde_saphyr::from_str_with_options(text, options);
        read.map(Self::from).map_err(|error| Broken {
            place: error.location().map(Place::from).unwrap_or_default(),
            why: complaint::yaml(&error),
        })
    }

    /// The kind of the value.
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

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Truth(truth) => serializer.serialize_bool(*truth),
            Value::Whole(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => serializer.serialize_u64(number),
                (Err(_), Ok(number)) => serializer.serialize_i64(number),
                (Err(_), Err(_)) => serializer.serialize_i128(*number),
            },
            Value::Real(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(items) => serializer.collect_seq(items),
            Value::Map(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (&key.name, value))),
        }
    }
}

/// A value whose place is stored by its container.
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
    fn values_have_their_places() {
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
    fn invalid_yaml_is_located() {
        for (text, line) in [("a: 1\na: 2\n", 2), ("a: [1\n", 1), ("a: 1\n---\nb: 2\n", 2), ("a:\n\tb: 1\n", 2)] {
            let broken = Node::read(text).unwrap_err();
            assert!(broken.place.line >= line, "{text:?}: {broken:?}");
            assert!(!broken.why.is_empty());
        }
    }
}
