//! Options for forks: how they are built, when they and other agents of one message start, and their deliberate faults.

use std::collections::BTreeSet;

use crate::outside::words;
use crate::time::Duration;

/// The type of every fork (FORK-08).
pub const TYPE: &str = "fork";

/// The origin of a fork's requests (FORK-43).
pub const QUERY_SOURCE: &str = "agent:builtin:fork";

words! {
    /// How a fork's messages are built.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Profile {
        /// As the contract says: the parent's whole message, a placeholder for each of its calls, the directive as the
        /// last text block. An omitted type means a fork, and an open gate sends every agent to the background.
        #[default]
        Documents = "documents",
        /// As the client of 2026 does (`clients.md` 1, version 2.1.330, seen 2026-11-21): `subagent_type: "fork"`, also
        /// without a terminal; the child has only its own call, and the directive is in that call's result.
        Client2026 = "client-2026",
    }
}

/// Options for forks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forks {
    /// How their messages are built.
    pub profile: Profile,
    /// When they start, and when the named agents of one message and type do.
    pub launch: LaunchPolicy,
    /// Principles that are deliberately broken.
    pub ablations: BTreeSet<Ablation>,
}

/// When the children of one message start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaunchPolicy {
    /// All at once, as clients do (`clients.md` 1: two forks and the parent's next request within 7 ms).
    #[default]
    Burst,
    /// One starts first; the others wait for its first byte, after which its cache entry can be read.
    Primed,
    /// Each starts this long after the previous one.
    Stagger(Duration),
    /// This many at a time; the next wave starts when every child of the previous wave has its first byte.
    Waves(u32),
    /// One at a time, of whatever type: each starts when the previous one has ended.
    Serial,
}

impl LaunchPolicy {
    /// The name in settings and on the command line.
    pub fn name(self) -> String {
        match self {
            Self::Burst => "burst".to_owned(),
            Self::Primed => "primed".to_owned(),
            Self::Stagger(span) => format!("stagger={}", span.as_millis()),
            Self::Waves(size) => format!("waves={size}"),
            Self::Serial => "serial".to_owned(),
        }
    }

    /// Parses a name.
    ///
    /// # Errors
    /// The expectation.
    pub fn named(word: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u32>().ok();
        let known = match word.split_once('=') {
            None if word == "burst" => Some(Self::Burst),
            None if word == "primed" => Some(Self::Primed),
            None if word == "serial" => Some(Self::Serial),
            Some(("stagger", ms)) => number(ms).map(|ms| Self::Stagger(Duration::from_millis(ms.into()))),
            Some(("waves", size)) => number(size).filter(|size| *size > 0).map(Self::Waves),
            _ => None,
        };
        known.ok_or_else(|| {
            format!(
                "there is no launch policy {}; expected `burst`, `primed`, `serial`, `stagger=MS` or `waves=N` (N from 1)",
                crate::outside::found(word)
            )
        })
    }
}

words! {
    /// A principle that is deliberately broken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Ablation {
        /// The child's system prompt is rendered again, so it shows flags that flipped meanwhile (CACHE-19).
        ReRender = "re-render",
        /// One more space in the child's system prompt (CACHE-04).
        AddedSpace = "added-space",
        /// The child's tools are those of a named background agent (CACHE-08).
        FilterTools = "filter-tools",
        /// The child has no `Agent` tool (CACHE-17).
        DropAgent = "drop-agent",
        /// Two of the child's tools are swapped (CACHE-05).
        ReorderTools = "reorder-tools",
        /// The child's permission mode appears in a tool's description (CACHE-21).
        ModeInTools = "mode-in-tools",
        /// Only the current turn of the history is passed on (CACHE-18).
        StripHistory = "strip-history",
        /// Real results instead of placeholders (CACHE-16).
        RealResults = "real-results",
        /// The directive is among the shared results (CACHE-20).
        Interleave = "interleave",
        /// The child uses another model (CACHE-11).
        OtherModel = "other-model",
        /// The child uses another `thinking` setting (CACHE-12).
        OtherThinking = "other-thinking",
        /// A named agent instead of the fork (CACHE-13).
        NamedSpawn = "named-spawn",
        /// The origin of the child's requests is lost, so the scan must detect the fork (FORK-45).
        LoseQuerySource = "lose-query-source",
    }
}
