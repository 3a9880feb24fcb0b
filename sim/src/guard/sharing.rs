//! Rule (b): what a chain's first request has to share, and with whom.
//!
//! A fork shares with its parent's request all that the breakpoints of that cover, and with its siblings what these shared
//! beyond it. Agents with briefs of their own share tools and system prompt with others of their kind, and what else of
//! their first message these had in common. What each is told alone is nobody's.

use std::ops::Range;
use std::sync::Arc;

use super::identity::{Kinship, Sibling};
use super::member::Member;
use crate::diagnosis::{Cause, Difference, Subject};

/// Which differences to an older request count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Within {
    /// Blocks of the older request that have to be kept.
    blocks: Range<usize>,
    /// Model and parameters have to be kept too.
    settings: bool,
}

impl Within {
    /// Whether its breakpoints have to reach what the older request left in the cache.
    pub fn asks_breakpoints(&self, older: &Subject) -> bool {
        self.settings && self.blocks.start == 0 && self.blocks.end >= older.covered()
    }

    /// Whether a difference counts. What does not is the newer request's own, and stays as it is.
    pub fn concerns(&self, found: &Difference) -> bool {
        match found.cause {
            Cause::ModelChanged | Cause::LevelParameter => self.settings,
            _ => self.blocks.contains(&found.old_index),
        }
    }
}

/// A request that a first one is held against.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// The older request.
    pub older: Arc<Member>,
    /// What of it has to be shared.
    pub within: Within,
}

/// What a kinship asks for.
pub(super) fn demands(kinship: &Kinship<Arc<Member>>) -> Vec<Demand> {
    let beyond = |sibling: &Sibling<Arc<Member>>| {
        let within = Within { blocks: sibling.shared.clone(), settings: false };
        Demand { older: Arc::clone(&sibling.first), within }
    };
    match kinship {
        Kinship::Fork { parent, until, sibling, .. } => {
            let within = Within { blocks: 0..*until, settings: true };
            let inherited = Demand { older: Arc::clone(parent), within };
            std::iter::once(inherited).chain(sibling.as_ref().map(beyond)).collect()
        }
        Kinship::Brief(sibling) => vec![beyond(sibling)],
        Kinship::New => Vec::new(),
    }
}
