//! The closed list of causes, one row each; the harmless notes and the volatile things with their stable machine words.

use std::fmt;

/// Whose doing a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// The bytes of the prompt.
    Content,
    /// What the request asks of the provider's rules: model, breakpoints, scope.
    Rule,
    /// When it was sent.
    Time,
    /// Nothing that the request can change.
    Elsewhere,
}

/// What is known of a cause.
pub(super) struct CauseRow {
    word: &'static str,
    kind: CauseKind,
    suggestion: &'static str,
    /// The word of Anthropic's cache diagnosis; `provider.rs` has the sources.
    pub anthropic: Option<&'static str>,
    /// The word of `OpenAI`'s. That of a changed parameter depends on the parameter.
    pub openai: Option<&'static str>,
}

impl CauseRow {
    const fn new(kind: CauseKind, word: &'static str, suggestion: &'static str) -> Self {
        Self { word, kind, suggestion, anthropic: None, openai: None }
    }

    const fn called_by_anthropic(self, anthropic: &'static str) -> Self {
        Self { anthropic: Some(anthropic), ..self }
    }

    /// The words of the providers for it.
    const fn called(self, anthropic: &'static str, openai: &'static str) -> Self {
        Self { openai: Some(openai), ..self.called_by_anthropic(anthropic) }
    }
}

const fn rule(word: &'static str, suggestion: &'static str) -> CauseRow {
    CauseRow::new(CauseKind::Rule, word, suggestion)
}

const fn time(word: &'static str, suggestion: &'static str) -> CauseRow {
    CauseRow::new(CauseKind::Time, word, suggestion)
}

const fn elsewhere(word: &'static str, suggestion: &'static str) -> CauseRow {
    CauseRow::new(CauseKind::Elsewhere, word, suggestion)
}

const fn content(word: &'static str, suggestion: &'static str) -> CauseRow {
    CauseRow::new(CauseKind::Content, word, suggestion)
}

const fn tools(word: &'static str, suggestion: &'static str) -> CauseRow {
    content(word, suggestion).called("tools_changed", "tools_changed")
}

/// For `OpenAI` instructions are input too.
const fn messages(word: &'static str, suggestion: &'static str) -> CauseRow {
    content(word, suggestion).called("messages_changed", "input_changed")
}

