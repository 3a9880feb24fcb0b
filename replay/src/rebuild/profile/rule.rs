//! The rules by name: what each foresees, and its sign in the transcript.

use forkcast_sim::diagnosis::Cause;

/// Makes [`RuleName`] from the table of rules: word, cause, sign.
macro_rules! rules {
    ($($(#[$about:meta])* $rule:ident = $word:literal, $cause:expr, $shows:literal;)+) => {
        /// The rules by which a client changes its own prefix, and those about what stays alive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum RuleName {
            $($(#[$about])* $rule,)+
        }

        impl RuleName {
            /// Stable word for machines.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$rule => $word,)+
                }
            }

            /// The cause of tokens missed by the rule; `None` if it foresees no miss.
            pub const fn cause(self) -> Option<Cause> {
                match self {
                    $(Self::$rule => $cause,)+
                }
            }

            /// Its sign, for people.
            pub const fn shows(self) -> &'static str {
                match self {
                    $(Self::$rule => $shows,)+
                }
            }
        }
    };
}

rules! {
    /// Everything that the previous request left is read.
    Full = "full", None, "nothing in the transcript";
    /// A hidden request extended the prefix by the last answer.
    FollowUp = "follow_up", None, "a hidden request after the last answer";
    /// A prompt was sent and interrupted, and extended the prefix.
    Interrupted = "interrupted", None, "a prompt that was interrupted";
    /// The client summed the session up while the user was away, and so used the prefix.
    AwaySummary = "away_summary", None, "a summary that the client asked for while the user was away";
    /// Another model.
    ModelChanged = "model_changed", Some(Cause::ModelChanged), "another model";
    /// The conversation was replaced by a summary.
    Compacted = "compacted", Some(Cause::Compacted), "the conversation was compacted";
    /// The client was restarted.
    Restarted = "restarted", Some(Cause::SystemChanged), "the client was started again";
    /// The client was restarted, shown by a prompt that did not pass its queue.
    Unqueued = "unqueued", Some(Cause::SystemChanged), "a prompt that was not queued: the client was started again";
    /// A server of tools was connected again.
    Reconnected = "reconnected", Some(Cause::SystemChanged), "a server of tools was connected again";
    /// Old results were cleared, according to the client.
    MicroCompacted = "micro_compacted", Some(Cause::ResultsCleared), "the client cleared old results";
    /// Old results were cleared without a record.
    Cleared = "cleared", Some(Cause::ResultsCleared), "the prompt became smaller: old results were cleared";
    /// Another version of the client.
    VersionChanged = "version_changed", Some(Cause::SystemChanged), "another version of the client";
    /// Thinking was switched.
    Thinking = "thinking", Some(Cause::LevelParameter), "thinking was switched";
    /// Effort was switched.
    Effort = "effort", Some(Cause::LevelParameter), "effort was switched";
    /// Fast mode was switched.
    Fast = "fast", Some(Cause::LevelParameter), "fast mode was switched";
    /// A request was repeated without a stream.
    AtOnce = "at_once", Some(Cause::LevelParameter), "a request was repeated without a stream";
    /// Tools were loaded into the list of tools.
    ToolsLoaded = "tools_loaded", Some(Cause::ToolsAdded), "tools were loaded";
    /// A hook's text moves when the turn ends.
    HookContext = "hook_context", Some(Cause::MessageEdited), "a hook added text after a tool in the turn that ended";
    /// A teammate's messages are built again while it starts.
    Teammate = "teammate", Some(Cause::MessageEdited), "a teammate's session that has just begun";
    /// Attachments follow the last breakpoint.
    Tail = "tail", None, "attachments after the last result";
    /// The lifetime is over.
    Expired = "expired", Some(Cause::Expired), "the lifetime was over";
    /// The model drops thinking of earlier turns.
    Stripped = "stripped", Some(Cause::ThinkingStripped), "the model drops thinking of earlier turns";
    /// The conversation continues from an earlier point.
    Rewound = "rewound", Some(Cause::Rewound), "the conversation went on from an earlier point";
    /// More blocks were added than the look-back covers.
    BeyondReach = "beyond_reach", Some(Cause::BeyondLookback), "more blocks than the cache looks back";
    /// Other sessions of the user keep the hidden prefix alive.
    SharedHead = "shared_head", None, "other sessions of the user";
    /// Somebody who is not in the input keeps the hidden prefix alive.
    WarmHead = "warm_head", None, "cold starts that read something";
    /// The request that compacts reads the hidden prefix.
    CompactionReadsHead = "compaction_reads_head", None, "the compaction";
}

/// Some of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleSet(u32);

impl RuleSet {
    /// Only this rule.
    pub const fn of(rule: RuleName) -> Self {
        Self(1 << rule as u32)
    }

    /// These rules.
    pub const fn of_all(rules: &[RuleName]) -> Self {
        let (mut set, mut at) = (Self(0), 0);
        while at < rules.len() {
            set = set.with(rules[at]);
            at += 1;
        }
        set
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

#[cfg(test)]
mod tests {
    use forkcast_sim::service::Evidence;

    use super::RuleName;

    #[test]
    fn thinking_that_the_model_drops_is_the_providers() {
        let is_of_provider = |rule: RuleName| {
            let evidence = Evidence { file: "a".into(), line: 1, shows: rule.shows() };
            evidence.is_of_provider(rule.cause().unwrap())
        };
        assert!(is_of_provider(RuleName::Stripped));
        assert!(!is_of_provider(RuleName::Rewound) && !is_of_provider(RuleName::ToolsLoaded));
    }
}
