//! Reading a tree strictly: every mistake is noted with its place, and the reading goes on to find the next one.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use forkcast_sim::outside::{found, found_value, word};
use forkcast_sim::wire::TOKENS_MAX;

use super::problem::{Problem, alternatives, nearest};
use super::tree::{Key, Node, Place, Value};

/// Letters of the names of fields that a message shows.
const FIELDS_MAX: usize = 60;

const U32_MAX: u64 = 4_294_967_295;

/// Notes what is wrong.
#[derive(Debug)]
pub struct Notes {
    file: Rc<str>,
    problems: RefCell<Vec<Problem>>,
}

/// A value and how it was reached.
#[derive(Clone)]
pub struct At<'a> {
    node: &'a Node,
    path: Rc<str>,
    notes: &'a Notes,
}

/// The fields of an object, of which every one is known.
pub struct Fields<'a> {
    fields: &'a [(Key, Node)],
    at: At<'a>,
}

/// Where something stands, for what is found out about it later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Line and column.
    pub place: Place,
    /// The field.
    pub path: Rc<str>,
    /// What stands there, for messages.
    pub found: Rc<str>,
}

impl Notes {
    /// Nothing is wrong yet with `file`.
    pub fn new(file: &str) -> Self {
        Self { file: file.into(), problems: RefCell::default() }
    }

    /// Notes a mistake at `origin`.
    pub fn at(&self, origin: &Origin, says: impl fmt::Display) {
        let found = (!origin.found.is_empty()).then(|| origin.found.to_string());
        self.push(origin.place, &origin.path, found, says);
    }

    /// Notes a mistake.
    pub fn push(&self, place: Place, path: &str, found: Option<String>, says: impl fmt::Display) {
        let file = self.file.clone();
        let says = says.to_string();
        self.problems.borrow_mut().push(Problem { file, place, path: path.to_owned(), found, says });
    }

    /// All mistakes in order of place. What a variant shares with its scenario is read twice and told once.
    pub fn done(self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        for problem in self.problems.into_inner() {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems.sort_by_key(|problem| problem.place);
        problems
    }
}

impl<'a> At<'a> {
    /// The whole file.
    pub fn root(node: &'a Node, notes: &'a Notes) -> Self {
        Self { node, path: "".into(), notes }
    }

    /// The value itself.
    pub const fn node(&self) -> &'a Node {
        self.node
    }

    /// Notes that this value is not what it should be.
    pub fn wrong(&self, expected: impl fmt::Display) {
        self.notes.push(self.node.place, &self.path, Some(shown(self.node)), expected);
    }

    /// Where it stands.
    pub fn origin(&self) -> Origin {
        Origin { place: self.node.place, path: self.path.clone(), found: shown(self.node).into() }
    }

    fn expected<T>(&self, what: impl fmt::Display) -> Option<T> {
        self.wrong(format_args!("expected {what}"));
        None
    }

    fn inner(&self, step: impl fmt::Display, node: &'a Node) -> Self {
        Self { node, path: format!("{}{step}", self.path).into(), notes: self.notes }
    }

