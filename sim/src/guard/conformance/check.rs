//! The checks, one row each: stable word, statement, and fix.

use std::fmt;

use crate::diagnosis::Cause;

/// Facts about a check.
struct CheckRow {
    word: &'static str,
    sentence: &'static str,
    suggestion: &'static str,
}

macro_rules! checks {
    ($($(#[$meaning:meta])* $name:ident = $row:expr;)*) => {
        /// A requirement on a fork, its parent or their harness that must hold for the cache to be shared.
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
    /// The system prompt of the parent's last request (contract FORK-15, CACHE-07).
    SystemReused = CheckRow {
        word: "system_reused",
        sentence: "Forks send their parent's rendered system prompt, byte for byte.",
        suggestion: "Pass on the rendered system prompt of the parent's last request; do not render it again.",
    };
    /// The parent's tools in the parent's order (contract FORK-16, CACHE-05, CACHE-08).
    ToolsOrder = CheckRow {
        word: "tools_order",
        sentence: "Forks send their parent's tools in their parent's order.",
        suggestion: "Pass on the parent's assembled list of tools, and refuse at run time what a fork may not do.",
    };
    /// Each tool's definition as the parent sent it (contract TOOLS-09, CACHE-21).
    ToolsSchema = CheckRow {
        word: "tools_schema",
        sentence: "Forks send every tool's definition as their parent did.",
        suggestion: "Pass on the parent's serialised tools; keep the fork's own text out of descriptions.",
    };
    /// The parent's model (contract FORK-11, CACHE-11).
    SameModel = CheckRow {
        word: "same_model",
        sentence: "Forks use their parent's model.",
        suggestion: "Use the parent's model, or start a named agent with a brief instead of a fork.",
    };
    /// The parent's effort (`providers.md` 1.7).
    SameEffort = CheckRow {
        word: "same_effort",
        sentence: "Forks use their parent's effort.",
        suggestion: "Send the parent's `output_config.effort`.",
    };
    /// The parent's thinking (contract FORK-18, CACHE-12).
    SameThinking = CheckRow {
        word: "same_thinking",
        sentence: "Forks use their parent's thinking setting.",
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
    /// Varying content comes after shared content (contract CACHE-20, CACHE-27).
    TrailingReminders = CheckRow {
        word: "trailing_reminders",
        sentence: "Varying content comes after shared content.",
        suggestion: "Put reminders and directives after the history, in the newest message.",
    };
    /// The parent's cache address: the scope, and `prompt_cache_key` in APIs that have it.
    CacheKey = CheckRow {
        word: "cache_key",
        sentence: "Forks address the cache as their parent does.",
        suggestion: "Use the parent's workspace and `prompt_cache_key`.",
    };
    /// A breakpoint covers all that a fork shares with its parent, and the provider accepts all (`providers.md` 1.3, 1.5).
    Breakpoints = CheckRow {
        word: "breakpoints",
        sentence: "A breakpoint covers all that a fork shares with its parent, and the provider accepts all breakpoints.",
        suggestion: Cause::NoBreakpoint.suggestion(),
    };
    /// From there the look-back reaches the parent's last write (`providers.md` 1.3).
    LookBack = CheckRow {
        word: "look_back",
        sentence: "The look-back of that breakpoint reaches the parent's last write.",
        suggestion: Cause::BeyondLookback.suggestion(),
    };
    /// No fork starts before its parent's entry is readable (`providers.md` 1.3, concurrency).
    LaunchTiming = CheckRow {
        word: "launch_timing",
        sentence: "No fork starts before its parent's entry is readable.",
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

    /// The statement that holds if the check passes.
    pub const fn sentence(self) -> &'static str {
        self.row().sentence
    }

    /// How to fix a failure.
    pub const fn suggestion(self) -> &'static str {
        self.row().suggestion
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
