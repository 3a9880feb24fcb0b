//! Remote feature flags: cold (`false`) until something warms them, in mid-session too (contract PROMPT-05).

use std::cell::RefCell;
use std::collections::BTreeMap;

/// Flags by name; an absent one is cold.
#[derive(Clone, Debug, Default)]
pub struct Flags(RefCell<BTreeMap<String, bool>>);

impl Flags {
    /// Flags with these values.
    pub fn new(flags: BTreeMap<String, bool>) -> Self {
        Self(RefCell::new(flags))
    }

    /// Whether `flag` is warm.
    pub fn is_on(&self, flag: &str) -> bool {
        self.0.borrow().get(flag).copied().unwrap_or(false)
    }

    /// Gives `flag` a value; says whether it changed.
    pub fn set(&self, flag: &str, value: bool) -> bool {
        self.0.borrow_mut().insert(flag.to_owned(), value).unwrap_or(false) != value
    }
}
