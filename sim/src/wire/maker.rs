//! The provider with the rules that a request follows.

use super::model::Vendor;

/// The provider with the rules that a request follows: they define its prompt's identity, and the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Maker {
    /// Anthropic's rules, on any platform. No other cache is modelled.
    #[default]
    Anthropic,
    /// OpenAI's rules.
    OpenAi,
    /// Rules of any other provider; little is known about them.
    Other,
}

impl Maker {
    /// By the provider's name in reports.
    pub fn of_provider(name: &str) -> Self {
        match name {
            "anthropic" => Self::Anthropic,
            "openai" | "azure" => Self::OpenAi,
            _ => Self::Other,
        }
    }

    /// By the model alone; `None` for one that is in no table.
    pub const fn of_vendor(vendor: Option<Vendor>) -> Self {
        match vendor {
            Some(Vendor::Anthropic) => Self::Anthropic,
            Some(Vendor::OpenAi) => Self::OpenAi,
            _ => Self::Other,
        }
    }
}
