//! The model table: from any spelling to a model.
//!
//! Minimum prefixes are in `cache` and prices in `pricing`; both are keyed by [`ModelId`]. The table has the models
//! that somebody may want to price: every model of `providers.md` 6, and those that recordings name and a dated source
//! prices. Facts without a source are `None`. [`resolve`] never guesses: a name that only begins like a model is
//! unknown.

mod claude;
mod names;
mod table;

use std::fmt;

use crate::outside::words;

pub use names::resolve;
pub use table::{MODELS, ModelId};

words! {
    /// The maker of a model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Vendor: word {
        /// Claude.
        Anthropic = "anthropic",
        /// GPT and the o-series.
        OpenAi = "openai",
        /// Gemini.
        Google = "google",
        /// DeepSeek.
        DeepSeek = "deepseek",
        /// Kimi.
        Moonshot = "moonshot",
        /// Grok.
        Xai = "xai",
        /// GLM.
        Zhipu = "zhipu",
        /// Mistral.
        Mistral = "mistral",
        /// Command.
        Cohere = "cohere",
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One line of Claude models, cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Small and cheap.
    Haiku,
    /// The middle.
    Sonnet,
    /// Large.
    Opus,
    /// Largest, limited access.
    Mythos,
    /// Largest, general access.
    Fable,
}

words! {
    /// The tokenizer of a model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Tokenizer: word {
        /// Claude up to Opus 4.6, Sonnet 4.6 and Haiku 4.5. Its vocabulary is not published.
        Claude = "claude",
        /// Opus 4.7 and later, Mythos, Fable, Sonnet 5 and later, Haiku 5.5: the same text has 1.0 to 1.35 times as many
        /// tokens as with the older tokenizer. Not published. Source: models overview pages (PC-A archive, 2026-08-21).
        Claude47 = "claude-4.7",
        /// The public vocabulary `o200k_base`: gpt-4o, gpt-4.1, gpt-5 and the o-series, as `tiktoken` maps them.
        O200k = "o200k",
        /// The public vocabulary `cl100k_base`: gpt-4 and gpt-3.5.
        Cl100k = "cl100k",
        /// Another one, or an unknown one; counts by any other vocabulary are estimates.
        Other = "other",
    }
}

impl Tokenizer {
    /// The tokenizer of the model with this `spelling`; `resolved` is its entry in the table. A Claude model that is
    /// not in the table is assumed to be new.
    pub fn of(resolved: Option<Resolved>, spelling: &str) -> Self {
        match resolved {
            Some(resolved) => resolved.id.row().tokenizer,
            None if spelling.to_ascii_lowercase().contains("claude") => Self::Claude47,
            None => Self::Other,
        }
    }
}

/// Facts about a model, except its cache rules and prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// The row's own key.
    pub model: ModelId,
    /// Its maker.
    pub vendor: Vendor,
    /// Canonical id: the undated spelling of the maker's API.
    pub id: &'static str,
    /// Name for people, without the maker's.
    pub name: &'static str,
    /// Other names for this model at this price. Dated snapshots and `-latest` need no entry.
    pub aliases: &'static [&'static str],
    /// Family and version (major, minor; (0, 0) for a preview without one) of a Claude model. The order varies between
    /// its spellings, so they are parsed rather than compared.
    pub claude: Option<(Family, (u8, u8))>,
    /// Context window without any beta switch, in tokens.
    pub window_tokens: Option<u64>,
    /// Its tokenizer.
    pub tokenizer: Tokenizer,
    /// Whether thinking of earlier turns stays in the prompt at a user turn that is no tool result. If it does not, the
    /// prefix changes there. Source: PC-N, table of invalidations (2026-09); unknown for other makers.
    pub keeps_thinking: Option<bool>,
    /// First day on sale (year, month, day), if a source gives one.
    pub first_date: Option<(i32, u8, u8)>,
}

impl ModelId {
    /// The model's row.
    pub const fn row(self) -> &'static Model {
        // In bounds: keys and rows are written by one list.
        &MODELS[self as usize]
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().id)
    }
}

impl Model {
    /// Same as [`resolve`].
    pub fn resolve(spelling: &str) -> Option<Resolved> {
        resolve(spelling)
    }
}

/// The platform that runs the model, as far as its spelling shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// The maker's own API.
    Maker,
    /// AWS Bedrock.
    Bedrock,
    /// Google Cloud.
    Vertex,
    /// Microsoft Foundry and Azure OpenAI; their ids are the makers', so only a router's prefix identifies them.
    Foundry,
    /// OpenRouter.
    OpenRouter,
    /// GitHub Copilot: dotted versions of Claude without a vendor.
    Copilot,
}

/// Information in a spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The model.
    pub id: ModelId,
    /// Its platform.
    pub platform: Platform,
    /// Whether the spelling binds the request to a geography (any Bedrock id but `global.`, a Vertex location but
    /// `global`), which costs more. A Vertex id without a location counts as global.
    pub regional: bool,
}

#[cfg(test)]
mod tests {
    use super::{MODELS, Platform, Vendor, resolve};

    #[test]
    fn rows_are_found_by_their_keys_and_their_names() {
        for (at, row) in MODELS.iter().enumerate() {
            assert_eq!(row.model as usize, at);
            assert_eq!(row.model.row(), row);
            assert_eq!(row.model.to_string(), row.id);
            for name in row.aliases.iter().chain([&row.id]) {
                let found = resolve(name).map(|found| (found.id, found.platform, found.regional));
                assert_eq!(found, Some((row.model, Platform::Maker, false)), "{name}");
            }
        }
    }

    #[test]
    fn rows_are_sorted_by_vendor_and_each_vendor_has_some() {
        assert!(MODELS.is_sorted_by_key(|row| row.vendor));
        assert!(Vendor::ALL.is_sorted());
        assert!(Vendor::ALL.iter().all(|vendor| MODELS.iter().any(|row| row.vendor == *vendor)));
        let claude = MODELS.iter().filter_map(|row| row.claude);
        assert!(claude.is_sorted());
        assert!(MODELS.iter().all(|row| row.claude.is_some() == (row.vendor == Vendor::Anthropic)));
    }

    #[test]
    fn no_name_means_two_models() {
        let names = MODELS.iter().flat_map(|row| row.aliases.iter().chain([&row.id]));
        let mut undotted: Vec<String> = names.map(|name| name.replace('.', "-")).collect();
        let all = undotted.len();
        undotted.sort();
        undotted.dedup();
        assert_eq!(undotted.len(), all);
    }
}
