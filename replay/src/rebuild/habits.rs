//! What a client does to its prompts between two requests, told by the signs that it leaves in a transcript.
//!
//! Pure: what is known before the request goes out leads to [`Change`]s of what it sends. Versions and reasons of each
//! rule stand in [`RULES`](super::profile::RULES).

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::time::{Duration, Instant};

use super::profile::{Profile, RuleName};

/// What changes in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// How the prompt changes.
    pub how: How,
    /// The cause of what is missed by it.
    pub cause: Cause,
    /// The rule that says so.
    pub rule: RuleName,
    /// Line of the transcript that shows it.
    pub line: u32,
}

/// How a prompt changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The hidden prefix is another.
    System,
    /// The message level has other parameters; when they come back, so does the prefix.
    State,
    /// Everything behind the hidden prefix was written anew.
    Messages,
    /// Thinking of earlier turns is taken out.
    StripThinking,
}

/// What is known when a request goes out, its own usage apart.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    /// Line of a sign that the client was started anew.
    pub restarted: Option<u32>,
    /// Line of a micro-compaction.
    pub micro_compacted: Option<u32>,
    /// Line of a compaction.
    pub compacted: Option<u32>,
    /// Line of a return to an earlier point.
    pub rewound: Option<u32>,
    /// Line from which on the state of thinking or effort is another than that of the request before.
    pub state_changed: Option<u32>,
    /// Line from which on the client has another version.
    pub version_changed: Option<u32>,
    /// Line of a call that loads tools.
    pub tools_loaded: Option<u32>,
    /// A person's prompt begins a turn; line.
    pub turn_begins: Option<u32>,
    /// The prompt is so much smaller than what was sent before, in tokens.
    pub shrunk_tokens: u64,
    /// Line of the request.
    pub line: u32,
}

/// A prompt that lost no more than this may have lost a frame; one that lost more had something cleared.
const SHRUNK_TOKENS_MIN: u64 = 64;

/// The changes that the signs tell of, the first to be named first.
pub fn changes(profile: &Profile, situation: &Situation) -> Vec<Change> {
    let shrunk =
        situation.shrunk_tokens > SHRUNK_TOKENS_MIN && situation.compacted.is_none() && situation.rewound.is_none();
    let told = [
        (situation.version_changed, How::System, Cause::SystemChanged, RuleName::VersionChanged),
        (
            situation.tools_loaded.filter(|_| profile.tools_load_into_list),
            How::System,
            Cause::ToolsAdded,
            RuleName::ToolsLoaded,
        ),
        (situation.state_changed, How::State, Cause::LevelParameter, RuleName::StateChanged),
        (situation.restarted, How::Messages, Cause::MessageEdited, RuleName::Restarted),
        (situation.micro_compacted, How::Messages, Cause::ResultsCleared, RuleName::MicroCompacted),
        (Some(situation.line).filter(|_| shrunk), How::Messages, Cause::ResultsCleared, RuleName::Shrunk),
        (
            situation.turn_begins.filter(|_| profile.strips_thinking),
            How::StripThinking,
            Cause::ThinkingStripped,
            RuleName::ThinkingStripped,
        ),
    ];
    told.into_iter().filter_map(|(line, how, cause, rule)| Some(Change { how, cause, rule, line: line? })).collect()
}

/// What is known of the end of a turn when the next request goes out.
#[derive(Clone, Copy, Debug)]
pub struct TurnEnd {
    /// When the last answer ended.
    pub ended_at: Instant,
    /// When the next request goes out.
    pub next_at: Instant,
    /// What the last request wrote into the cache.
    pub written_tokens: u64,
    /// The client plans and does nothing.
    pub plan_mode: bool,
}

/// A hidden request does not come about where the next prompt comes faster (observed 2026-01 to 2026-08).
const FOLLOW_UP_AFTER: Duration = Duration::from_secs(8);

/// The client is believed to have sent a hidden request behind the last answer.
pub fn followed_up(profile: &Profile, end: &TurnEnd) -> bool {
    profile.follows_up
        && !end.plan_mode
        && end.next_at.since(end.ended_at) >= FOLLOW_UP_AFTER
        && end.written_tokens < profile.follow_up_written_max
}
