//! `--set path=value`: changes one field of a scenario.

use std::str::FromStr;

use super::tree::{Key, Node, Place, Value};

/// A change of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The field, such as `session.model` or `script.main[0].say`.
    pub path: String,
    value: Node,
}

/// A step of a path.
enum Step<'a> {
    Name(&'a str),
    Item(usize),
}

impl FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, value) = text.split_once('=').ok_or("expected FIELD=VALUE, such as session.ttl=1h")?;
        let path = path.trim();
        if path.is_empty() {
            return Err("expected the name of a field before `=`, such as session.ttl=1h".to_owned());
        }
        let value = Node::read(value).map_err(|broken| format!("the value is not valid YAML: {}", broken.why))?;
        Ok(Self { path: path.to_owned(), value: nowhere(value) })
    }
}

/// The value with places that refer to the command line.
fn nowhere(node: Node) -> Node {
    let value = match node.value {
        Value::List(items) => Value::List(items.into_iter().map(nowhere).collect()),
        Value::Map(fields) => Value::Map(
            fields.into_iter().map(|(key, node)| (Key { place: Place::default(), ..key }, nowhere(node))).collect(),
        ),
        other => other,
    };
    Node { place: Place::default(), value }
}

impl Change {
    /// A change of `path` to a value from elsewhere in the file.
    pub fn to_node(path: &str, node: &Node) -> Self {
        Self { path: path.to_owned(), value: node.clone() }
    }

    /// Applies the change. A field that the scenario omits is added; strict reading checks whether it is a known field.
    ///
    /// # Errors
    /// If the path leads through a missing value.
    pub fn apply(&self, tree: &mut Node) -> Result<(), String> {
        let mut node = tree;
        for step in steps(&self.path)? {
            node = match step {
                Step::Name(name) => field(node, name)?,
                Step::Item(at) => item(node, at)?,
            };
        }
        *node = self.value.clone();
        Ok(())
    }
}

fn steps(path: &str) -> Result<Vec<Step<'_>>, String> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, items) = part.split_once('[').map_or((part, ""), |(name, items)| (name, items));
        if name.is_empty() {
            return Err("expected a field such as session.model or script.main[0].say".to_owned());
        }
        steps.push(Step::Name(name));
        for item in items.split('[').filter(|item| !item.is_empty()) {
            let number = item.strip_suffix(']').and_then(|number| number.parse().ok());
            steps.push(Step::Item(number.ok_or("expected a number in `[…]`, counted from 0")?));
        }
    }
    Ok(steps)
}

fn field<'a>(node: &'a mut Node, name: &str) -> Result<&'a mut Node, String> {
    let kind = node.kind();
    let Value::Map(fields) = &mut node.value else {
        return Err(format!("there is no `{name}` here: the value before it is {kind} and has no fields"));
    };
    let at = match fields.iter().position(|(key, _)| key.name == name) {
        Some(at) => at,
        None => {
            let key = Key { place: Place::default(), name: name.to_owned() };
            fields.push((key, Node { place: Place::default(), value: Value::Map(Vec::new()) }));
            fields.len() - 1
        }
    };
    Ok(&mut fields[at].1)
}

fn item(node: &mut Node, at: usize) -> Result<&mut Node, String> {
    let kind = node.kind();
    let Value::List(items) = &mut node.value else {
        return Err(format!("there is no item {at} here: it is {kind}, not a list"));
    };
    let count = items.len();
    items.get_mut(at).ok_or_else(|| format!("there is no item {at}: the list has {count}, counted from 0"))
}
