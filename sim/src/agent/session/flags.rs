//! Remote feature flags: cold (`false`) until something warms them, in mid-session too (contract PROMPT-05).

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

    /// Gives `flag` a value; says whether it changed.
    pub fn set(&self, flag: &str, value: bool) -> bool {
        let changed = self.values.borrow_mut().insert(flag.to_owned(), value).unwrap_or(false) != value;
        if changed {
            self.revision.set(self.revision.get() + 1);
        }
        changed
    }

    /// How often a flag changed: what was derived from flags holds while this stays.
    pub fn revision(&self) -> u64 {
        self.revision.get()
    }

    /// The warm flags in order of their names.
    pub fn warm(&self) -> Vec<Rc<str>> {
        let values = self.values.borrow();
        values.iter().filter(|(_, value)| **value).map(|(flag, _)| flag.as_str().into()).collect()
    }
}
