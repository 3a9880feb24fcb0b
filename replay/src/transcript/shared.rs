//! Names that repeat among the items of all conversations (models, versions, tools), stored once for each thread that unpacks.

use std::cell::RefCell;
use std::sync::Arc;

use forkcast_sim::wire::Index;
use serde::{Deserialize, Deserializer};

/// More different names than this are no names of models, versions and tools.
const NAMES_MAX: usize = 1_000;

thread_local! {
    static KNOWN: RefCell<Index<Arc<str>, Arc<str>>> = RefCell::default();
}

fn shared(name: &str) -> Arc<str> {
    KNOWN.with_borrow_mut(|known| match known.get(name) {
        Some(name) => name.clone(),
        None => {
            let name: Arc<str> = Arc::from(name);
            if known.len() < NAMES_MAX {
                known.insert(name.clone(), name.clone());
            }
            name
        }
    })
}

/// Reads a name.
pub(super) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
    <&str>::deserialize(from).map(shared)
}

/// Reads a name that may be missing.
pub(super) fn optional<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<str>>, D::Error> {
    <Option<&str>>::deserialize(from).map(|name| name.map(shared))
}
