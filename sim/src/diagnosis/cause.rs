//! The closed list of causes, one row each; harmless notes and volatile content, with stable machine words.

use std::fmt;

/// Who can act on a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// The bytes of the prompt.
    Content,
    /// What the request asks for: model, breakpoints, scope.
    Rule,
    /// When it was sent.
    Time,
    /// Nothing that the request can change.
    Elsewhere,
}

/// Facts about a cause.
pub(super) struct CauseRow {
    word: &'static str,
    kind: CauseKind,
    /// How it usually comes about.
    origin: &'static str,
    suggestion: &'static str,
    /// Anthropic's word for it; `provider.rs` has the sources.
    pub anthropic: Option<&'static str>,
    /// OpenAI's word for it. For a changed parameter the word depends on the parameter.
    pub openai: Option<&'static str>,
}

impl CauseRow {
    const fn new(kind: CauseKind, word: &'static str, origin: &'static str, suggestion: &'static str) -> Self {
        Self { word, kind, origin, suggestion, anthropic: None, openai: None }
    }

    const fn called_by_anthropic(self, anthropic: &'static str) -> Self {
        Self { anthropic: Some(anthropic), ..self }
    }

    /// The providers' words for it.
    const fn called(self, anthropic: &'static str, openai: &'static str) -> Self {
        Self { openai: Some(openai), ..self.called_by_anthropic(anthropic) }
    }
}

const fn rule(word: &'static str, origin: &'static str, suggestion: &'static str) -> CauseRow {
    CauseRow::new(CauseKind::Rule, word, origin, suggestion)
}

const fn time(word: &'static str, origin: &'static str, suggestion: &'static str) -> CauseRow {
    CauseRow::new(CauseKind::Time, word, origin, suggestion)
}

const fn elsewhere(word: &'static str, origin: &'static str, suggestion: &'static str) -> CauseRow {
    CauseRow::new(CauseKind::Elsewhere, word, origin, suggestion)
}

const fn content(word: &'static str, origin: &'static str, suggestion: &'static str) -> CauseRow {
    CauseRow::new(CauseKind::Content, word, origin, suggestion)
}

const fn tools(word: &'static str, origin: &'static str, suggestion: &'static str) -> CauseRow {
    content(word, origin, suggestion).called("tools_changed", "tools_changed")
}

/// OpenAI counts instructions as input too.
const fn messages(word: &'static str, origin: &'static str, suggestion: &'static str) -> CauseRow {
    content(word, origin, suggestion).called("messages_changed", "input_changed")
}

