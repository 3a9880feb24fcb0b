//! Recorded beside predicted, and what the bill could have been.

use forkcast_sim::pricing::{Category, Money};

use super::{listed, some};
use crate::document::{Cell, Column, Document, Table, count, money, share};
use crate::report::{Entry, Report, Side, Unpriced, not_modelled, unpriced};

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    document.heading("Tokens and cost");
    document.table(table(report));
    let sentences = [
        perfect(report),
        unread(report),
        without_rules(report),
        without_price(report),
        estimated(report),
        without_usage(report),
    ];
    document.text(sentences.into_iter().flatten().collect());
}

fn table(report: &Report<'_>) -> Table {
    let account = &report.totals;
    let recorded = (account.ledger.recorded_requests > 0).then_some(account.recorded);
    let sides: Vec<Side> = recorded.into_iter().chain(account.predicted).collect();
    let mut columns = vec![Column::left("", "what")];
    columns.extend(recorded.map(|_| Column::right("Recorded", "recorded")));
    columns.extend(account.predicted.map(|_| Column::right("Predicted", "predicted")));
    let both = sides.len() == 2;
    if both {
        columns.push(Column::right("Difference", "difference"));
    }
    let mut table = Table::new("totals", columns);
    for (title, category) in rows(report) {
        let tokens: Vec<u64> = sides.iter().map(|side| category.tokens(&side.usage)).collect();
        let is_write = matches!(category, Category::Write5m | Category::Write1h);
        if is_write && tokens.iter().all(|tokens| *tokens == 0) {
            continue;
        }
        let mut row = vec![Cell::text(title)];
        row.extend(tokens.iter().map(|tokens| Cell::Count(*tokens)));
        if let [recorded, predicted] = tokens[..] {
            row.push(Cell::Difference(i128::from(predicted) - i128::from(recorded)));
        }
        table.rows.push(row);
    }
    for (name, (number, _)) in &account.fees {
        let mut row = vec![Cell::Text(format!("Fee: {}", name.replace('_', " ")))];
        row.extend(sides.iter().map(|_| Cell::Count(*number)));
        row.extend(both.then_some(Cell::Difference(0)));
        table.rows.push(row);
    }
    table.rows.push(rates(&sides));
    table.rows.push(costs(&sides));
    table
}

/// Lifetimes are Claude's; what other providers write lives as long as each of them has it.
fn rows(report: &Report<'_>) -> [(&'static str, Category); 5] {
    let foreign = |entry: &Entry<'_>| {
        let written = entry.line.billed().is_some_and(|usage| usage.cache_creation_input_tokens() > 0);
        written && entry.is_foreign()
    };
    let short = if report.entries.iter().any(foreign) { "Written to the cache" } else { "Written for 5 minutes" };
    [
        ("Read from the cache", Category::Read),
        (short, Category::Write5m),
        ("Written for 1 hour", Category::Write1h),
        ("Plain input", Category::Input),
        ("Output", Category::Output),
    ]
}

fn rates(sides: &[Side]) -> Vec<Cell> {
    let mut row = vec![Cell::text("Hit rate")];
    row.extend(sides.iter().map(|side| Cell::Share(side.usage.hit_rate())));
    row.extend((sides.len() == 2).then_some(Cell::Empty));
    row
}

fn costs(sides: &[Side]) -> Vec<Cell> {
    let mut row = vec![Cell::text("Cost")];
    row.extend(sides.iter().map(|side| Cell::Money(side.cost)));
    if let [recorded, predicted] = sides {
        row.push(
            recorded
                .cost
                .zip(predicted.cost)
                .map_or(Cell::Empty, |(recorded, predicted)| Cell::Money(Some(predicted - recorded))),
        );
    }
    row
}

