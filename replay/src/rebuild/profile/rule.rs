//! The rules by name: what each foresees, and what shows it.

use forkcast_sim::diagnosis::Cause;

/// The rules by which a client moves its own prefix, and those of what stays alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleName {
    /// All that the request before left is read.
    Full,
    /// A hidden request extended the prefix by the last answer.
    FollowUp,
    /// A prompt was sent and interrupted, and extended the prefix.
    Interrupted,
    /// Another model.
    ModelChanged,
    /// The conversation was replaced by a summary.
    Compacted,
    /// The client was started anew.
    Restarted,
    /// The client was started anew, shown by a prompt that did not pass its queue.
    Unqueued,
    /// Old results were cleared, and the client says so.
    MicroCompacted,
    /// Old results were cleared in silence.
    Cleared,
    /// Another version of the client.
    VersionChanged,
    /// Thinking was switched.
    Thinking,
    /// Effort was switched.
    Effort,
    /// A request was repeated without a stream.
    AtOnce,
    /// A turn with background work ended.
    Background,
    /// Tools were loaded into the list of tools.
    ToolsLoaded,
    /// The lifetime is over.
    Expired,
    /// The model drops thinking of earlier turns.
    Stripped,
    /// The conversation goes on from an earlier point.
    Rewound,
    /// More blocks came in than the cache looks back.
    BeyondReach,
    /// Other sessions of the user keep the hidden prefix alive.
    SharedHead,
    /// Somebody whose sessions are not in the input keeps the hidden prefix alive.
    KeptWarm,
    /// Everybody shares the first block of the hidden prefix.
    GlobalHead,
    /// The request that compacts reads the hidden prefix.
    CompactionReadsHead,
}

impl RuleName {
    /// Stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::FollowUp => "follow_up",
            Self::Interrupted => "interrupted",
            Self::ModelChanged => "model_changed",
            Self::Compacted => "compacted",
            Self::Restarted => "restarted",
            Self::Unqueued => "unqueued",
            Self::MicroCompacted => "micro_compacted",
            Self::Cleared => "cleared",
            Self::VersionChanged => "version_changed",
            Self::Thinking => "thinking",
            Self::Effort => "effort",
            Self::AtOnce => "at_once",
            Self::Background => "background",
            Self::ToolsLoaded => "tools_loaded",
            Self::Expired => "expired",
            Self::Stripped => "stripped",
            Self::Rewound => "rewound",
            Self::BeyondReach => "beyond_reach",
            Self::SharedHead => "shared_head",
            Self::KeptWarm => "kept_warm",
            Self::GlobalHead => "global_head",
            Self::CompactionReadsHead => "compaction_reads_head",
        }
    }

    /// The cause of what is missed by the rule; `None` where it foresees no miss.
    pub const fn cause(self) -> Option<Cause> {
        Some(match self {
            Self::Full | Self::FollowUp | Self::Interrupted => return None,
            Self::SharedHead | Self::KeptWarm | Self::GlobalHead | Self::CompactionReadsHead => return None,
            Self::ModelChanged => Cause::ModelChanged,
            Self::Compacted => Cause::Compacted,
            Self::Restarted | Self::Unqueued | Self::VersionChanged => Cause::SystemChanged,
            Self::Background => Cause::MessageEdited,
            Self::MicroCompacted | Self::Cleared => Cause::ResultsCleared,
            Self::Thinking | Self::Effort | Self::AtOnce => Cause::LevelParameter,
            Self::ToolsLoaded => Cause::ToolsAdded,
            Self::Expired => Cause::Expired,
            Self::Stripped => Cause::ThinkingStripped,
            Self::Rewound => Cause::Rewound,
            Self::BeyondReach => Cause::BeyondLookback,
        })
    }

    /// What its sign shows, for people.
    pub const fn shows(self) -> &'static str {
        match self {
            Self::Full => "nothing in the transcript",
            Self::FollowUp => "a hidden request behind the last answer",
            Self::Interrupted => "a prompt that was interrupted",
            Self::ModelChanged => "another model",
            Self::Compacted => "the conversation was compacted",
            Self::Restarted => "the client was started anew",
            Self::Unqueued => "a prompt that passed no queue: the client was started anew",
            Self::MicroCompacted => "the client cleared old results",
            Self::Cleared => "the prompt became smaller: old results were cleared",
            Self::VersionChanged => "another version of the client",
            Self::Thinking => "thinking was switched",
            Self::Effort => "effort was switched",
            Self::AtOnce => "a request was repeated without a stream",
            Self::Background => "a turn with background work ended",
            Self::ToolsLoaded => "tools were loaded",
            Self::Expired => "the lifetime was over",
            Self::Stripped => "the model drops thinking of earlier turns",
            Self::Rewound => "the conversation went on from an earlier point",
            Self::BeyondReach => "more blocks than the cache looks back",
            Self::SharedHead => "other sessions of the user",
            Self::KeptWarm => "cold starts that read something",
            Self::GlobalHead => "the version",
            Self::CompactionReadsHead => "the compaction",
        }
    }
}

/// Some of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleSet(u32);

impl RuleSet {
    /// This rule alone.
    pub const fn of(rule: RuleName) -> Self {
        Self(1 << rule as u32)
    }

    /// With `rule`.
    #[must_use]
    pub const fn with(self, rule: RuleName) -> Self {
        Self(self.0 | 1 << rule as u32)
    }

    /// Without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether `rule` is among them.
    pub const fn contains(self, rule: RuleName) -> bool {
        self.0 & 1 << rule as u32 != 0
    }
}