macro_rules! causes {
    ($($(#[doc = $meaning:literal])* $name:ident = $row:expr;)*) => {
        /// Why tokens that were sent before were not read. In order of precedence: if several causes hold, the first is
        /// reported.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $($(#[doc = $meaning])* $name,)*
        }

        /// All causes in order of precedence.
        pub const CAUSES: [Cause; TABLE.len()] = [$(Cause::$name,)*];

        /// In step with the causes.
        const TABLE: &[CauseRow] = &[$($row,)*];

        /// What each cause means, in step with the causes. The source of a doc comment is the text that users read.
        const MEANINGS: [&str; TABLE.len()] = [$(concat!($($meaning),*).trim_ascii_start(),)*];
    };
}

causes! {
    /// The request asks another model than the one before it in the conversation. Each model has a cache of its own.
    ModelChanged = rule(
        "model_changed",
        "The user or a router switched the model, or an overloaded model was replaced by its fallback.",
        "Keep one model per conversation, or start the other model's work as a chain of its own.",
    ).called("model_changed", "model_changed");
    /// The request has more breakpoints than the provider accepts.
    BreakpointLimit = rule(
        "breakpoint_limit",
        "Several parts of a client set `cache_control`, each without counting the others.",
        "Send at most four breakpoints.",
    );
    /// A one-hour breakpoint comes after a five-minute one.
    TtlOrder = rule(
        "ttl_order",
        "Parts of a client choose lifetimes on their own, or only the newest message was moved to one hour.",
        "Put one-hour breakpoints before five-minute ones.",
    );
    /// The prefix is shorter than the model's minimum, so it is not cached.
    BelowMinimum = rule(
        "below_minimum",
        "The prompt is short, its first breakpoint comes early, or another model with a higher minimum took over.",
        "Move shared content into the prefix until it reaches the model's minimum, or use a model with a lower one.",
    );
    /// No breakpoint covers the tokens, neither in this request nor in the one that sent them.
    NoBreakpoint = rule(
        "no_breakpoint",
        "Only the system prompt is marked, or the end of what the next request or a fork repeats is not.",
        "Put a breakpoint on the last block that the next request repeats.",
    );
    /// A parameter that belongs to the cache key changed, such as tool choice, thinking, effort or speed.
    LevelParameter = content(
        "level_parameter",
        "The effort or thinking was switched in the middle of a session, or a tool was forced for one turn.",
        "Keep tool choice, thinking and effort, citations and images fixed within a conversation.",
    ).called_by_anthropic("unavailable");
    /// A tool was added to the list. Tools come first in the prompt, so everything after it is sent again.
    ToolsAdded = tools(
        "tools_added",
        "An MCP server connected late, a plugin or a skill was switched on, or a mode offers other tools.",
        "Fix the tool list for the whole session, or defer rare tools.",
    );
    /// A tool was taken off the list.
    ToolsRemoved = tools(
        "tools_removed",
        "An MCP server disconnected, or a mode such as planning hides tools.",
        "Fix the tool list for the whole session, or defer rare tools.",
    );
    /// The same tools come in another order.
    ToolsReordered = tools(
        "tools_reordered",
        "The list comes from a map or from servers that answer in no fixed order.",
        "Sort the tools once and keep the order.",
    );
    /// The definition of a tool changed, or its name.
    ToolChanged = tools(
        "tool_changed",
        "A description holds a date, a path, a list of agents or a version; or the client was updated.",
        "Take what varies out of the tool's definition.",
    );
    /// The system prompt changed.
    SystemChanged = content(
        "system_changed",
        "It holds a date, a time, the git status or a list of files; or the client was restarted or updated.",
        "Move what varies out of the system prompt into the newest message.",
    ).called("system_changed", "input_changed");
    /// A block of an earlier message changed.
    MessageEdited = messages(
        "message_edited",
        "A client updates reminders, todo lists or files inside the history, or shortens old results.",
        "Send earlier messages as they were first sent, byte for byte, and append what is new.",
    );
    /// A block was put in before the end of the history.
    MessageInserted = messages(
        "message_inserted",
        "A reminder or a late tool result is placed at its old position instead of at the end.",
        "Append new content at the end of the history.",
    );
    /// A block was removed from inside the history.
    MessageRemoved = messages(
        "message_removed",
        "A client drops reminders, failed calls or old content to save tokens.",
        "Keep sent messages, or set the breakpoint before what is dropped.",
    );
    /// A block moved to another place in the history.
    MessageMoved = messages(
        "message_moved",
        "A context block is kept next to the newest message, so it moves with every turn.",
        "Append instead of editing earlier messages.",
    );
    /// The beginning of the history was cut off.
    HistoryTruncated = messages(
        "history_truncated",
        "A sliding window keeps the last messages and drops one with every turn.",
        "Keep sent messages, or cut rarely and by much at once.",
    );
    /// The conversation continued from an earlier point.
    Rewound = messages(
        "rewound",
        "The user went back to an earlier message, or an answer was tried again.",
        "Send the history on as it was. If somebody asked to go back, a breakpoint before the branch keeps the shared part.",
    );
    /// Tool results come in another order than before.
    ResultsReordered = messages(
        "results_reordered",
        "Results of parallel calls are sent in the order in which they ended.",
        "Send parallel results in the order of their calls.",
    );
    /// The contents of old tool results were cleared.
    ResultsCleared = messages(
        "results_cleared",
        "A client or the provider's context editing clears old results to save room.",
        "Clear old results rarely and many at once.",
    );
    /// Thinking blocks were removed from the history.
    ThinkingStripped = messages(
        "thinking_stripped",
        "A client drops thinking after a turn, or the provider ignores it after a new user message.",
        "Send thinking blocks back unchanged.",
    );
    /// The history was replaced by a summary.
    Compacted = messages(
        "compacted",
        "The user compacted, or the client did when its context window was nearly full.",
        "Compact at a natural pause; keep a breakpoint at the end of the system prompt.",
    ).called("messages_changed", "context_compacted");
    /// The content is equal, but its keys come in another order.
    KeyOrder = messages(
        "key_order",
        "Tool inputs are parsed into an unordered map and written again.",
        "Serialise tool inputs with a fixed key order.",
    );
    /// An image or a document changed.
    ImageChanged = messages(
        "image_changed",
        "It is scaled or encoded again for every request.",
        "Send images with the same bytes each time.",
    );
    /// The previous request of the conversation was sent in another scope, such as another workspace.
    OtherScope = rule(
        "other_scope",
        "Keys of several workspaces, organisations or regions take turns.",
        "Send the requests of one conversation within one workspace.",
    ).called("previous_message_not_found", "comparison_response_not_found");
    /// The cache entry outlived its lifetime before it was read again.
    Expired = time(
        "expired",
        "The user paused, or a tool or a sub-agent ran for longer than five minutes or an hour.",
        "Use the one-hour lifetime, or keep the entry warm.",
    ).called("previous_message_not_found", "comparison_response_not_found");
    /// The tokens were being written by a request whose answer had not begun, or could not be read yet after its end.
    InFlight = time(
        "in_flight",
        "Several agents with the same prefix start at once. From March to May 2026 single writes of Claude models could also not be read for some seconds.",
        "Let one request begin its answer before the others start.",
    );
    /// The cache entry lives, but further back than the cache looks from a breakpoint.
    BeyondLookback = rule(
        "beyond_lookback",
        "One turn added many blocks, for example the results of many parallel calls.",
        "Put one more breakpoint within the look-back, at the end of the previous request.",
    );
    /// The cache entry was lost before its lifetime was over.
    Evicted = elsewhere(
        "evicted",
        "The provider needed the room. Only simulations and emulated engines know this for sure.",
        "Nothing on the client's side.",
    );
    /// The request reached a machine that does not hold the cache entry.
    RoutedElsewhere = elsewhere(
        "routed_elsewhere",
        "The provider or your gateway spreads requests over machines.",
        "Nothing on the client's side.",
    );
    /// A request that is not in the input changed the cache.
    HiddenRequest = elsewhere(
        "hidden_request",
        "The recording leaves out requests, such as those of another process or of an earlier session.",
        "Record the requests that are missing.",
    );
    /// The first request of a chain, taken as given: nothing of its own was sent before.
    FirstRequest = elsewhere(
        "first_request",
        "A session, an agent or a recording begins.",
        "Nothing: a first request has nothing of its own to read.",
    );
    /// The provider read less than the rules predict, and nothing in the input says why.
    Unexplained = elsewhere(
        "unexplained",
        "Unknown: early eviction, routing, or a change that the recording does not show.",
        "Look at the request: nothing in the input explains the miss.",
    );
}

impl Cause {
    /// The cause with the stable machine word `word`.
    ///
    /// ```
    /// use forkcast_sim::diagnosis::Cause;
    ///
    /// let cause = Cause::of_word("tools_added").ok_or("no such cause")?;
    /// assert_eq!(cause.suggestion(), "Fix the tool list for the whole session, or defer rare tools.");
    /// assert_eq!(cause.provider_reason(), Some("tools_changed"));
    /// # Ok::<(), &str>(())
    /// ```
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

    /// What it means, in a sentence or two.
    pub const fn meaning(self) -> &'static str {
        MEANINGS[self as usize]
    }

    /// How it usually comes about.
    pub const fn origin(self) -> &'static str {
        self.row().origin
    }

    /// Whose doing it is.
    pub const fn kind(self) -> CauseKind {
        self.row().kind
    }

    /// How to save the tokens, in one sentence.
    pub const fn suggestion(self) -> &'static str {
        self.row().suggestion
    }

    /// Whether the request differs from the one before: in its bytes, or in its model.
    pub const fn is_change(self) -> bool {
        self.is_content() || matches!(self, Self::ModelChanged)
    }

    /// Whether the provider answers HTTP 400, so that nothing of the request is read, written or billed.
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::BreakpointLimit | Self::TtlOrder)
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

