//! Sums in a row of a table: of a recording, of a group.

use forkcast_sim::wire::Usage;

use crate::document::{Cell, Column, Table};
use crate::report::Account;

/// An empty table of sums; `first` is the column of their names.
pub(super) fn table(word: &'static str, first: Column) -> Table {
    Table::new(
        word,
        vec![
            first,
            Column::right("Requests", "requests"),
            Column::right("Input", "input_tokens").optional(),
            Column::right("Hit rate", "hit_rate"),
            Column::right("Output", "output_tokens").optional(),
            Column::right("Cost", "cost_usd").kept(),
            Column::right("Missed", "missed_tokens").optional(),
            Column::right("Avoidable", "missed_usd").kept(),
            Column::left("Mostly", "cause").kept(),
        ],
    )
}

/// A row of it.
pub(super) fn row(name: &str, account: &Account) -> Vec<Cell> {
    let mut row = vec![Cell::text(name), Cell::Count(account.ledger.requests)];
    if account.billed.usage == Usage::default() {
        row.extend([Cell::Empty, Cell::Missing("no usage")]);
        return row;
    }
    row.extend([
        Cell::Count(account.billed.usage.total_input_tokens()),
        Cell::Share(account.billed.usage.hit_rate()),
        Cell::Count(account.billed.usage.output_tokens),
        Cell::Money(account.billed.cost),
    ]);
    row.extend(missed(account));
    row
}

fn missed(account: &Account) -> [Cell; 3] {
    if !account.is_explained() {
        return [Cell::Missing("–"), Cell::Missing("–"), Cell::Empty];
    }
    let cost = account.billed.cost.zip(account.perfect).map(|(bill, perfect)| bill - perfect);
    let mostly = account.causes().first().map(|(cause, _)| cause.word());
    [Cell::Count(account.ledger.missed_tokens), Cell::Money(cost), mostly.map_or(Cell::Empty, Cell::text)]
}
