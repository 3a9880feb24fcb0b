//! The scenarios that are built in: the files of `catalog/`, by their names.

use crate::format::Scenario;
use crate::format::problem::Problems;
use crate::format::set::Change;

/// A scenario that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `group/name`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// What `forkcast run` runs without a path.
pub const DEFAULT: &str = "day/working-day";

static CATALOG: &[Entry] = &include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// Every scenario, by name.
pub fn all() -> &'static [Entry] {
    CATALOG
}

/// The scenario called `name`; its group may be left out where no other is called the same.
pub fn find(name: &str) -> Option<&'static Entry> {
    let exact = CATALOG.iter().find(|entry| entry.name == name);
    let mut called = CATALOG.iter().filter(|entry| entry.name.rsplit('/').next() == Some(name));
    exact.or_else(|| called.next().filter(|_| called.next().is_none()))
}

impl Entry {
    /// The file, as messages name it.
    pub fn file(&self) -> String {
        format!("scenarios/catalog/{}.yaml", self.name)
    }

    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with it, or with the changes.
    pub fn read(&self, changes: &[Change]) -> Result<Scenario, Problems> {
        Scenario::read(self.name, &self.file(), self.text, changes)
    }

    /// The first sentence of what it claims.
    pub fn claim(&self) -> String {
        let about = self.read(&[]).map(|scenario| scenario.about).unwrap_or_default();
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        about.split_once(". ").map_or(about.clone(), |(first, _)| format!("{first}."))
    }
}
