//! The closed list of causes, the harmless notes and the volatile things, with their stable machine words.

use std::fmt;

/// Why tokens that were sent before were not read. In order of precedence: where several hold, the first is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Another model than the chain's previous request: caches are per model.
    ModelChanged,
    /// More breakpoints than the provider takes.
    BreakpointLimit,
    /// A one-hour breakpoint behind a five-minute one.
    TtlOrder,
    /// The prefix is shorter than the model's minimum.
    BelowMinimum,
    /// No breakpoint covers the tokens, in this request or in the one that sent them.
    NoBreakpoint,
    /// A setting of the request that belongs to a level's identity changed.
    LevelParameter,
    /// Tools came in.
    ToolsAdded,
    /// Tools went away.
    ToolsRemoved,
    /// The same tools in another order.
    ToolsReordered,
    /// A tool's definition changed, its name included.
    ToolChanged,
    /// The system prompt changed.
    SystemChanged,
    /// A message block changed.
    MessageEdited,
    /// A block came in before the end of the history.
    MessageInserted,
    /// A block went away from inside the history.
    MessageRemoved,
    /// A block moved within the history.
    MessageMoved,
    /// The beginning of the history was cut off.
    HistoryTruncated,
    /// The conversation went on from an earlier point.
    Rewound,
    /// Tool results in another order than before.
    ResultsReordered,
    /// Contents of old tool results were cleared.
    ResultsCleared,
    /// Thinking blocks were taken out.
    ThinkingStripped,
    /// The history was replaced by a summary.
    Compacted,
    /// Equal content with keys in another order.
    KeyOrder,
    /// An image or a document changed.
    ImageChanged,
    /// The chain's previous request was sent in another scope.
    OtherScope,
    /// The entry outlived its lifetime.
    Expired,
    /// Written by a request whose answer had not begun.
    InFlight,
    /// The entry lives, but further back than the cache looks.
    BeyondLookback,
    /// The entry was lost before its time.
    Evicted,
    /// The request reached a machine without the entry.
    RoutedElsewhere,
    /// A request that is not in the input moved the cache.
    HiddenRequest,
    /// The first request of a chain, taken as given.
    FirstRequest,
    /// The recorded usage reads less than the rules predict, and nothing in the input says why.
    Unexplained,
}

/// All causes in order of precedence.
pub const CAUSES: [Cause; 32] = [
    Cause::ModelChanged,
    Cause::BreakpointLimit,
    Cause::TtlOrder,
    Cause::BelowMinimum,
    Cause::NoBreakpoint,
    Cause::LevelParameter,
    Cause::ToolsAdded,
    Cause::ToolsRemoved,
    Cause::ToolsReordered,
    Cause::ToolChanged,
    Cause::SystemChanged,
    Cause::MessageEdited,
    Cause::MessageInserted,
    Cause::MessageRemoved,
    Cause::MessageMoved,
    Cause::HistoryTruncated,
    Cause::Rewound,
    Cause::ResultsReordered,
    Cause::ResultsCleared,
    Cause::ThinkingStripped,
    Cause::Compacted,
    Cause::KeyOrder,
    Cause::ImageChanged,
    Cause::OtherScope,
    Cause::Expired,
    Cause::InFlight,
    Cause::BeyondLookback,
    Cause::Evicted,
    Cause::RoutedElsewhere,
    Cause::HiddenRequest,
    Cause::FirstRequest,
    Cause::Unexplained,
];

impl Cause {
    /// The cause that `word` is the stable machine word of.
    pub fn of_word(word: &str) -> Option<Self> {
        CAUSES.into_iter().find(|cause| cause.word() == word)
    }

