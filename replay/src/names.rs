//! Unique names.

use std::collections::{BTreeMap, BTreeSet};

/// The names given so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: BTreeSet<String>,
    /// The number of requests for each.
    times: BTreeMap<String, usize>,
}

impl Names {
    /// None of `given` is given again.
    pub fn reserved(given: BTreeSet<String>) -> Self {
        Self { given, times: BTreeMap::new() }
    }

    /// `name`, with a number at the end if it was given before.
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
