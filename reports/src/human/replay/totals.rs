//! Recorded and predicted tokens.

use forkcast_sim::pricing::{Category, Money};

use crate::document::{Cell, Column, Document, Table};
use crate::report::{Report, Side};

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    document.heading("Recorded and predicted");
    document.table(table(report));
}

fn table(report: &Report<'_>) -> Table {
    let account = &report.totals;
    let recorded = (account.ledger.recorded_requests > 0).then_some(account.recorded);
    let sides: Vec<Side> = recorded.into_iter().chain(account.predicted).collect();
    let mut columns = vec![Column::wrap("", "what")];
    columns.extend(recorded.map(|_| Column::right("Recorded", "recorded")));
    columns.extend(account.predicted.map(|_| Column::right("Predicted", "predicted")));
    let both = sides.len() == 2;
    if both {
        columns.push(Column::right("Difference", "difference").kept());
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

/// The lifetimes are Claude's; other providers have their own.
fn rows(report: &Report<'_>) -> [(&'static str, Category); 5] {
    let short = if report.tally.foreign_writes { "Written to the cache" } else { "Written for 5 minutes" };
    [
        ("Read from the cache", Category::Read),
        (short, Category::Write5m),
        ("Written for 1 hour", Category::Write1h),
        ("Input without the cache", Category::Input),
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
                .map_or(Cell::Empty, |(recorded, predicted)| Cell::MoneyDifference(Some(predicted - recorded))),
        );
    }
    row
}

/// A share of an amount; zero if the amount is zero.
pub fn part_of(part: Money, whole: Money) -> f64 {
    if whole == Money::ZERO { 0.0 } else { part.picousd() as f64 / whole.picousd() as f64 }
}