    /// A text.
    pub fn text(&self) -> Option<String> {
        match &self.node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Whole(_) | Value::Real(_) | Value::Truth(_) => {
                self.expected("text; put quotes around it if it is meant as text")
            }
            _ => self.expected("text"),
        }
    }

    /// A text as the runtime keeps it.
    pub fn shared(&self) -> Option<Rc<str>> {
        self.text().map(Into::into)
    }

    /// A text that is not empty.
    pub fn name(&self) -> Option<Rc<str>> {
        match self.shared()? {
            name if name.trim().is_empty() => self.expected("a name, which cannot be empty"),
            name => Some(name),
        }
    }

    /// A whole number from `least` to `most`.
    pub fn between(&self, least: u64, most: u64) -> Option<u64> {
        let number = match self.node.value {
            Value::Whole(number) => u64::try_from(number).ok().filter(|number| (least..=most).contains(number)),
            _ => None,
        };
        match (number, most) {
            // Limits of the machine are no limits of the matter.
            (None, U32_MAX | u64::MAX) => self.expected(format_args!("a whole number from {least} up")),
            (None, _) => self.expected(format_args!("a whole number from {least} to {most}")),
            (number, _) => number,
        }
    }

    /// A count of tokens.
    pub fn tokens(&self) -> Option<u64> {
        self.between(0, TOKENS_MAX)
    }

    /// A whole number that is not negative.
    pub fn number(&self) -> Option<u64> {
        self.between(0, u64::MAX)
    }

    /// A small whole number from `least` up.
    pub fn small(&self, least: u32) -> Option<u32> {
        self.between(least.into(), U32_MAX).map(|number| number as u32)
    }

    /// `true` or `false`.
    pub fn truth(&self) -> Option<bool> {
        match self.node.value {
            Value::Truth(truth) => Some(truth),
            _ => self.expected("`true` or `false`"),
        }
    }

    /// One of several words.
    pub fn word<T: Clone>(&self, words: &[(&str, T)]) -> Option<T> {
        let known = || words.iter().map(|(word, _)| *word);
        if let Value::Text(text) = &self.node.value {
            if let Some((_, meaning)) = words.iter().find(|(word, _)| word == text) {
                return Some(meaning.clone());
            }
            if let Some(meant) = nearest(text, known()) {
                return self.expected(format_args!("{}; did you mean `{meant}`?", alternatives(known())));
            }
        }
        self.expected(alternatives(known()))
    }

    /// A list; items that are wrong are noted and left out.
    pub fn list<T>(&self, item: impl Fn(&Self) -> Option<T>) -> Option<Vec<T>> {
        let Value::List(items) = &self.node.value else {
            return self.expected("a list: lines that begin with `- `, or `[…]`");
        };
        let read = |(at, node): (usize, &'a Node)| item(&self.inner(format_args!("[{at}]"), node));
        Some(items.iter().enumerate().filter_map(read).collect())
    }

    /// Names with values; those that are wrong are noted and left out.
    pub fn named<T>(&self, value: impl Fn(&str, &Self) -> Option<T>) -> Option<Vec<(String, T)>> {
        let fields = self.map("names with values: lines `name: value`")?;
        let read = |(key, node): &'a (Key, Node)| {
            Some((key.name.clone(), value(&key.name, &self.inner(self.step(&key.name), node))?))
        };
        Some(fields.iter().filter_map(read).collect())
    }

    /// The fields of an object, `known` being all that it can have.
    pub fn fields(&self, known: &[&str]) -> Option<Fields<'a>> {
        let fields = self.map(&format!("the fields {}", alternatives(known.iter().copied())))?;
        for (key, node) in fields.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            let meant = match nearest(&key.name, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here are {}", alternatives(known.iter().copied())),
            };
            let path = format!("{}{}", self.path, self.step(&key.name));
            self.notes.push(
                key.place,
                &path,
                Some(shown(node)),
                format_args!("there is no field {}; {meant}", found(&key.name)),
            );
        }
        Some(Fields { fields, at: self.clone() })
    }

    fn map(&self, expected: &str) -> Option<&'a [(Key, Node)]> {
        match &self.node.value {
            Value::Map(fields) => Some(fields),
            _ => self.expected(expected),
        }
    }

    fn step(&self, name: &str) -> String {
        let name = word(name).unwrap_or("…");
        if self.path.is_empty() { name.to_owned() } else { format!(".{name}") }
    }

    /// Anything, as JSON.
    pub fn json(&self) -> serde_json::Value {
        self.node.json()
    }

    /// Whether it has fields.
    pub const fn has_fields(&self) -> bool {
        matches!(self.node.value, Value::Map(_))
    }

    /// Whether it is a list.
    pub const fn is_list(&self) -> bool {
        matches!(self.node.value, Value::List(_))
    }
}

impl<'a> Fields<'a> {
    /// The object itself.
    pub const fn at(&self) -> &At<'a> {
        &self.at
    }

    /// The value of a field that may be missing.
    pub fn get(&self, name: &str) -> Option<At<'a>> {
        let (_, node) = self.fields.iter().find(|(key, _)| key.name == name)?;
        Some(self.at.inner(self.at.step(name), node))
    }

    /// A field that may be missing.
    pub fn may<T>(&self, name: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Option<T> {
        read(&self.get(name)?)
    }

    /// A field that may be missing and then has its default. So it has where it is wrong, which is noted: nothing is run then.
    pub fn or_default<T: Default>(&self, name: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> T {
        self.may(name, read).unwrap_or_default()
    }

    /// A field that must be there.
    pub fn must<T>(&self, name: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Option<T> {
        let Some(at) = self.get(name) else {
            self.missing(name, format_args!("add `{name}:`, which must be there"));
            return None;
        };
        read(&at)
    }

    /// A list that may be missing.
    pub fn list<T>(&self, name: &str, item: impl Fn(&At<'a>) -> Option<T>) -> Vec<T> {
        self.or_default(name, |at| at.list(item))
    }

    /// The fields of `names` that are there.
    pub fn among<'n>(&self, names: &[&'n str]) -> Vec<&'n str> {
        names.iter().copied().filter(|name| self.get(name).is_some()).collect()
    }

    /// Exactly one of `names` must be there: gives it.
    pub fn one_of<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        match self.among(names)[..] {
            [one] => Some(one),
            [] => {
                self.missing("", format_args!("say one of {}", alternatives(names.iter().copied())));
                None
            }
            [_, second, ..] => {
                let at = self.get(second)?;
                at.wrong(format_args!("only one of {} can be said here", alternatives(names.iter().copied())));
                None
            }
        }
    }

    fn missing(&self, name: &str, says: fmt::Arguments<'_>) {
        let path =
            if name.is_empty() { self.at.path.to_string() } else { format!("{}{}", self.at.path, self.at.step(name)) };
        self.at.notes.push(self.at.node.place, &path, None, says);
    }
}

/// `true` and nothing else.
pub fn yes(at: &At<'_>) -> Option<()> {
    if at.truth()? {
        return Some(());
    }
    at.wrong("expected `true`; leave it out if it is not meant");
    None
}

/// A value as messages show it.
fn shown(node: &Node) -> String {
    let fields = match &node.value {
        Value::Null => return "nothing".to_owned(),
        Value::Map(fields) => fields,
        _ => return found_value(&node.json()),
    };
    let names: Option<Vec<&str>> = fields.iter().map(|(key, _)| word(&key.name)).collect();
    match names.map(|names| names.join(", ")).filter(|names| names.len() <= FIELDS_MAX) {
        Some(names) => format!("fields {names}"),
        None => format!("{} fields", fields.len()),
    }
}
