//! The habits of clients, as data: which rule holds for which versions, why, and how sure that is.

/// The rules by which a client moves its own prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleName {
    /// Thinking or effort was switched.
    StateChanged,
    /// The client was started anew.
    Restarted,
    /// Old results were cleared, and the client says so.
    MicroCompacted,
    /// Old results were cleared in silence.
    Shrunk,
    /// The model drops thinking of earlier turns.
    ThinkingStripped,
    /// Tools were loaded into the list of tools.
    ToolsLoaded,
    /// The client has another version.
    VersionChanged,
    /// A hidden request extends the prefix at the end of a turn.
    FollowUp,
    /// Another session keeps the hidden prefix alive.
    SharedHead,
}

impl RuleName {
    /// What its sign shows, for people.
    pub const fn shows(self) -> &'static str {
        match self {
            Self::StateChanged => "thinking or effort was switched",
            Self::Restarted => "the client was started anew",
            Self::MicroCompacted => "the client cleared old results",
            Self::Shrunk => "the prompt became smaller: old results were cleared",
            Self::ThinkingStripped => "the model drops thinking of earlier turns",
            Self::ToolsLoaded => "tools were loaded",
            Self::VersionChanged => "another version of the client",
            Self::FollowUp => "a hidden request",
            Self::SharedHead => "another session",
        }
    }
}

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: RuleName,
    /// Versions for which it was seen, for people.
    pub versions: &'static str,
    /// Why the client does so.
    pub rationale: &'static str,
    /// What it rests on.
    pub evidence: &'static str,
}

/// All rules.
pub const RULES: &[Rule] = &[];

/// The habits of one client in one version with one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// A hidden request follows the end of a turn.
    pub follows_up: bool,
    /// … unless the last request wrote more than this.
    pub follow_up_written_max: u64,
    /// Tools that are asked for go into the list of tools.
    pub tools_load_into_list: bool,
    /// The model drops thinking of earlier turns when a user speaks.
    pub strips_thinking: bool,
    /// The first system block is shared by everybody.
    pub global_head: bool,
}

/// A version of three numbers.
pub type Version = (u32, u32, u32);

/// The numbers of a version such as `2.1.63`; what is missing is zero.
pub fn version(text: &str) -> Version {
    let mut parts = text.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

impl Profile {
    /// The habits of Claude Code.
    pub fn claude_code(version: Version, keeps_thinking: bool) -> Self {
        let follows_up = version >= (2, 1, 205) || [(2, 1, 7), (2, 1, 33), (2, 1, 42)].contains(&version);
        Self {
            follows_up,
            follow_up_written_max: 50_000,
            tools_load_into_list: version == (2, 1, 205),
            strips_thinking: !keeps_thinking,
            global_head: version >= (2, 1, 205),
        }
    }

    /// A client of which nothing is known: it sends what it sent, and more.
    pub fn plain(keeps_thinking: bool) -> Self {
        Self {
            follows_up: false,
            follow_up_written_max: 0,
            tools_load_into_list: false,
            strips_thinking: !keeps_thinking,
            global_head: false,
        }
    }
}
