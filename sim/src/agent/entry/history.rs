//! The messages of an agent, and how many of them are as they were sent.

use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;

use super::Entry;

/// The messages of an agent in order. They grow at the end; any other change is made through this type, so that it is
/// known which messages were sent as they are (contract COMPACT-02), and which were searched for the tag of a fork.
#[derive(Clone, Default)]
pub struct History {
    entries: Vec<Rc<Entry>>,
    /// Leading entries that are as they were when they were last sent.
    same: Cell<usize>,
    /// Leading entries without the tag of a fork.
    scanned: Cell<usize>,
}

impl History {
    /// Adds an entry.
    pub fn push(&mut self, entry: Rc<Entry>) {
        self.entries.push(entry);
    }

    /// Drops all but the first `length` entries.
    pub fn truncate(&mut self, length: usize) {
        self.entries.truncate(length);
        self.changed_from(length);
    }

    /// Replaces all entries.
    pub fn replace(&mut self, entries: Vec<Rc<Entry>>) {
        self.entries = entries;
        self.changed_from(0);
    }

    /// Replaces the entry at `at`.
    pub fn put(&mut self, at: usize, entry: Rc<Entry>) {
        if let Some(old) = self.entries.get_mut(at) {
            *old = entry;
            self.changed_from(at);
        }
    }

    fn changed_from(&self, at: usize) {
        self.same.set(self.same.get().min(at));
        self.scanned.set(self.scanned.get().min(at));
    }

    /// Leading entries that are as they were when they were last sent.
    pub fn same(&self) -> usize {
        self.same.get()
    }

    /// Entries that may hold the tag of a fork.
    pub fn unscanned(&self) -> &[Rc<Entry>] {
        &self.entries[self.scanned.get()..]
    }

    /// No entry holds the tag of a fork.
    pub fn is_scanned(&self) {
        self.scanned.set(self.entries.len());
    }

    /// All entries are sent now.
    pub fn is_sent(&self) {
        self.same.set(self.entries.len());
    }
}

impl Deref for History {
    type Target = [Rc<Entry>];

    fn deref(&self) -> &[Rc<Entry>] {
        &self.entries
    }
}

/// A history that begins as it was sent, by a parent or by an earlier run.
impl From<Vec<Rc<Entry>>> for History {
    fn from(entries: Vec<Rc<Entry>>) -> Self {
        Self { same: Cell::new(entries.len()), scanned: Cell::new(0), entries }
    }
}

impl Extend<Rc<Entry>> for History {
    fn extend<I: IntoIterator<Item = Rc<Entry>>>(&mut self, entries: I) {
        self.entries.extend(entries);
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, History};
    use crate::agent::entry::Nature;

    #[test]
    fn a_change_in_the_middle_is_known_and_growth_is_none() {
        let entry = |text: &str| Entry::user(text.into(), text, Nature::Typed);
        let mut history = History::from(vec![entry("a"), entry("b"), entry("c")]);
        history.push(entry("d"));
        assert_eq!(history.same(), 3);
        history.is_sent();
        history.is_scanned();
        history.extend([entry("e")]);
        assert_eq!(history.unscanned().len(), 1);
        history.truncate(4);
        assert_eq!(history.same(), 4, "what was not sent is dropped");
        history.put(1, entry("B"));
        history.put(2, entry("C"));
        assert_eq!((history.same(), history.unscanned().len()), (1, 3));
        history.is_sent();
        history.replace(vec![entry("summary")]);
        assert_eq!((history.same(), history.len()), (0, 1));
    }
}
