//! Recorded beside predicted, and what the bill could have been.

use forkcast_sim::pricing::{Category, Money};

use super::some;
use crate::document::{Cell, Column, Document, Table, money, share};
use crate::report::{Report, Side, unpriced};

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    document.heading("Tokens and cost");
    document.table(table(report));
    document.text(
        vec![perfect(report), unread(report), estimated(report), without_usage(report)].into_iter().flatten().collect(),
    );
    without_price(report, document);
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
    for (title, category) in ROWS {
        let tokens: Vec<u64> = sides.iter().map(|side| category.tokens(&side.usage)).collect();
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

const ROWS: [(&str, Category); 5] = [
    ("Read from the cache", Category::Read),
    ("Written for 5 minutes", Category::Write5m),
    ("Written for 1 hour", Category::Write1h),
    ("Plain input", Category::Input),
    ("Output", Category::Output),
];

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
    let (bill, perfect) = account.billed.cost.zip(account.perfect)?;
    if bill == perfect {
        return Some("Every token that could have been read was read: this is the perfect bill.".to_owned());
    }
    let saved = bill - perfect;
    Some(format!(
        "Perfect bill {}: with every missed token read, {} ({}) less.",
        money(perfect),
        money(saved),
        share(part_of(saved, bill)),
    ))
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

/// Requests of which nothing was recorded, beside others of which something was.
fn without_usage(report: &Report<'_>) -> Option<String> {
    let out = report.entries.iter().filter(|entry| !report.counted.counts(entry)).count() as u64;
    (out > 0).then(|| {
        let them = if out == 1 { "it" } else { "them" };
        format!(
            "{} without recorded usage and in no sum; replay {them} alone to see what the rules predict.",
            some_are(out),
        )
    })
}

/// `1 request is`, `2 requests are`.
fn some_are(number: u64) -> String {
    format!("{} {}", some(number, "request"), if number == 1 { "is" } else { "are" })
}

fn without_price(report: &Report<'_>, document: &mut Document) {
    let unpriced = unpriced(report);
    if unpriced.is_empty() {
        return;
    }
    document.heading("Counted, not priced");
    let mut table = Table::new(
        "unpriced",
        vec![
            Column::left("Model", "model"),
            Column::right("Requests", "requests"),
            Column::right("Tokens", "tokens"),
            Column::wrap("Why", "reason"),
        ],
    );
    for model in unpriced {
        let unnamed = model.model.is_empty();
        let why = if unnamed { "the recording does not name it" } else { "no price in the book" };
        let name = if unnamed { "(unnamed)".to_owned() } else { model.model };
        table.rows.push(vec![
            Cell::Text(name),
            Cell::Count(model.requests),
            Cell::Count(model.tokens),
            Cell::text(why),
        ]);
    }
    table.shown_max = 8;
    table.rows_are = "models";
    document.table(table);
    document.text(vec!["Prices of your own: --price-book FILE, or --price MODEL:CATEGORY=USD_PER_MTOK.".to_owned()]);
}

/// A part of an amount; zero of nothing.
pub(super) fn part_of(part: Money, whole: Money) -> f64 {
    if whole == Money::ZERO { 0.0 } else { part.picousd() as f64 / whole.picousd() as f64 }
}
