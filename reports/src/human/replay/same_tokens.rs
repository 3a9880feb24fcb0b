//! What rows with the same tokens at other prices leave open.

use forkcast_replay::what_if::WhatIf;
use forkcast_sim::pricing::{Category, Date, ModelKey, Money, Rates, Terms};
use forkcast_sim::wire::model::{ModelId, Vendor};

use super::listed;
use crate::document::{count, money, several};
use crate::report::{Report, Tried};

/// Empty if every row was tried in a cache.
pub(super) fn sentences(report: &Report<'_>) -> Vec<String> {
    let rows: Vec<(usize, &Tried)> = report.tried().filter(|(_, tried)| tried.same_tokens > 0).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = rows.iter().map(|(_, tried)| named(report, tried)).collect();
    let common = format!(
        "The same tokens at other list prices, since no cache is modelled there: {}. Another tokenizer, other answers and \
         what the other model's cache would have read are unknown.",
        listed(&names)
    );
    let of_models = rows.iter().filter_map(|(at, _)| of_model(report, *at));
    std::iter::once(common).chain(of_models).collect()
}

/// The row, and how many requests have these tokens.
fn named(report: &Report<'_>, tried: &Tried) -> String {
    let rest = report.tally.counted.saturating_sub(tried.cached + tried.same_tokens);
    let rest = if rest > 0 { format!(", {} as billed", count(rest)) } else { String::new() };
    format!("{} ({}{rest})", tried.name, several(tried.same_tokens, "request"))
}

/// How the categories of the other model differ, and whether it was on sale.
fn of_model(report: &Report<'_>, at: usize) -> Option<String> {
    let WhatIf { model, prices, .. } = report.options.what_if.get(at)?;
    let model = (*model)?;
    let first = report.span().map(|(from, _)| Date::of(from));
    let terms = Terms { date: prices.or(report.options.prices_of).or(first), ..Terms::default() };
    let rates = report.options.book.rates(&ModelKey::from(model), &terms).ok()?;
    let facts: Vec<String> =
        [writes(report, at, model, &rates), first_price(report, &rates)].into_iter().flatten().collect();
    (!facts.is_empty()).then(|| format!("{model}: {}.", facts.join("; ")))
}

/// What its writes cost beside its plain input.
fn writes(report: &Report<'_>, at: usize, model: ModelId, rates: &Rates) -> Option<String> {
    let usage = report.totals.what_if.get(at)?.usage;
    let has_writes = usage.cache_creation_input_tokens() > 0;
    let has_hours = report.totals.billed.usage.ephemeral_1h_input_tokens > 0 && model.row().vendor != Vendor::Anthropic;
    let most = usage.input_tokens.max(usage.cache_creation_input_tokens());
    let premium = rates.difference(Category::Write5m, Category::Input, most);
    match (premium > Money::ZERO, has_writes) {
        (true, false) => Some(format!(
            "it charges for writing to its cache, and these requests report no writes; with all plain input written it \
             would be about {} more",
            money(premium)
        )),
        (true, true) if has_hours => Some("writes for an hour cost what its ordinary writes do".to_owned()),
        (false, true) => Some("it does not charge for writing: written tokens cost what plain input does".to_owned()),
        _ => None,
    }
}

/// The day of its first price, if that is younger than some request.
fn first_price(report: &Report<'_>, rates: &Rates) -> Option<String> {
    let row = report.options.book.rows().get(rates.row.filter(|_| rates.before_first_row)?)?;
    Some(format!("its first price, of {}, holds for requests before that day too", row.valid_from?))
}
