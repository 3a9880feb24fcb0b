//! Helpers of the runtime: forks that the model does not ask for (contract INTERNAL).

use crate::outside::words;

words! {
    /// Who runs an internal fork (INTERNAL-04..09).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Caller {
        /// Summarises a conversation that has become too long (INTERNAL-04).
        Compact = "compact",
        /// Writes down what is worth keeping after a turn (INTERNAL-05).
        ExtractMemories = "extract_memories",
        /// Keeps the notes of the session up to date (INTERNAL-05).
        SessionMemory = "session_memory",
        /// Guesses what the user types next (INTERNAL-06).
        PromptSuggestion = "prompt_suggestion",
        /// Works on the guess before the user accepts it (INTERNAL-06).
        Speculation = "speculation",
        /// Answers a question beside the conversation (INTERNAL-07).
        SideQuestion = "side_question",
        /// Says what a background agent is doing (INTERNAL-08).
        AgentSummary = "agent_summary",
        /// Tidies the memory (INTERNAL-09).
        AutoDream = "auto_dream",
    }
}

impl Caller {
    /// The helpers that start after turns of the main agent.
    pub const AFTER_TURNS: [Self; 4] =
        [Self::ExtractMemories, Self::SessionMemory, Self::PromptSuggestion, Self::AutoDream];

    /// Most answers of one run.
    pub const fn max_turns(self) -> u32 {
        match self {
            Self::ExtractMemories | Self::SessionMemory | Self::AutoDream => 5,
            Self::Speculation => 20,
            Self::Compact | Self::PromptSuggestion | Self::SideQuestion | Self::AgentSummary => 1,
        }
    }

    /// Its prompt; that of a question is the question, and that of speculation the guess.
    pub const fn prompt(self) -> &'static str {
        match self {
            Self::Compact => {
                "Summarise this conversation for yourself: the task, what was decided and done, open points, and every \
                 path and name that is still needed. Call no tools. Your summary replaces the conversation."
            }
            Self::ExtractMemories => {
                "Look at the newest part of this conversation and write what will help in later sessions to your memory \
                 directory. If there is nothing, say so."
            }
            Self::SessionMemory => "Bring the notes of this session up to date. Edit their file and nothing else.",
            Self::PromptSuggestion => {
                "Say in one line what the user is most likely to type next, or nothing. Call no tools."
            }
            Self::AgentSummary => "Say in three to five words what you are doing right now. Call no tools.",
            Self::AutoDream => {
                "Go through your memory directory: merge what belongs together, correct what is outdated, and delete \
                 what no longer helps."
            }
            Self::Speculation | Self::SideQuestion => "",
        }
    }
}
