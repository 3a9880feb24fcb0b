//! Service tiers: the urgency with which a provider serves a request.

use std::fmt;

use crate::outside::words;

words! {
    /// The tier in which a request was served, as far as its price depends on it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
    pub enum ServiceTier: word {
        /// Neither cheaper nor faster.
        #[default]
        Standard = "standard",
        /// An item of a batch, answered within a day.
        Batch = "batch",
        /// Served when there is room (OpenAI and Gemini `flex`).
        Flex = "flex",
        /// Served first: OpenAI `priority`, called `fast` since 2026-07-30, and Gemini `priority`. Anthropic's `priority`
        /// is a contract with an unpublished price; it is billed as standard.
        Priority = "priority",
    }
}

impl ServiceTier {
    /// The tier of an answer's `service_tier` (Anthropic `standard`, `priority`, `batch`; OpenAI `default`, `flex`,
    /// `priority`, `fast`, `scale`; Gemini in capitals). `None` for other words, such as `auto`, which does not occur
    /// in answers. `scale` is a contract and counts as standard.
    pub fn of_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "standard" | "default" | "standard_only" | "scale" => Some(Self::Standard),
            "batch" => Some(Self::Batch),
            "flex" => Some(Self::Flex),
            "priority" | "fast" => Some(Self::Priority),
            _ => None,
        }
    }
}

impl fmt::Display for ServiceTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
