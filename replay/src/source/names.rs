//! Names that are given once.

use std::collections::{BTreeMap, BTreeSet};

/// The names that were given so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: BTreeSet<String>,
    /// How often each was asked for.
    times: BTreeMap<String, usize>,
}

impl Names {
    /// `name`, with a number behind it where it was given before.
    pub fn unique(&mut self, name: &str) -> String {
        loop {
            let times = self.times.entry(name.to_owned()).or_default();
            *times += 1;
            let own = if *times == 1 { name.to_owned() } else { format!("{name}~{times}") };
            if self.given.insert(own.clone()) {
                return own;
            }
        }
    }
}
