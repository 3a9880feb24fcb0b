//! Reads a tree strictly: every mistake is recorded with its place, and reading continues to find the next one.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use forkcast_sim::outside::{found, found_value, word};
use forkcast_sim::wire::TOKENS_MAX;

use super::outline::Object;
use super::problem::{Problem, alternatives, nearest};
use super::tree::{Key, Node, Place, Value};

/// Maximum number of characters of field names in a message.
const FIELDS_MAX: usize = 60;

const U32_MAX: u64 = 4_294_967_295;

/// Records problems.
#[derive(Debug)]
pub struct Notes {
    file: Rc<str>,
    problems: RefCell<Vec<Problem>>,
}

/// A value and its path.
#[derive(Clone)]
pub struct At<'a> {
    node: &'a Node,
    path: Rc<str>,
    notes: &'a Notes,
}

/// The fields of an object, all of them known.
pub struct Fields<'a> {
    fields: &'a [(Key, Node)],
    object: &'static Object,
    at: At<'a>,
}

/// The place of a value, for later messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Line and column.
    pub place: Place,
    /// The field.
    pub path: Rc<str>,
    /// The value, for messages.
    pub found: Rc<str>,
}

impl Notes {
    /// An empty record for `file`.
    pub fn new(file: &str) -> Self {
        Self { file: file.into(), problems: RefCell::default() }
    }

    /// Records a problem at `origin`.
    pub fn at(&self, origin: &Origin, says: impl fmt::Display) {
        let found = (!origin.found.is_empty()).then(|| origin.found.to_string());
        self.push(origin.place, &origin.path, found, says);
    }

    /// Records a problem.
    pub fn push(&self, place: Place, path: &str, found: Option<String>, says: impl fmt::Display) {
        let file = self.file.clone();
        let says = says.to_string();
        self.problems.borrow_mut().push(Problem { file, place, path: path.to_owned(), found, says });
    }

    /// All problems, ordered by place. Parts that a variant shares with its scenario are read twice but reported once.
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

    /// Records that this value is wrong.
    pub fn wrong(&self, expected: impl fmt::Display) {
        self.notes.push(self.node.place, &self.path, Some(shown(self.node)), expected);
    }

    /// Its place.
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

    /// A text as a shared string.
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
            // Limits of integer types are not limits of the format.
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

    /// A small whole number of at least `least`.
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

    /// A list; invalid items are recorded and left out.
    pub fn list<T>(&self, item: impl Fn(&Self) -> Option<T>) -> Option<Vec<T>> {
        let Value::List(items) = &self.node.value else {
            return self.expected("a list: lines that begin with `- `, or `[…]`");
        };
        let read = |(at, node): (usize, &'a Node)| item(&self.inner(format_args!("[{at}]"), node));
        Some(items.iter().enumerate().filter_map(read).collect())
    }

    /// Names with values; invalid ones are recorded and left out.
    pub fn named<T>(&self, value: impl Fn(&str, &Self) -> Option<T>) -> Option<Vec<(String, T)>> {
        let fields = self.map("names with values: lines `name: value`")?;
        let read = |(key, node): &'a (Key, Node)| {
            Some((key.name.clone(), value(&key.name, &self.inner(self.step(&key.name), node))?))
        };
        Some(fields.iter().filter_map(read).collect())
    }

    /// The fields of an object of the format.
    pub fn fields(&self, object: &'static Object) -> Option<Fields<'a>> {
        self.fields_and(object, &[])
    }

    /// The same, with further fields that a value among them allows.
    pub fn fields_and(&self, object: &'static Object, further: &[&str]) -> Option<Fields<'a>> {
        let known: Vec<&str> = object.names().into_iter().chain(further.iter().copied()).collect();
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
        Some(Fields { fields, object, at: self.clone() })
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
}

impl<'a> Fields<'a> {
    /// The object itself.
    pub const fn at(&self) -> &At<'a> {
        &self.at
    }

    /// The value of a field that may be missing.
    pub fn get(&self, name: &str) -> Option<At<'a>> {
        let is_known = self.object.field(name).is_some() || self.object.others.is_some();
        debug_assert!(is_known, "{} has no field `{name}`", self.object.name);
        let (_, node) = self.fields.iter().find(|(key, _)| key.name == name)?;
        Some(self.at.inner(self.at.step(name), node))
    }

    /// An optional field.
    pub fn may<T>(&self, name: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Option<T> {
        debug_assert!(!self.requires(name), "{} requires `{name}`", self.object.name);
        read(&self.get(name)?)
    }

    /// An optional field with a default. The default is also used if the field is wrong, which is recorded, so the
    /// scenario does not run.
    pub fn or_default<T: Default>(&self, name: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> T {
        self.may(name, read).unwrap_or_default()
    }

    /// An optional field that replaces what is there.
    pub fn set<T>(&self, name: &str, field: &mut T, read: impl FnOnce(&At<'a>) -> Option<T>) {
        if let Some(said) = self.may(name, read) {
            *field = said;
        }
    }

    /// A required field.
    pub fn must<T>(&self, name: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Option<T> {
        debug_assert!(self.requires(name), "{} does not require `{name}`", self.object.name);
        self.needs(name, read)
    }

    /// A field that is required because of what other fields say.
    pub fn needs<T>(&self, name: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Option<T> {
        let Some(at) = self.get(name) else {
            self.missing(name, format_args!("add `{name}:`, which is required"));
            return None;
        };
        read(&at)
    }

    /// An optional list.
    pub fn list<T>(&self, name: &str, item: impl Fn(&At<'a>) -> Option<T>) -> Vec<T> {
        self.or_default(name, |at| at.list(item))
    }

    /// Those of `names` that are present.
    pub fn among<'n>(&self, names: &[&'n str]) -> Vec<&'n str> {
        names.iter().copied().filter(|name| self.get(name).is_some()).collect()
    }

    /// The one of `names` that is present; any other number is a problem.
    pub fn one_of<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        match self.among(names)[..] {
            [one] => Some(one),
            [] => {
                self.missing("", format_args!("give one of {}", alternatives(names.iter().copied())));
                None
            }
            [_, second, ..] => {
                let at = self.get(second)?;
                at.wrong(format_args!("only one of {} is allowed here", alternatives(names.iter().copied())));
                None
            }
        }
    }

    fn requires(&self, name: &str) -> bool {
        self.object.field(name).is_some_and(|field| field.is_required)
    }

    fn missing(&self, name: &str, says: fmt::Arguments<'_>) {
        let path =
            if name.is_empty() { self.at.path.to_string() } else { format!("{}{}", self.at.path, self.at.step(name)) };
        self.at.notes.push(self.at.node.place, &path, None, says);
    }
}

/// Only `true`.
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
