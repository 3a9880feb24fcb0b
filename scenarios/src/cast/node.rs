//! Builds the tree of a scenario.

use serde_json::Value as Json;

use crate::format::tree::{Key, Node, Place, Value};

/// The fields of an object, in order. Absent values are left out.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(Key, Node)>);

impl Fields {
    /// Adds a field.
    pub fn with(mut self, name: &str, node: impl Into<Option<Node>>) -> Self {
        if let Some(node) = node.into() {
            self.0.push((Key { place: Place::default(), name: name.to_owned() }, node));
        }
        self
    }

    /// The object.
    pub fn node(self) -> Node {
        of(Value::Map(self.0))
    }

    /// The object; nothing if it has no field.
    pub fn some(self) -> Option<Node> {
        (!self.0.is_empty()).then(|| self.node())
    }
}

/// A text.
pub(super) fn text(text: impl Into<String>) -> Node {
    of(Value::Text(text.into()))
}

/// A whole number.
pub(super) fn number(number: u64) -> Node {
    of(Value::Whole(number.into()))
}

/// `true`, or nothing.
pub(super) fn yes(holds: bool) -> Option<Node> {
    holds.then(|| of(Value::Truth(true)))
}

/// A list.
pub(super) fn list(items: impl IntoIterator<Item = Node>) -> Node {
    of(Value::List(items.into_iter().collect()))
}

/// A list; nothing if it is empty.
pub(super) fn some(items: Vec<Node>) -> Option<Node> {
    (!items.is_empty()).then(|| list(items))
}

/// Any JSON value.
pub(super) fn json(value: &Json) -> Node {
    let value = match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Truth(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Whole(whole.into()),
            (None, Some(whole)) => Value::Whole(whole.into()),
            (None, None) => number.as_f64().map_or(Value::Null, Value::Real),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(json).collect()),
        Json::Object(fields) => return object(fields),
    };
    of(value)
}

fn object(fields: &serde_json::Map<String, Json>) -> Node {
    fields.iter().fold(Fields::default(), |object, (name, value)| object.with(name, json(value))).node()
}

const fn of(value: Value) -> Node {
    Node { place: Place { line: 0, column: 0 }, value }
}
