//! A recording as a tree: JSON that keeps the order of its keys, allows keys twice, and holds values that no JSON value holds.
//! Strings that hold documents themselves (bodies in cassettes, events of a stream) are trees too, because they contain usage.

use forkcast_fixtures::Members;
use serde_json::value::RawValue;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Printed unchanged: numbers, `true`, `null`, and everything that is not JSON.
    Raw(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// An object.
    Object(Vec<(String, Tree)>),
    /// A string that is a document.
    Inside(Box<Tree>),
    /// A string of lines; some are a document with something before it, such as `data: `.
    Lines(Vec<(String, Option<Tree>)>),
}

impl Tree {
    /// Reads JSON; `None` if it is none.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.bytes().next()? {
            b'{' => {
                let Members(members) = serde_json::from_str(text).ok()?;
                let member = |(key, value): (String, &RawValue)| Some((key, Self::read(value.get())?));
                Some(Self::Object(members.into_iter().map(member).collect::<Option<_>>()?))
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                Some(Self::List(items.into_iter().map(|item| Self::read(item.get())).collect::<Option<_>>()?))
            }
            b'"' => Some(Self::of_text(&serde_json::from_str::<String>(text).ok()?)),
            _ => serde_json::from_str::<&RawValue>(text).is_ok().then(|| Self::Raw(text.to_owned())),
        }
    }

    /// A string, or the tree inside it.
    fn of_text(text: &str) -> Self {
        let holds = |text: &str| text.starts_with('{') || text.starts_with("[{");
        if holds(text.trim_start())
            && let Some(tree) = Self::read(text)
        {
            return Self::Inside(Box::new(tree));
        }
        if !text.contains("\ndata: {") && !text.starts_with("data: {") {
            return Self::Text(text.to_owned());
        }
        let line = |line: &str| match line.strip_prefix("data: ").and_then(Self::read) {
            Some(tree) => ("data: ".to_owned(), Some(tree)),
            None => (line.to_owned(), None),
        };
        Self::Lines(text.split('\n').map(line).collect())
    }

    /// The value of a key; `None` if there is none.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Visits all values with their keys, parents first.
    pub fn each<'a>(&'a self, key: &'a str, look: &mut dyn FnMut(&'a str, &'a Self)) {
        look(key, self);
        match self {
            Self::Raw(_) | Self::Text(_) => {}
            Self::List(items) => items.iter().for_each(|item| item.each(key, look)),
            Self::Object(members) => members.iter().for_each(|(key, value)| value.each(key, look)),
            Self::Inside(tree) => tree.each(key, look),
            Self::Lines(lines) => lines.iter().for_each(|(_, tree)| tree.iter().for_each(|tree| tree.each(key, look))),
        }
    }

    /// The same with changes. Changed values are visited in their new state.
    pub fn each_mut(&mut self, key: &str, change: &mut dyn FnMut(&str, &mut Self)) {
        change(key, self);
        match self {
            Self::Raw(_) | Self::Text(_) => {}
            Self::List(items) => items.iter_mut().for_each(|item| item.each_mut(key, change)),
            Self::Object(members) => members.iter_mut().for_each(|(key, value)| value.each_mut(key, change)),
            Self::Inside(tree) => tree.each_mut(key, change),
            Self::Lines(lines) => {
                lines.iter_mut().filter_map(|(_, tree)| tree.as_mut()).for_each(|tree| tree.each_mut(key, change));
            }
        }
    }

    /// As JSON on one line.
    pub fn print(&self, out: &mut String) {
        match self {
            Self::Raw(raw) => out.push_str(raw),
            Self::Text(text) => push_string(text, out),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    item.print(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    push_string(key, out);
                    out.push(':');
                    value.print(out);
                }
                out.push('}');
            }
            Self::Inside(tree) => push_string(&tree.text(), out),
            Self::Lines(lines) => {
                let line = |(head, tree): &(String, Option<Self>)| {
                    head.clone() + &tree.as_ref().map(Self::text).unwrap_or_default()
                };
                push_string(&lines.iter().map(line).collect::<Vec<_>>().join("\n"), out);
            }
        }
    }

    /// The same as a text of its own.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.print(&mut out);
        out
    }
}

fn push_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).unwrap());
}