macro_rules! causes {
    ($($(#[$meaning:meta])* $name:ident = $row:expr;)*) => {
        /// Why tokens that were sent before were not read. In order of precedence: where several hold, the first is given.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $($(#[$meaning])* $name,)*
        }

        /// All causes in order of precedence.
        pub const CAUSES: [Cause; TABLE.len()] = [$(Cause::$name,)*];

        /// In step with the causes.
        const TABLE: &[CauseRow] = &[$($row,)*];
    };
}

causes! {
    /// Another model than the chain's previous request: caches are per model.
    ModelChanged = rule(
        "model_changed",
        "Keep one model per conversation, or start the other model's work as a chain of its own.",
    ).called("model_changed", "model_changed");
    /// More breakpoints than the provider takes.
    BreakpointLimit = rule("breakpoint_limit", "Send at most four breakpoints.");
    /// A one-hour breakpoint behind a five-minute one.
    TtlOrder = rule("ttl_order", "Put one-hour breakpoints before five-minute ones.");
    /// The prefix is shorter than the model's minimum.
    BelowMinimum = rule("below_minimum", "Move shared content into the prefix until it reaches the model's minimum.");
    /// No breakpoint covers the tokens, in this request or in the one that sent them.
    NoBreakpoint = rule("no_breakpoint", "Put a breakpoint on the last block that the next request repeats.");
    /// A setting of the request that belongs to a level's identity changed.
    LevelParameter = content(
        "level_parameter",
        "Keep tool choice, thinking and effort, citations and images fixed within a conversation.",
    ).called_by_anthropic("unavailable");
    /// Tools came in.
    ToolsAdded = tools("tools_added", "Fix the tool list for the whole session, or defer rare tools.");
    /// Tools went away.
    ToolsRemoved = tools("tools_removed", "Fix the tool list for the whole session, or defer rare tools.");
    /// The same tools in another order.
    ToolsReordered = tools("tools_reordered", "Sort the tools once and keep the order.");
    /// A tool's definition changed, its name included.
    ToolChanged = tools("tool_changed", "Take what varies out of the tool's definition.");
    /// The system prompt changed.
    SystemChanged = content(
        "system_changed",
        "Move what varies out of the system prompt into the newest message.",
    ).called("system_changed", "input_changed");
    /// A message block changed.
    MessageEdited = messages("message_edited", "Append instead of editing what was sent.");
    /// A block came in before the end of the history.
    MessageInserted = messages("message_inserted", "Append new content at the end of the history.");
    /// A block went away from inside the history.
    MessageRemoved = messages("message_removed", "Keep sent messages, or cut rarely and by much at once.");
    /// A block moved within the history.
    MessageMoved = messages("message_moved", "Append instead of editing what was sent.");
    /// The beginning of the history was cut off.
    HistoryTruncated = messages("history_truncated", "Keep sent messages, or cut rarely and by much at once.");
    /// The conversation went on from an earlier point.
    Rewound = messages(
        "rewound",
        "Nothing: going back is what was asked for. A breakpoint before the branch keeps what is shared.",
    );
    /// Tool results in another order than before.
    ResultsReordered = messages("results_reordered", "Send parallel results in the order of their calls.");
    /// Contents of old tool results were cleared.
    ResultsCleared = messages("results_cleared", "Clear old results rarely and many at once.");
    /// Thinking blocks were taken out.
    ThinkingStripped = messages("thinking_stripped", "Send thinking blocks back unchanged.");
    /// The history was replaced by a summary.
    Compacted = messages(
        "compacted",
        "Compact at a natural pause; keep a breakpoint at the end of the system prompt.",
    ).called("messages_changed", "context_compacted");
    /// Equal content with keys in another order.
    KeyOrder = messages("key_order", "Serialise tool inputs with a fixed key order.");
    /// An image or a document changed.
    ImageChanged = messages("image_changed", "Send images with the same bytes each time.");
    /// The chain's previous request was sent in another scope.
    OtherScope = rule(
        "other_scope",
        "Send the requests of one conversation within one workspace.",
    ).called("previous_message_not_found", "comparison_response_not_found");
    /// The entry outlived its lifetime.
    Expired = time(
        "expired",
        "Use the one-hour lifetime, or keep the entry warm.",
    ).called("previous_message_not_found", "comparison_response_not_found");
    /// Written by a request whose answer had not begun.
    InFlight = time("in_flight", "Let one request begin its answer before the others start.");
    /// The entry lives, but further back than the cache looks.
    BeyondLookback = rule(
        "beyond_lookback",
        "Put one more breakpoint within the look-back, at the end of the previous request.",
    );
    /// The entry was lost before its time.
    Evicted = elsewhere("evicted", "Nothing on the client's side.");
    /// The request reached a machine without the entry.
    RoutedElsewhere = elsewhere("routed_elsewhere", "Nothing on the client's side.");
    /// A request that is not in the input moved the cache.
    HiddenRequest = elsewhere("hidden_request", "Record the requests that are missing.");
    /// The first request of a chain, taken as given.
    FirstRequest = elsewhere("first_request", "Nothing: a first request has nothing of its own to read.");
    /// The recorded usage reads less than the rules predict, and nothing in the input says why.
    Unexplained = elsewhere("unexplained", "Look at the request: nothing in the input explains the miss.");
}

impl Cause {
    /// The cause that `word` is the stable machine word of.
    pub fn of_word(word: &str) -> Option<Self> {
        CAUSES.into_iter().find(|cause| cause.word() == word)
    }

    pub(super) const fn row(self) -> &'static CauseRow {
        &TABLE[self as usize]
    }

    /// The stable machine word.
    pub const fn word(self) -> &'static str {
        self.row().word
    }

    /// Whose doing it is.
    pub const fn kind(self) -> CauseKind {
        self.row().kind
    }

    /// What would save the tokens, in one sentence.
    pub const fn suggestion(self) -> &'static str {
        self.row().suggestion
    }

    /// Whether the request differs from the one before: in its bytes, or in its model.
    pub const fn is_change(self) -> bool {
        self.is_content() || matches!(self, Self::ModelChanged)
    }

    /// Whether the bytes of the prompt are to blame, and not time or rules.
    pub const fn is_content(self) -> bool {
        matches!(self.kind(), CauseKind::Content)
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
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Spelling,
        Self::Whitespace,
        Self::Escape,
        Self::MarkerMoved,
        Self::Envelope,
        Self::TailOnly,
        Self::ReadAhead,
    ];

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
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Date,
        Self::Time,
        Self::Uuid,
        Self::Path,
        Self::Pid,
        Self::Counter,
        Self::Git,
        Self::Flag,
        Self::MapOrder,
    ];

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
