//! Options of a session that concern forks: how they are made, when they start, and what is broken about them on purpose.

use std::collections::BTreeSet;

use crate::outside::words;
use crate::time::Duration;

/// The type of every fork (FORK-08).
pub const TYPE: &str = "fork";

/// Where the requests of a fork come from (FORK-43).
pub const QUERY_SOURCE: &str = "agent:builtin:fork";

words! {
    /// How a fork's messages are made.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Profile {
        /// As the contract says: the parent's whole message, a placeholder for each of its calls, the directive as the last
        /// text block. An omitted type means a fork, and the gate makes every agent a background one.
        #[default]
        Documents = "documents",
        /// As the client of 2026 sends it (`clients.md` 1, version 2.1.330, seen 2026-11-21): `subagent_type: "fork"`, sessions
        /// without a terminal too, the child's own call alone, and the directive in that call's result.
        Client2026 = "client-2026",
    }
}

/// Options of a session that concern forks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forks {
    /// How their messages are made.
    pub profile: Profile,
    /// When they start.
    pub launch: LaunchPolicy,
    /// Principles that are broken on purpose.
    pub ablations: BTreeSet<Ablation>,
}

/// When the children of one message start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaunchPolicy {
    /// All at once, as clients do (`clients.md` 1: two forks and the parent's next request within 7 ms).
    #[default]
    Burst,
    /// One goes first, the others wait for its first byte: from then on what it wrote can be read.
    Primed,
    /// Each so long after the one before.
    Stagger(Duration),
    /// So many at a time; the next wave waits until every child of the one before had its first byte.
    Waves(u32),
}

impl LaunchPolicy {
    /// The word in settings and on the command line.
    pub fn name(self) -> String {
        match self {
            Self::Burst => "burst".to_owned(),
            Self::Primed => "primed".to_owned(),
            Self::Stagger(span) => format!("stagger={}", span.as_millis()),
            Self::Waves(size) => format!("waves={size}"),
        }
    }

    /// What the word says.
    ///
    /// # Errors
    /// What was expected in its place.
    pub fn named(word: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u32>().ok();
        let known = match word.split_once('=') {
            None if word == "burst" => Some(Self::Burst),
            None if word == "primed" => Some(Self::Primed),
            Some(("stagger", ms)) => number(ms).map(|ms| Self::Stagger(Duration::from_millis(ms.into()))),
            Some(("waves", size)) => number(size).filter(|size| *size > 0).map(Self::Waves),
            _ => None,
        };
        known.ok_or_else(|| {
            format!(
                "there is no launch policy {}; expected `burst`, `primed`, `stagger=MS` or `waves=N` (N from 1)",
                crate::outside::found(word)
            )
        })
    }
}

words! {
    /// A principle that is broken on purpose.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Ablation {
        /// The child's system prompt is rendered anew, so a flag that flipped meanwhile shows (CACHE-19).
        ReRender = "re-render",
        /// One space more in the child's system prompt (CACHE-04).
        AddedSpace = "added-space",
        /// The child's tools are put together as for a named agent behind (CACHE-08).
        FilterTools = "filter-tools",
        /// The child has no `Agent` tool (CACHE-17).
        DropAgent = "drop-agent",
        /// Two of the child's tools stand in another order (CACHE-05).
        ReorderTools = "reorder-tools",
        /// The child's permission mode shows in the words of a tool (CACHE-21).
        ModeInTools = "mode-in-tools",
        /// Only the current turn of the history is passed on (CACHE-18).
        StripHistory = "strip-history",
        /// Real results in the place of placeholders (CACHE-16).
        RealResults = "real-results",
        /// The directive stands among the shared results (CACHE-20).
        Interleave = "interleave",
        /// The child asks another model (CACHE-11).
        OtherModel = "other-model",
        /// The child thinks under another setting (CACHE-12).
        OtherThinking = "other-thinking",
        /// A named agent in the place of the fork (CACHE-13).
        NamedSpawn = "named-spawn",
        /// Where the child's requests come from is not passed on; the scan must find it (FORK-45).
        LoseQuerySource = "lose-query-source",
    }
}