/// The bill if everything that had been sent before had been read.
fn perfect(report: &Report<'_>) -> Option<String> {
    let account = &report.totals;
    let (bill, perfect) = account.billed.cost.zip(account.perfect).filter(|_| account.is_explained())?;
    if bill == perfect {
        let perfect =
            if not_modelled(report) == 0 { ": this is the perfect bill" } else { ", as far as that is known" };
        return Some(format!("Every token that could have been read was read{perfect}."));
    }
    let saved = bill - perfect;
    Some(format!(
        "Perfect bill {}: with every missed token read, {} ({}) less.",
        money(perfect),
        money(saved),
        share(part_of(saved, bill)),
    ))
}

/// Requests of which only usage and bill are known.
fn without_rules(report: &Report<'_>) -> Option<String> {
    let all = report.entries.iter().filter(|entry| report.counted.counts(entry)).count() as u64;
    let without = not_modelled(report);
    let who = if without == all {
        "All requests".to_owned()
    } else {
        format!("{} of {}", count(without), some(all, "request"))
    };
    let both = if report.totals.predicted.is_some() { ", so they count on both sides as recorded" } else { "" };
    (without > 0).then(|| {
        format!("{who} went to providers whose cache is not modelled yet: what they missed is not known{both}.")
    })
}

fn unread(report: &Report<'_>) -> Option<String> {
    let premium = report.totals.unread_writes.filter(|premium| *premium > Money::ZERO)?;
    Some(format!("Writes that nobody read cost {} more than plain input would have.", money(premium)))
}

fn estimated(report: &Report<'_>) -> Option<String> {
    let estimated = report.totals.output_estimated;
    (estimated.requests > 0).then(|| {
        format!(
            "The output of {} is the start value of a stream ({}): their true output is larger.",
            some(estimated.requests, "request"),
            some(estimated.tokens, "token"),
        )
    })
}

/// Models named in a sentence.
const MODELS_NAMED: usize = 5;

/// Tokens that are counted and cost nothing in these sums.
fn without_price(report: &Report<'_>) -> Option<String> {
    let mut unpriced = unpriced(report);
    unpriced.retain(|model| model.tokens > 0);
    unpriced.sort_by_key(|model| std::cmp::Reverse(model.tokens));
    let tokens: u64 = unpriced.iter().map(|model| model.tokens).sum();
    let requests: u64 = unpriced.iter().map(|model| model.requests).sum();
    let name = |model: &Unpriced| if model.model.is_empty() { "(unnamed)".to_owned() } else { model.model.clone() };
    let mut named: Vec<String> = unpriced.iter().take(MODELS_NAMED).map(name).collect();
    match unpriced.len().saturating_sub(MODELS_NAMED) {
        0 => {}
        more => named.push(format!("{more} more models")),
    }
    (!unpriced.is_empty()).then(|| {
        format!(
            "There is no price for {}: the {} of {} count, and are not in the cost. \
             --price-book FILE or --price MODEL:CATEGORY=USD_PER_MTOK supplies one.",
            listed(&named),
            some(tokens, "token"),
            some(requests, "request"),
        )
    })
}

/// Requests of which nothing was recorded, beside others of which something was.
fn without_usage(report: &Report<'_>) -> Option<String> {
    let out = || report.entries.iter().filter(|entry| !report.counted.counts(entry));
    let (number, predicted) = (out().count() as u64, out().any(|entry| entry.line.predicted.is_some()));
    let alone = match number {
        1 => "; replay it alone to see what the rules predict",
        _ => "; replay them alone to see what the rules predict",
    };
    let are = if number == 1 { "is" } else { "are" };
    let alone = if predicted { alone } else { "" };
    (number > 0).then(|| format!("{} {are} without recorded usage and in no sum{alone}.", some(number, "request")))
}

/// A part of an amount; zero of nothing.
pub(super) fn part_of(part: Money, whole: Money) -> f64 {
    if whole == Money::ZERO { 0.0 } else { part.picousd() as f64 / whole.picousd() as f64 }
}
