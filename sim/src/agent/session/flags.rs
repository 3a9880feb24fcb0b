//! Remote feature flags: cold (`false`) until warmed, possibly in mid-session (contract PROMPT-05).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Flags by name; an absent one is cold.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    values: RefCell<BTreeMap<String, bool>>,
    revision: Cell<u64>,
}

impl Flags {
    /// Flags with these values.
    pub fn new(flags: BTreeMap<String, bool>) -> Self {
        Self { values: RefCell::new(flags), revision: Cell::new(0) }
    }

    /// Whether `flag` is warm.
    pub fn is_on(&self, flag: &str) -> bool {
        self.values.borrow().get(flag).copied().unwrap_or(false)
    }

    /// Sets `flag`; returns whether it changed.
    pub fn set(&self, flag: &str, value: bool) -> bool {
        let changed = self.values.borrow_mut().insert(flag.to_owned(), value).unwrap_or(false) != value;
        if changed {
            self.revision.set(self.revision.get() + 1);
        }
        changed
    }

    /// Number of changes so far; values derived from flags are valid while it stays the same.
    pub fn revision(&self) -> u64 {
        self.revision.get()
    }

    /// The warm flags, ordered by name.
    pub fn warm(&self) -> Vec<Rc<str>> {
        let values = self.values.borrow();
        values.iter().filter(|(_, value)| **value).map(|(flag, _)| flag.as_str().into()).collect()
    }
}
