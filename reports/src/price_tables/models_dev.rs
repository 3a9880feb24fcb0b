//! models.dev: `{provider: {models: {model: {cost}}}}`, without a price for writing for an hour.

use serde_json::Value;

use super::{Quote, offered, prices};

const NAMES: [&str; 5] = ["input", "cache_write", "", "cache_read", "output"];

pub(super) fn quotes(table: &Value) -> Vec<Quote> {
    let providers = table.as_object().into_iter().flatten();
    let models = providers.flat_map(|(provider, entry)| {
        let models = entry["models"].as_object().into_iter().flatten();
        models.map(move |(name, model)| (provider, name, &model["cost"]))
    });
    let quote = |(provider, name, cost): (&String, &String, &Value)| {
        let model = offered(provider, name).filter(|_| cost.is_object())?;
        let usd_per_mtok = prices(|name| cost[name].as_f64(), NAMES, 1.0);
        Some(Quote { name: format!("{provider}/{name}"), model, usd_per_mtok })
    };
    models.filter_map(quote).collect()
}
