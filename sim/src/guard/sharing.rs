//! Rule (b): what a chain's first request has to share, and with which requests.
//!
//! A fork shares with its parent's request everything that the parent's breakpoints cover, and with its siblings the
//! part that these shared beyond it. Agents with briefs of their own share tools and system prompt with others of their
//! kind, and the further beginning of the first message that these had in common. Each agent's own instructions need
//! not be shared.

use std::ops::Range;
use std::sync::Arc;

use super::identity::{Kinship, Sibling};
use super::member::Member;
use crate::diagnosis::{Cause, Difference, Subject};

/// Selects the differences to an older request that count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Within {
    /// Blocks of the older request that have to be kept.
    blocks: Range<usize>,
    /// Model and parameters have to be kept too.
    settings: bool,
}

impl Within {
    /// Whether its breakpoints have to reach the entries that the older request left in the cache.
    pub fn asks_breakpoints(&self, older: &Subject) -> bool {
        self.settings && self.blocks.start == 0 && self.blocks.end >= older.covered()
    }

    /// Whether a difference counts. Others belong to the newer request, and stay as they are.
    pub fn concerns(&self, found: &Difference) -> bool {
        match found.cause {
            Cause::ModelChanged | Cause::LevelParameter => self.settings,
            _ => self.blocks.contains(&found.old_index),
        }
    }
}

/// A request that a first one is compared with.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// The older request.
    pub older: Arc<Member>,
    /// The part of it that has to be shared.
    pub within: Within,
}

/// The requirements of a kinship.
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
