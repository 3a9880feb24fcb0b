//! LiteLLM: `{model: {litellm_provider, input_cost_per_token, …}}`, with the prices of one token.
//!
//! Several rows of one model name the makers of platforms and routers; names tell them apart.

use forkcast_sim::wire::model::{Platform, resolve};
use serde_json::Value;

use super::{Quote, prices};

const NAMES: [&str; 5] = [
    "input_cost_per_token",
    "cache_creation_input_token_cost",
    "cache_creation_input_token_cost_above_1hr",
    "cache_read_input_token_cost",
    "output_cost_per_token",
];

const TOKENS_PER_MTOK: f64 = 1e6;

pub(super) fn quotes(table: &Value) -> Vec<Quote> {
    let rows = table.as_object().into_iter().flatten();
    let quote = |(name, row): (&String, &Value)| {
        let found = resolve(name).filter(|found| found.platform == Platform::Maker && !found.regional)?;
        row["litellm_provider"].as_str()?;
        let usd_per_mtok = prices(|name| row[name].as_f64(), NAMES, TOKENS_PER_MTOK);
        Some(Quote { name: name.clone(), model: found.id, usd_per_mtok })
    };
    rows.filter_map(quote).collect()
}
