//! The provider with the rules that a request follows.

use crate::outside::words;

use super::model::Vendor;

words! {
    /// The provider with the rules that a request follows: they define its prompt's identity, and the cache.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Maker: word {
        /// Anthropic's rules, on any platform. No other cache is modelled.
        #[default]
        Anthropic = "anthropic",
        /// OpenAI's rules.
        OpenAi = "openai",
        /// Rules of any other provider; little is known about them.
        Other = "other",
    }
}

impl Maker {
    /// Whether its cache rules are modelled: Anthropic's are, on any platform.
    pub const fn has_modelled_cache(self) -> bool {
        matches!(self, Self::Anthropic)
    }

    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::Other => "another maker",
        }
    }

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