macro_rules! described {
    ($(#[$about:meta])* $name:ident { $($(#[doc = $meaning:literal])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[doc = $meaning])* $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The stable machine word.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// What it means, in a sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($meaning),*).trim_ascii_start(),)+
                }
            }
        }
    };
}

described! {
    /// A difference that costs nothing.
    Note {
        /// The same content, written as a string or as a list, or with keys outside the prompt in another order.
        Spelling = "spelling",
        /// Other white space between the tokens of the JSON.
        Whitespace = "whitespace",
        /// Another escape for the same character.
        Escape = "escape",
        /// A breakpoint is on another block or has another lifetime.
        MarkerMoved = "marker_moved",
        /// A field of the request that is not part of the prompt changed.
        Envelope = "envelope",
        /// A change after the last breakpoint of the previous request: none of it was cached.
        TailOnly = "tail_only",
        /// More was read than any visible request had sent: a request outside the recording wrote it.
        ReadAhead = "read_ahead",
    }
}

described! {
    /// The kind of volatile content in the changed bytes.
    Volatile {
        /// A calendar date.
        Date = "date",
        /// A time of day, with or without its date.
        Time = "time",
        /// A UUID or another random id.
        Uuid = "uuid",
        /// A file path.
        Path = "path",
        /// A process id.
        Pid = "pid",
        /// A number that counts.
        Counter = "counter",
        /// State of a git repository.
        Git = "git",
        /// A switch.
        Flag = "flag",
        /// A map that is written in no fixed order.
        MapOrder = "map_order",
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
