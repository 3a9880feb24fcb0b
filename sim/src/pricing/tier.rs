//! At which speed and price a request was served.

use std::fmt;

/// The service tier of one request. Which of them a provider has, and what it charges, stands in the price book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServiceTier {
    /// List price.
    #[default]
    Standard,
    /// An item of a batch, answered within a day.
    Batch,
    /// Slower and cheaper, refused when capacity is short.
    Flex,
    /// Faster and dearer: `priority`, which `OpenAI` calls `fast` since autumn 2026.
    Priority,
}

impl ServiceTier {
    /// Stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Batch => "batch",
            Self::Flex => "flex",
            Self::Priority => "priority",
        }
    }
}

impl fmt::Display for ServiceTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
