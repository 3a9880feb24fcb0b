//! The checks: their stable words, what each one says, and what would mend it.

use std::fmt;

/// Something that a fork, its parent or their harness has to get right for the cache to be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The system prompt as the parent's last request had it (contract FORK-15, CACHE-07).
    SystemReused,
    /// The parent's tools in the parent's order (contract FORK-16, CACHE-05, CACHE-08).
    ToolsOrder,
    /// Each tool's definition as the parent sent it (contract TOOLS-09, CACHE-21).
    ToolsSchema,
    /// The parent's model (contract FORK-11, CACHE-11).
    SameModel,
    /// The parent's effort (`providers.md` 1.7).
    SameEffort,
    /// The parent's thinking (contract FORK-18, CACHE-12).
    SameThinking,
    /// Every other setting that belongs to a level's identity: tool choice, output format, speed, citations
    /// (`providers.md` 1.7).
    SameParameters,
    /// The history block by block as the parent sent it (contract FORK-17, FORK-19, CACHE-09).
    MessageSpelling,
    /// What varies stands behind what is shared (contract CACHE-20, CACHE-27).
    TrailingReminders,
    /// What addresses the cache is the parent's: the scope, and `prompt_cache_key` in dialects that have it.
    CacheKey,
    /// A breakpoint covers the end of what is shared, and the provider takes the breakpoints (`providers.md` 1.3, 1.5).
    Breakpoints,
    /// From there the look-back reaches what the parent wrote last (`providers.md` 1.3).
    LookBack,
    /// Nobody asks before what it reads can be read (`providers.md` 1.3, concurrency).
    LaunchTiming,
    /// The parent's next request keeps its own prefix (contract FORK-21).
    ParentUnharmed,
}

/// All checks in the order of the card.
pub const CHECKS: [Check; 14] = [
    Check::SystemReused,
    Check::ToolsOrder,
    Check::ToolsSchema,
    Check::SameModel,
    Check::SameEffort,
    Check::SameThinking,
    Check::SameParameters,
    Check::MessageSpelling,
    Check::TrailingReminders,
    Check::CacheKey,
    Check::Breakpoints,
    Check::LookBack,
    Check::LaunchTiming,
    Check::ParentUnharmed,
];

impl Check {
    /// The stable machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SystemReused => "system_reused",
            Self::ToolsOrder => "tools_order",
            Self::ToolsSchema => "tools_schema",
            Self::SameModel => "same_model",
            Self::SameEffort => "same_effort",
            Self::SameThinking => "same_thinking",
            Self::SameParameters => "same_parameters",
            Self::MessageSpelling => "message_spelling",
            Self::TrailingReminders => "trailing_reminders",
            Self::CacheKey => "cache_key",
            Self::Breakpoints => "breakpoints",
            Self::LookBack => "look_back",
            Self::LaunchTiming => "launch_timing",
            Self::ParentUnharmed => "parent_unharmed",
        }
    }

    /// What is so where the check passes.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::SystemReused => "Forks send their parent's rendered system prompt, byte for byte.",
            Self::ToolsOrder => "Forks send their parent's tools in their parent's order.",
            Self::ToolsSchema => "Forks send every tool's definition as their parent did.",
            Self::SameModel => "Forks ask their parent's model.",
            Self::SameEffort => "Forks ask with their parent's effort.",
            Self::SameThinking => "Forks think under their parent's setting.",
            Self::SameParameters => "Forks keep tool choice, output format, speed and citations.",
            Self::MessageSpelling => "Forks send the history as their parent did, block by block.",
            Self::TrailingReminders => "What varies stands behind what is shared.",
            Self::CacheKey => "Forks address the cache as their parent does.",
            Self::Breakpoints => "A breakpoint covers the end of what is shared, and the provider takes all of them.",
            Self::LookBack => "The look-back of that breakpoint reaches what the parent wrote last.",
            Self::LaunchTiming => "Nobody asks before what it reads can be read.",
            Self::ParentUnharmed => "The parent's next request keeps the parent's prefix.",
        }
    }

    /// What mends it.
    pub const fn suggestion(self) -> &'static str {
        match self {
            Self::SystemReused => {
                "Hand the rendered system prompt of the parent's last request on; do not render anew."
            }
            Self::ToolsOrder => {
                "Hand the parent's assembled list of tools on, and refuse at run time what a fork may not do."
            }
            Self::ToolsSchema => "Hand the parent's serialised tools on; keep what is the fork's out of descriptions.",
            Self::SameModel => "Ask the parent's model, or start a named agent with a brief instead of a fork.",
            Self::SameEffort => "Send the parent's `output_config.effort`.",
            Self::SameThinking => "Send the parent's `thinking`.",
            Self::SameParameters => "Send the parent's `tool_choice`, `output_config.format` and `speed`.",
            Self::MessageSpelling => "Copy the parent's messages as they were sent; keep the key order of tool inputs.",
            Self::TrailingReminders => "Put reminders and directives behind the history, in the newest message.",
            Self::CacheKey => "Use the parent's workspace and `prompt_cache_key`.",
            Self::Breakpoints => {
                "Mark the last block of the fork's prompt, or the end of the history; at most four breakpoints, one-hour \
                 ones first."
            }
            Self::LookBack => "Put one more breakpoint on the last block of the parent's request.",
            Self::LaunchTiming => {
                "Start forks when the parent's answer has begun; where the parent's entry is gone, let one fork's answer \
                 begin before the others ask."
            }
            Self::ParentUnharmed => {
                "Build a fork's tools, system prompt and messages from copies; leave the parent's as they are. What a parent \
                 changes by itself costs it the same: keep it."
            }
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
