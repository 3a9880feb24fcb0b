//! The checks, one row each: stable word, what it says, and what would mend it.

use std::fmt;

use crate::diagnosis::Cause;

/// What is known of a check.
struct CheckRow {
    word: &'static str,
    sentence: &'static str,
    suggestion: &'static str,
}

macro_rules! checks {
    ($($(#[$meaning:meta])* $name:ident = $row:expr;)*) => {
        /// Something that a fork, its parent or their harness has to get right for the cache to be shared.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Check {
            $($(#[$meaning])* $name,)*
        }

        /// All checks in the order of the card.
        pub const CHECKS: [Check; TABLE.len()] = [$(Check::$name,)*];

        /// In step with the checks.
        const TABLE: &[CheckRow] = &[$($row,)*];
    };
}

checks! {
    /// The system prompt as the parent's last request had it (contract FORK-15, CACHE-07).
    SystemReused = CheckRow {
        word: "system_reused",
        sentence: "Forks send their parent's rendered system prompt, byte for byte.",
        suggestion: "Hand the rendered system prompt of the parent's last request on; do not render anew.",
    };
    /// The parent's tools in the parent's order (contract FORK-16, CACHE-05, CACHE-08).
    ToolsOrder = CheckRow {
        word: "tools_order",
        sentence: "Forks send their parent's tools in their parent's order.",
        suggestion: "Hand the parent's assembled list of tools on, and refuse at run time what a fork may not do.",
    };
    /// Each tool's definition as the parent sent it (contract TOOLS-09, CACHE-21).
    ToolsSchema = CheckRow {
        word: "tools_schema",
        sentence: "Forks send every tool's definition as their parent did.",
        suggestion: "Hand the parent's serialised tools on; keep what is the fork's out of descriptions.",
    };
    /// The parent's model (contract FORK-11, CACHE-11).
    SameModel = CheckRow {
        word: "same_model",
        sentence: "Forks ask their parent's model.",
        suggestion: "Ask the parent's model, or start a named agent with a brief instead of a fork.",
    };
    /// The parent's effort (`providers.md` 1.7).
    SameEffort = CheckRow {
        word: "same_effort",
        sentence: "Forks ask with their parent's effort.",
        suggestion: "Send the parent's `output_config.effort`.",
    };
    /// The parent's thinking (contract FORK-18, CACHE-12).
    SameThinking = CheckRow {
        word: "same_thinking",
        sentence: "Forks think under their parent's setting.",
        suggestion: "Send the parent's `thinking`.",
    };
    /// Every other setting that belongs to a level's identity: tool choice, output format, speed, citations
    /// (`providers.md` 1.7).
    SameParameters = CheckRow {
        word: "same_parameters",
        sentence: "Forks keep tool choice, output format, speed and citations.",
        suggestion: "Send the parent's `tool_choice`, `output_config.format` and `speed`.",
    };
    /// The history block by block as the parent sent it (contract FORK-17, FORK-19, CACHE-09).
    MessageSpelling = CheckRow {
        word: "message_spelling",
        sentence: "Forks send the history as their parent did, block by block.",
        suggestion: "Copy the parent's messages as they were sent; keep the key order of tool inputs.",
    };
    /// What varies stands behind what is shared (contract CACHE-20, CACHE-27).
    TrailingReminders = CheckRow {
        word: "trailing_reminders",
        sentence: "What varies stands behind what is shared.",
        suggestion: "Put reminders and directives behind the history, in the newest message.",
    };
    /// What addresses the cache is the parent's: the scope, and `prompt_cache_key` in dialects that have it.
    CacheKey = CheckRow {
        word: "cache_key",
        sentence: "Forks address the cache as their parent does.",
        suggestion: "Use the parent's workspace and `prompt_cache_key`.",
    };
    /// A breakpoint covers the end of what is shared, and the provider takes the breakpoints (`providers.md` 1.3, 1.5).
    Breakpoints = CheckRow {
        word: "breakpoints",
        sentence: "A breakpoint covers the end of what is shared, and the provider takes all of them.",
        suggestion: Cause::NoBreakpoint.suggestion(),
    };
    /// From there the look-back reaches what the parent wrote last (`providers.md` 1.3).
    LookBack = CheckRow {
        word: "look_back",
        sentence: "The look-back of that breakpoint reaches what the parent wrote last.",
        suggestion: Cause::BeyondLookback.suggestion(),
    };
    /// Nobody asks before what it reads can be read (`providers.md` 1.3, concurrency).
    LaunchTiming = CheckRow {
        word: "launch_timing",
        sentence: "Nobody asks before what it reads can be read.",
        suggestion: Cause::InFlight.suggestion(),
    };
    /// The parent's next request keeps its own prefix (contract FORK-21).
    ParentUnharmed = CheckRow {
        word: "parent_unharmed",
        sentence: "The parent's next request keeps the parent's prefix.",
        suggestion: "Build a fork's tools, system prompt and messages from copies; leave the parent's as they are. What \
         a parent changes by itself costs it the same: keep it.",
    };
}

impl Check {
    const fn row(self) -> &'static CheckRow {
        &TABLE[self as usize]
    }

    /// The stable machine word.
    pub const fn word(self) -> &'static str {
        self.row().word
    }

    /// What is so where the check passes.
    pub const fn sentence(self) -> &'static str {
        self.row().sentence
    }

    /// What mends it.
    pub const fn suggestion(self) -> &'static str {
        self.row().suggestion
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
