//! A row for each recording, where there are several.

use std::cmp::Reverse;

use forkcast_replay::agreement::NotComparable;
use forkcast_sim::wire::Usage;

use crate::document::{Cell, Column, Document, Table};
use crate::report::{Account, Report, Session};

/// Sessions that people see.
const SHOWN: usize = 12;

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    if report.sessions.len() < 2 {
        return;
    }
    let mut sessions: Vec<&Session> = report.sessions.iter().collect();
    sessions.sort_by_key(|session| {
        (
            Reverse(session.account.billed.cost),
            Reverse(session.account.billed.usage.total_input_tokens()),
            session.index,
        )
    });
    let mut table = Table::new(
        "sessions",
        vec![
            Column::name("Recording", "session"),
            Column::right("Requests", "requests"),
            Column::right("Input tokens", "input_tokens").optional(),
            Column::right("Hit rate", "hit_rate"),
            Column::right("Cost", "cost_usd"),
            Column::right("Missed tokens", "missed_tokens").optional(),
            Column::right("Missed cost", "missed_usd"),
            Column::left("Mostly", "cause"),
        ],
    );
    table.rows.push(row("all".to_owned(), &report.totals));
    table.rows.extend(sessions.iter().map(|session| row(session.id.clone(), &session.account)));
    table.shown_max = SHOWN + 1;
    table.rows_are = "recordings (--format json and --format csv list all)";
    document.heading("Recordings, the dearest first");
    document.table(table);
}

fn row(name: String, account: &Account) -> Vec<Cell> {
    if account.billed.usage == Usage::default() {
        let without_profile = account.agreement.sums.not_comparable[NotComparable::NoProfile as usize];
        let why = if without_profile == account.ledger.requests { "no profile" } else { "no usage" };
        return vec![Cell::Text(name), Cell::Count(account.ledger.requests), Cell::text(why)];
    }
    let missed = account.billed.cost.zip(account.perfect).map(|(bill, perfect)| bill - perfect);
    let mostly = account.causes().first().map(|(cause, _)| cause.word());
    vec![
        Cell::Text(name),
        Cell::Count(account.ledger.requests),
        Cell::Count(account.billed.usage.total_input_tokens()),
        Cell::Share(account.billed.usage.hit_rate()),
        Cell::Money(account.billed.cost),
        Cell::Count(account.ledger.missed_tokens),
        Cell::Money(missed),
        mostly.map_or(Cell::Empty, Cell::text),
    ]
}
