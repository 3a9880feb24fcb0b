//! The habits of clients, as data: which rule holds for which versions, why, and how sure that is.

mod habits;
mod rule;

pub use habits::{Confidence, HABITS, Habit};
pub use rule::{RuleName, RuleSet};

use forkcast_sim::wire::model::Resolved;

use crate::formats::Format;
pub use crate::transcript::{Version, version};

/// What holds for one client in one version with one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The rules that hold.
    pub rules: RuleSet,
    /// A hidden request follows the end of a turn, where nothing yet shows otherwise.
    pub follows_up: bool,
    /// The client may edit what it sent when a turn ends, without a sign.
    pub edits_turns: bool,
    /// The header of fast mode stays once it was sent.
    pub stays_fast: bool,
    /// Everybody with this version and model shares the first block of the hidden prefix.
    pub shares_head: bool,
    /// The model drops thinking of earlier turns when a user speaks.
    pub strips_thinking: bool,
    /// The state of thinking is also in the hidden prefix.
    pub thinking_in_head: bool,
}

/// Versions in which no hidden request was observed after answers. Release notes of 2.1.49, 2.1.50 and 2.1.62 each fix a "prompt
/// suggestion cache regression".
const WITHOUT_FOLLOW_UP: [Version; 5] = [(2, 1, 15), (2, 1, 29), (2, 1, 36), (2, 1, 45), (2, 1, 47)];

/// Since this version turns end without a change of the prompt: 1 fall of 519 ends of turns up to 2.1.199.
const TURNS_KEPT_SINCE: Version = (2, 1, 64);

/// Up to this version a switch of effort was seen to rewrite the prompt of every model. Later clients send it as a message to
/// models that accept system messages within a conversation, which keeps the cache (`providers-2026-11.md` E).
const EFFORT_REWRITES_UNTIL: Version = (2, 1, 219);

/// Since this version the header of fast mode stays until the conversation is summarised (the client's prompt-caching page).
const FAST_STAYS_SINCE: Version = (2, 1, 86);

/// Since this version the first system block is cached for everybody (release notes of 2.1.84).
const HEAD_SHARED_SINCE: Version = (2, 1, 84);

impl Profile {
    /// The habits of `client` in the version that it names, without those of `left_out`. Of a client without a version,
    /// the rules that hold for every client and every version are known.
    pub fn of(client: Format, version: Option<Version>, model: &Resolved, left_out: RuleSet) -> Self {
        let holding = HABITS.iter().filter(|habit| habit.holds(client, version));
        let mut rules = holding.fold(RuleSet::default(), |rules, habit| rules.with(habit.rule)).without(left_out);
        if !takes_system_messages(model) {
            rules = rules.without(RuleSet::of(RuleName::Tail));
        } else if client == Format::ClaudeCode && version.is_some_and(|version| version > EFFORT_REWRITES_UNTIL) {
            rules = rules.without(RuleSet::of(RuleName::Effort));
        }
        Self {
            rules,
            follows_up: version.is_some_and(|version| !WITHOUT_FOLLOW_UP.contains(&version)),
            edits_turns: version.is_some_and(|version| version < TURNS_KEPT_SINCE),
            stays_fast: version.is_some_and(|version| version >= FAST_STAYS_SINCE),
            shares_head: client == Format::ClaudeCode && version.is_some_and(|version| version >= HEAD_SHARED_SINCE),
            strips_thinking: model.id.row().keeps_thinking == Some(false) && rules.contains(RuleName::Stripped),
            thinking_in_head: model.id.row().id == "claude-opus-4-6",
        }
    }

    /// Whether `rule` holds.
    pub const fn has(&self, rule: RuleName) -> bool {
        self.rules.contains(rule)
    }
}

/// Models to which the client sends system messages within a conversation: Opus 4.8 and all of the fifth generation
/// (`providers.md` 1.8; Sonnet 5 gets them too, though the document leaves it out).
fn takes_system_messages(model: &Resolved) -> bool {
    model.id.row().claude.is_some_and(|(_, version)| version >= (4, 8))
}
