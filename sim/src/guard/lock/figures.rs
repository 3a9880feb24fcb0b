//! Compares figures of a chain with the lock's.

use super::matching;
use super::{Chain, Lock};
use crate::guard::finding::percent;
use crate::guard::{Budget, Rule, Violation};
use crate::pricing::{Money, div_half_even};

/// Chains that cost more than the lock expects, or read less, beyond the tolerance of `budget`.
pub fn budget(old: &Lock, new: &Lock, budget: &Budget) -> Vec<Violation> {
    let mut found = Vec::new();
    for chain in matching::chains(old, new) {
        let (Some(before), Some(after)) = (chain.old, chain.new) else { continue };
        let rise =
            budget.max_cost_rise_per_mille.and_then(|most| dearer([before, after], [&old.prices, &new.prices], most));
        let fall = budget.max_hit_rate_fall_per_mille.and_then(|most| colder(before, after, most));
        found.extend(rise.into_iter().chain(fall));
    }
    found
}

fn dearer([before, after]: [&Chain; 2], prices: [&str; 2], most: u32) -> Option<Violation> {
    let was = before.cost()?;
    let is = after.cost()?;
    let allowed = Money::from_picousd(was.picousd() * (1_000 + i128::from(most)) / 1_000);
    let [old, new] = prices;
    let prices = match old == new {
        true => String::new(),
        false => format!(", at the prices of {old}; they are those of {new} now"),
    };
    let expected = format!("at most {} ({} in the lock{prices})", allowed.human(), was.human());
    (is > allowed).then(|| Violation::new(Rule::Budget, &after.name, "cost of all requests", is.human(), expected))
}

fn colder(before: &Chain, after: &Chain, most: u32) -> Option<Violation> {
    let (was, is) = (hit_rate_per_mille(before)?, hit_rate_per_mille(after)?);
    let least = was.saturating_sub(most);
    let expected = format!("at least {} ({} in the lock)", percent(least.into()), percent(was.into()));
    let what = "hit rate after the first request";
    (is < least).then(|| Violation::new(Rule::Budget, &after.name, what, percent(is.into()), expected))
}

/// Tokens read per thousand input tokens, without the first request; `None` if there is no other.
fn hit_rate_per_mille(chain: &Chain) -> Option<u32> {
    let usage = chain.requests.iter().skip(1).map(|request| request.usage);
    let (read, total) = usage.fold((0_i128, 0_i128), |(read, total), usage| {
        (read + i128::from(usage.cache_read_input_tokens), total + i128::from(usage.total_input_tokens()))
    });
    (total > 0).then(|| u32::try_from(div_half_even(read * 1_000, total)).unwrap_or(1_000))
}
