//! The habits of clients, as data: which rule holds for which versions, why, and how sure that is.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::wire::model::Resolved;

/// The rules by which a client moves its own prefix, and the plain ones.
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
}

impl RuleName {
    /// The cause of what is missed by the rule; `None` where it foresees no miss.
    pub const fn cause(self) -> Option<Cause> {
        Some(match self {
            Self::Full | Self::FollowUp | Self::Interrupted => return None,
            Self::ModelChanged => Cause::ModelChanged,
            Self::Compacted => Cause::Compacted,
            Self::Restarted => Cause::SystemChanged,
            Self::Background => Cause::MessageEdited,
            Self::MicroCompacted | Self::Cleared => Cause::ResultsCleared,
            Self::VersionChanged => Cause::SystemChanged,
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
        }
    }
}

/// The habits of one client in one version with one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// A hidden request follows the end of a turn, where nothing yet shows otherwise.
    pub follows_up: bool,
    /// Tools that are asked for go into the list of tools.
    pub tools_load_into_list: bool,
    /// The model drops thinking of earlier turns when a user speaks.
    pub strips_thinking: bool,
    /// The first system block is shared by everybody.
    pub global_head: bool,
    /// Prompts without a note of thinking run without.
    pub switches_thinking: bool,
    /// The state of thinking stands in the hidden prefix, too.
    pub thinking_in_head: bool,
    /// One breakpoint in the messages, on the last block.
    pub one_marker: bool,
    /// Notes about background work are put in while a turn lasts, and go away with it.
    pub notes_background: bool,
    /// The request that compacts reads the hidden prefix.
    pub compaction_reads_head: bool,
}

/// A version of three numbers.
pub type Version = (u32, u32, u32);

/// The numbers of a version such as `2.1.63`; what is missing is zero.
pub fn version(text: &str) -> Version {
    let mut parts = text.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// Versions in which no hidden request was seen behind answers.
const WITHOUT_FOLLOW_UP: [Version; 5] = [(2, 1, 15), (2, 1, 29), (2, 1, 36), (2, 1, 45), (2, 1, 47)];

impl Profile {
    /// The habits of Claude Code.
    pub fn claude_code(version: Version, model: &Resolved) -> Self {
        Self {
            follows_up: !WITHOUT_FOLLOW_UP.contains(&version),
            tools_load_into_list: version == (2, 1, 205),
            global_head: version >= (2, 1, 205),
            switches_thinking: ((2, 1, 14)..=(2, 1, 37)).contains(&version),
            thinking_in_head: model.id.row().id == "claude-opus-4-6",
            one_marker: version >= (2, 1, 100),
            notes_background: version < (2, 1, 64),
            compaction_reads_head: version >= (2, 1, 38),
            ..Self::plain(model)
        }
    }

    /// A client of which nothing is known: it sends what it sent, and more.
    pub fn plain(model: &Resolved) -> Self {
        Self {
            follows_up: false,
            tools_load_into_list: false,
            strips_thinking: model.id.row().keeps_thinking == Some(false),
            global_head: false,
            switches_thinking: false,
            thinking_in_head: false,
            one_marker: false,
            notes_background: false,
            compaction_reads_head: false,
        }
    }
}