    /// The stable machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ModelChanged => "model_changed",
            Self::BreakpointLimit => "breakpoint_limit",
            Self::TtlOrder => "ttl_order",
            Self::BelowMinimum => "below_minimum",
            Self::NoBreakpoint => "no_breakpoint",
            Self::LevelParameter => "level_parameter",
            Self::ToolsAdded => "tools_added",
            Self::ToolsRemoved => "tools_removed",
            Self::ToolsReordered => "tools_reordered",
            Self::ToolChanged => "tool_changed",
            Self::SystemChanged => "system_changed",
            Self::MessageEdited => "message_edited",
            Self::MessageInserted => "message_inserted",
            Self::MessageRemoved => "message_removed",
            Self::MessageMoved => "message_moved",
            Self::HistoryTruncated => "history_truncated",
            Self::Rewound => "rewound",
            Self::ResultsReordered => "results_reordered",
            Self::ResultsCleared => "results_cleared",
            Self::ThinkingStripped => "thinking_stripped",
            Self::Compacted => "compacted",
            Self::KeyOrder => "key_order",
            Self::ImageChanged => "image_changed",
            Self::OtherScope => "other_scope",
            Self::Expired => "expired",
            Self::InFlight => "in_flight",
            Self::BeyondLookback => "beyond_lookback",
            Self::Evicted => "evicted",
            Self::RoutedElsewhere => "routed_elsewhere",
            Self::HiddenRequest => "hidden_request",
            Self::FirstRequest => "first_request",
            Self::Unexplained => "unexplained",
        }
    }

    /// What would save the tokens, in one sentence.
    pub const fn suggestion(self) -> &'static str {
        match self {
            Self::ModelChanged => {
                "Keep one model per conversation, or start the other model's work as a chain of its own."
            }
            Self::BreakpointLimit => "Send at most four breakpoints.",
            Self::TtlOrder => "Put one-hour breakpoints before five-minute ones.",
            Self::BelowMinimum => "Move shared content into the prefix until it reaches the model's minimum.",
            Self::NoBreakpoint => "Put a breakpoint on the last block that the next request repeats.",
            Self::LevelParameter => {
                "Keep tool choice, thinking and effort, citations and images fixed within a conversation."
            }
            Self::ToolsAdded | Self::ToolsRemoved => "Fix the tool list for the whole session, or defer rare tools.",
            Self::ToolsReordered => "Sort the tools once and keep the order.",
            Self::ToolChanged => "Take what varies out of the tool's definition.",
            Self::SystemChanged => "Move what varies out of the system prompt into the newest message.",
            Self::MessageEdited | Self::MessageMoved => "Append instead of editing what was sent.",
            Self::MessageInserted => "Append new content at the end of the history.",
            Self::MessageRemoved | Self::HistoryTruncated => "Keep sent messages, or cut rarely and by much at once.",
            Self::Rewound => {
                "Nothing: going back is what was asked for. A breakpoint before the branch keeps what is shared."
            }
            Self::ResultsReordered => "Send parallel results in the order of their calls.",
            Self::ResultsCleared => "Clear old results rarely and many at once.",
            Self::ThinkingStripped => "Send thinking blocks back unchanged.",
            Self::Compacted => "Compact at a natural pause; keep a breakpoint at the end of the system prompt.",
            Self::KeyOrder => "Serialise tool inputs with a fixed key order.",
            Self::ImageChanged => "Send images with the same bytes each time.",
            Self::OtherScope => "Send the requests of one conversation within one workspace.",
            Self::Expired => "Use the one-hour lifetime, or keep the entry warm.",
            Self::InFlight => "Let one request begin its answer before the others start.",
            Self::BeyondLookback => "Put one more breakpoint within the look-back, at the end of the previous request.",
            Self::Evicted | Self::RoutedElsewhere => "Nothing on the client's side.",
            Self::HiddenRequest => "Record the requests that are missing.",
            Self::FirstRequest => "Nothing: a first request has nothing of its own to read.",
            Self::Unexplained => "Look at the request: nothing in the input explains the miss.",
        }
    }

    /// Whether the bytes of the prompt are to blame, and not time or rules.
    pub const fn is_content(self) -> bool {
        matches!(
            self,
            Self::LevelParameter
                | Self::ToolsAdded
                | Self::ToolsRemoved
                | Self::ToolsReordered
                | Self::ToolChanged
                | Self::SystemChanged
                | Self::MessageEdited
                | Self::MessageInserted
                | Self::MessageRemoved
                | Self::MessageMoved
                | Self::HistoryTruncated
                | Self::Rewound
                | Self::ResultsReordered
                | Self::ResultsCleared
                | Self::ThinkingStripped
                | Self::Compacted
                | Self::KeyOrder
                | Self::ImageChanged
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A difference that costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Note {
    /// String or list, or envelope keys in another order.
    Spelling,
    /// White space between tokens.
    Whitespace,
    /// Another escape for the same character.
    Escape,
    /// A breakpoint stands elsewhere or has another lifetime.
    MarkerMoved,
    /// A field of the request that is not prompt.
    Envelope,
    /// A change behind the last breakpoint of the request before.
    TailOnly,
    /// More was read than any visible request had sent.
    ReadAhead,
}

impl Note {
    /// The stable machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Spelling => "spelling",
            Self::Whitespace => "whitespace",
            Self::Escape => "escape",
            Self::MarkerMoved => "marker_moved",
            Self::Envelope => "envelope",
            Self::TailOnly => "tail_only",
            Self::ReadAhead => "read_ahead",
        }
    }
}

/// What in the changed bytes varies by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Volatile {
    /// A calendar date.
    Date,
    /// A time of day, with or without its date.
    Time,
    /// A UUID.
    Uuid,
    /// A file path.
    Path,
    /// A process id.
    Pid,
    /// A number that counts.
    Counter,
    /// State of a git repository.
    Git,
    /// A switch.
    Flag,
    /// A map that is written in no fixed order.
    MapOrder,
}

impl Volatile {
    /// The stable machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time",
            Self::Uuid => "uuid",
            Self::Path => "path",
            Self::Pid => "pid",
            Self::Counter => "counter",
            Self::Git => "git",
            Self::Flag => "flag",
            Self::MapOrder => "map_order",
        }
    }
}

impl From<crate::wire::spelling::SpellingKind> for Note {
    fn from(kind: crate::wire::spelling::SpellingKind) -> Self {
        use crate::wire::spelling::SpellingKind;
        match kind {
            SpellingKind::Spelling => Self::Spelling,
            SpellingKind::Whitespace => Self::Whitespace,
            SpellingKind::Escape => Self::Escape,
            SpellingKind::MarkerMoved => Self::MarkerMoved,
            SpellingKind::Envelope => Self::Envelope,
        }
    }
}
