//! What is listed one by one: misses, models without a price, remarks.

use std::collections::BTreeMap;

use forkcast_sim::diagnosis::{Cause, Difference};
use forkcast_sim::pricing::Money;

use super::{Entry, Report};

/// The tokens that one request missed for one reason.
#[derive(Clone, Copy, Debug)]
pub struct Miss<'r, 'a> {
    /// The request.
    pub entry: &'r Entry<'a>,
    /// Why.
    pub cause: Cause,
    /// How many.
    pub tokens: u64,
    /// What they cost over the read price; `None` for a model without a price.
    pub cost: Option<Money>,
    /// The difference to blame, where the cause is one of content.
    pub difference: Option<&'a Difference>,
}

/// A model whose tokens count and whose money is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpriced {
    /// The model as spelled.
    pub model: String,
    /// Its requests with usage.
    pub requests: u64,
    /// Its tokens, input and output.
    pub tokens: u64,
}

impl Unpriced {
    /// Why its money is unknown, as machines read it.
    pub const fn reason(&self) -> &'static str {
        if self.model.is_empty() { "no_model" } else { "no_price" }
    }
}

/// Every miss of the requests that the sums count, the dearest first.
pub fn misses<'r, 'a>(report: &'r Report<'a>) -> Vec<Miss<'r, 'a>> {
    let mut found: Vec<Miss<'r, 'a>> =
        report.entries.iter().filter(|entry| report.counted.counts(entry)).flat_map(of_entry).collect();
    found.sort_by_key(|miss| {
        (-miss.cost.unwrap_or_default(), std::cmp::Reverse(miss.tokens), miss.entry.line.index, miss.cause)
    });
    found
}

fn of_entry<'r, 'a>(entry: &'r Entry<'a>) -> impl Iterator<Item = Miss<'r, 'a>> {
    let line = entry.line;
    line.charge.causes.iter().map(move |part| Miss {
        entry,
        cause: part.cause,
        tokens: part.tokens,
        cost: part.cost,
        difference: line
            .explanation
            .as_ref()
            .and_then(|explanation| explanation.differences.iter().find(|found| found.cause == part.cause)),
    })
}

/// Counted requests to providers whose cache is not modelled: usage and bill are known, and not what they missed.
pub fn not_modelled(report: &Report<'_>) -> u64 {
    let counted = report.entries.iter().filter(|entry| report.counted.counts(entry));
    counted.filter(|entry| entry.is_foreign()).count() as u64
}

/// Models without a price, in order of their names.
pub fn unpriced(report: &Report<'_>) -> Vec<Unpriced> {
    let mut found: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for entry in &report.entries {
        let line = entry.line;
        let Some(usage) = line.billed().filter(|_| line.charge.bill.is_none()) else { continue };
        let sums = found.entry(line.model.as_str()).or_default();
        sums.0 += 1;
        sums.1 = sums.1.saturating_add(usage.total_input_tokens()).saturating_add(usage.output_tokens);
    }
    let unpriced = found.into_iter();
    unpriced.map(|(model, (requests, tokens))| Unpriced { model: model.to_owned(), requests, tokens }).collect()
}

/// Remarks of the ledger, each once with the number of its requests, the commonest first.
pub fn remarks(report: &Report<'_>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for remark in report.entries.iter().flat_map(|entry| &entry.line.remarks) {
        *counts.entry(remark).or_default() += 1;
    }
    let mut remarks: Vec<(String, u64)> =
        counts.into_iter().map(|(remark, count)| (remark.to_owned(), count)).collect();
    remarks.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    remarks
}
