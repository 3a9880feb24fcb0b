//! Whose rules a request follows.

use super::model::Vendor;

/// Whose rules a request follows: they say what of it is its prompt's identity, and who keeps its prefixes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Maker {
    /// Anthropic's, whoever runs the model. No other cache is modelled.
    #[default]
    Anthropic,
    /// `OpenAI`'s.
    OpenAi,
    /// Those of anybody else, of which little is known.
    Other,
}

impl Maker {
    /// The same by the name that a provider has in reports.
    pub fn of_provider(name: &str) -> Self {
        match name {
            "anthropic" => Self::Anthropic,
            "openai" | "azure" => Self::OpenAi,
            _ => Self::Other,
        }
    }

    /// The same where the model is all that is known; `None` for one that no table names.
    pub const fn of_vendor(vendor: Option<Vendor>) -> Self {
        match vendor {
            Some(Vendor::Anthropic) => Self::Anthropic,
            Some(Vendor::OpenAi) => Self::OpenAi,
            _ => Self::Other,
        }
    }
}
