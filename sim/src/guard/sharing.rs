//! Rule (b): what a chain's first request has to share, and with which requests.
//!
//! A fork shares with its parent's request everything that the parent's breakpoints cover, and with its siblings the
//! part that these shared beyond it. Agents with briefs of their own share tools and system prompt with others of their
//! kind, and the further beginning of the first message that these had in common. Each agent's own instructions need
//! not be shared. What agents of one kind never shared is compared too, under a rule of its own: it costs as much, but no
//! change broke it.

use std::ops::Range;
use std::sync::Arc;

use super::finding::Rule;
use super::identity::{Kinship, Relative, Sibling};
use super::member::Member;
use crate::diagnosis::{Cause, Difference, Subject};

/// Selects the differences to an older request that count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Within {
    /// The rule that such a difference breaks.
    pub rule: Rule,
    /// The older request belongs to another agent of the same kind, see [`Finding::with_sibling`](super::Finding::with_sibling).
    pub with_sibling: bool,
    /// Blocks of the older request that have to be kept.
    blocks: Range<usize>,
    /// Model and parameters have to be kept too.
    settings: bool,
}

impl Within {
    /// Whether its breakpoints have to reach the entries that the older request left in the cache.
    pub fn asks_breakpoints(&self, older: &Subject) -> bool {
        self.rule == Rule::Sharing && self.settings && self.blocks.start == 0 && self.blocks.end >= older.covered()
    }

    /// Whether a difference counts. Others belong to the newer request, and stay as they are.
    pub fn concerns(&self, found: &Difference) -> bool {
        match found.cause {
            // Each agent may have settings of its own; a cache key only says which cache to look in.
            Cause::LevelParameter if self.rule == Rule::Siblings => found.path == "prompt_cache_key",
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
    let beyond = |sibling: &Sibling<Arc<Member>>, with_sibling: bool| {
        let within = Within { rule: Rule::Sharing, with_sibling, blocks: sibling.shared.clone(), settings: false };
        Demand { older: Arc::clone(&sibling.first), within }
    };
    // The part of tools and system prompt that the kind did not share before, so that no change can have parted it.
    let differing = |sibling: &Sibling<Arc<Member>>| {
        let blocks = sibling.shared.end..sibling.could_share;
        let within = Within { rule: Rule::Siblings, with_sibling: true, blocks, settings: true };
        Demand { older: Arc::clone(&sibling.first), within }
    };
    match kinship {
        Kinship::Fork { parent, until, sibling, .. } => {
            let within = Within { rule: Rule::Sharing, with_sibling: false, blocks: 0..*until, settings: true };
            let inherited = Demand { older: Arc::clone(parent), within };
            let other = sibling.as_ref().map(|sibling| beyond(sibling, false));
            std::iter::once(inherited).chain(other).collect()
        }
        Kinship::Brief(sibling) if sibling.first.sender().is_named() => vec![beyond(sibling, true), differing(sibling)],
        // Nothing says that these are agents of one run: they may be sessions of two versions.
        Kinship::Brief(sibling) => {
            let Demand { older, within } = differing(sibling);
            vec![Demand { older, within: Within { blocks: 0..within.blocks.end.max(sibling.shared.end), ..within } }]
        }
        Kinship::New => Vec::new(),
    }
}
