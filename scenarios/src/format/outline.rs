//! The outline of a format: its objects, and of each field the possible values, the unit, the meaning, and whether it is
//! required.
//!
//! For the scenario format this is the only list of fields: the reader takes the known ones from it and asserts that it
//! requires the same ones ([`reading`](super::reading)), and the JSON Schema for editors is made from it
//! (`forkcast_reports::record`). `reports/tests/outline.rs` holds the reader to its values.

mod events;
mod expect;
mod field;
mod prompt;
mod scenario;
mod script;
mod session;
mod user;
mod world;

pub use events::{BLOCK_DELTA, BLOCK_START, BLOCK_STOP, MESSAGE_DELTA, RAW_EVENT, STREAM_ERROR};
pub use expect::{BOUNDS, CAUSE, DIFFERENCE, EXPECT, FIGURES, PATTERN, PENDING, REQUEST, WHICH};
pub use field::Field;
pub use prompt::{AGENT_SIZES, ANSWERED, FRAGMENT, PAST, PREFIX_SIZES, PROMPT, SIZES};
pub use scenario::{LIMITS, PACE, SCENARIO, VARIANT};
pub use script::{FAULT, REPLY, TOOL_CALL, UNSEEN, WHEN};
pub use session::{
    COMPACTION, ENVIRONMENT, FORKS, HELPERS, LAUNCH, MODELS, REMOTE, RETRIES, SESSION, TEAMS, WORKTREES,
};
pub use user::{ACT, ARRIVES, REWRITES, WAITS};
pub use world::{COMMAND, DEFINITION, HOOK, HOOK_SAYS, PERMISSIONS, SERVER, SHELL, TOOL, TOOL_RESULT};

/// An object of a format.
#[derive(Debug)]
pub struct Object {
    /// Its name among the definitions of a schema.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Its fields, in the order in which messages name them.
    pub fields: &'static [Field],
    /// Which of them are given together.
    pub rule: Rule,
    /// The values of fields whose names are not known in advance, if it may have such fields.
    pub others: Option<&'static Shape>,
}

/// Which fields of an object are given together, beside the required ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Any of them.
    Any,
    /// A number of them in these bounds.
    Given {
        /// The least number.
        least: u64,
        /// The greatest number.
        most: Option<u64>,
    },
    /// Exactly one of these groups.
    OneOf(&'static [&'static [&'static str]]),
}

/// The possible values of a field.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Any text.
    Text,
    /// A text that is not empty.
    Name,
    /// A text that matches this regular expression.
    Pattern(&'static str),
    /// Only this text.
    Constant(&'static str),
    /// One of these words.
    Words(fn() -> Vec<&'static str>),
    /// One of these words, under one name for all its uses.
    Explained {
        /// Its name among the definitions of a schema.
        name: &'static str,
        /// The words.
        words: fn() -> Vec<&'static str>,
        /// The command that explains each of them.
        by: &'static str,
    },
    /// True or false.
    Truth,
    /// Only `true`.
    Yes,
    /// A whole number.
    Count {
        /// Its minimum.
        least: u64,
    },
    /// A whole number in these bounds.
    Between {
        /// Its minimum.
        least: u64,
        /// Its maximum.
        most: u64,
    },
    /// A number.
    Number,
    /// A number that is not negative.
    Positive,
    /// No value.
    Null,
    /// Anything.
    Anything,
    /// Nothing: only a message knows the field.
    Never,
    /// Fields with any names and values.
    Fields {
        /// Their least number.
        least: u64,
    },
    /// An object of the same outline.
    Object(&'static Object),
    /// Any number of these.
    List(&'static Self),
    /// At least one of these, all of them different.
    Different(&'static Self),
    /// These by names that are not known in advance.
    Map {
        /// A regular expression that these names match.
        names: Option<&'static str>,
        /// The values.
        of: &'static Self,
    },
    /// Any of these.
    AnyOf(&'static [Self]),
}

impl Object {
    /// An object with these fields and no others.
    pub const fn new(name: &'static str, meaning: &'static str, fields: &'static [Field]) -> Self {
        Self { name, meaning, fields, rule: Rule::Any, others: None }
    }

    /// At least and at most so many of its fields are given.
    #[must_use]
    pub const fn given(mut self, least: u64, most: Option<u64>) -> Self {
        self.rule = Rule::Given { least, most };
        self
    }

    /// Exactly one of these groups of its fields is given.
    #[must_use]
    pub const fn one_of(mut self, groups: &'static [&'static [&'static str]]) -> Self {
        self.rule = Rule::OneOf(groups);
        self
    }

    /// It may have other fields too, with these values.
    #[must_use]
    pub const fn open(mut self, others: &'static Shape) -> Self {
        self.others = Some(others);
        self
    }

    /// The names of its fields.
    pub fn names(&self) -> Vec<&'static str> {
        self.fields.iter().map(|field| field.name).collect()
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl PartialEq for Object {
    /// An object equals only itself.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Object {}

/// The words of a table of words and their meanings.
pub fn words<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).collect()
}
