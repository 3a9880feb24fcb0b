//! A lock as parsed from TOML, before validation.

use serde::Deserialize;
use toml::Spanned;

/// The whole text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entries {
    pub version: Spanned<u64>,
    pub preset: String,
    pub prices: String,
    #[serde(default)]
    pub anonymous: bool,
    pub chains: Spanned<usize>,
    pub requests: Spanned<usize>,
    #[serde(default)]
    pub chain: Vec<ChainEntry>,
}

/// A chain.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChainEntry {
    pub name: Spanned<String>,
    pub parent: Option<String>,
    #[serde(default)]
    pub request: Vec<RequestEntry>,
}

/// A request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestEntry {
    pub model: String,
    pub levels: Spanned<LevelsEntry>,
    pub keeps: Option<Spanned<KeepsEntry>>,
    #[serde(default)]
    pub blocks: Vec<Spanned<Vec<Field>>>,
    #[serde(default)]
    pub breakpoints: Vec<Spanned<String>>,
    pub expected: Spanned<ExpectedEntry>,
    pub cost_usd: Option<Spanned<String>>,
}

/// Digests of the levels.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelsEntry {
    pub tools: Option<Spanned<String>>,
    pub system: Option<Spanned<String>>,
    pub messages: Option<Spanned<String>>,
}

/// The part kept from an earlier request.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeepsEntry {
    pub request: usize,
    pub blocks: usize,
}

/// Usage as expected.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedEntry {
    pub read: u64,
    pub write_5m: u64,
    pub write_1h: u64,
    pub input: u64,
}

/// A field of a block's line.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Field {
    Number(u64),
    Text(String),
}
