//! genai-prices: `[{id, models: [{id, prices}]}]`, where `prices` is one set or a list of conditional ones.

use forkcast_sim::pricing::Date;
use serde_json::Value;

use super::{Quote, offered, prices};

const NAMES: [&str; 5] = ["input_mtok", "cache_write_mtok", "cache_write_1h_mtok", "cache_read_mtok", "output_mtok"];

pub(super) fn quotes(table: &Value, day: Date) -> Vec<Quote> {
    let providers = table.as_array().into_iter().flatten();
    providers.flat_map(|provider| models(provider, day)).collect()
}

fn models(provider: &Value, day: Date) -> Vec<Quote> {
    let Some(id) = provider["id"].as_str() else { return Vec::new() };
    let quote = |model: &Value| {
        let name = model["id"].as_str()?;
        let of = in_force(&model["prices"], day)?;
        let usd_per_mtok = prices(|name| price(&of[name]), NAMES, 1.0);
        Some(Quote { name: format!("{id}/{name}"), model: offered(id, name)?, usd_per_mtok })
    };
    provider["models"].as_array().into_iter().flatten().filter_map(quote).collect()
}

/// The last set whose first day has come. Sets for hours of the day are left out.
fn in_force(prices: &Value, day: Date) -> Option<&Value> {
    let Some(sets) = prices.as_array() else { return Some(prices) };
    let day = day.to_string();
    let holds = |set: &&Value| {
        let constraint = &set["constraint"];
        let start = constraint["start_date"].as_str();
        constraint["start_time"].is_null() && start.is_none_or(|start| start <= day.as_str())
    };
    sets.iter().rev().find(holds).map(|set| &set["prices"])
}

/// The price of prompts of ordinary length.
fn price(price: &Value) -> Option<f64> {
    price.as_f64().or_else(|| price["base"].as_f64())
}
