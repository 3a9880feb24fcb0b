//! Requests by column, as pages in a browser have them: the fields of the ledger, and some that only a page shows.

use forkcast_sim::pricing::Money;

use super::ledger::LedgerLine;
use super::usage::NO_PRICE;
use crate::record::columns::Columns;
use crate::record::{Record, Shape};
use crate::report::{Recorded, Report, Senders};

/// Fields of the ledger that a page does not show, or derives from others.
const LEFT_OUT: [&str; 8] = ["schema", "at", "first_byte_at", "bill", "fees", "exchange", "between", "new_tokens"];

/// A request on a page.
struct PageRow<'a> {
    line: LedgerLine<'a>,
    entry: &'a Recorded<'a>,
    is_counted: bool,
}

record! {
    PageRow<'_>, "page_row":
    flat: LedgerLine<'_>, => |row| row.line.value();
    truth "counted", "It is in the sums." => |row| row.is_counted;
    millis "ended_ms", "When its answer ended, on the same clock." =>
        |row| {
            let Recorded { exchange, answered, .. } = row.entry;
            exchange.and_then(|exchange| exchange.ended_at).or(answered.and_then(|answered| answered.answer.ended_at))
        }, null("if that is unknown");
    field "what_if_usd", || Shape::list(Shape::Number), "Its bill under each what-if, in their order." =>
        |row| {
            let sides = row.entry.hypotheticals.iter();
            sides.map(|side| side.cost).collect::<Vec<Option<Money>>>()
        }, null(NO_PRICE);
}

/// All requests of a report, in the order of the ledger.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn of(report: &Report<'_>) -> serde_json::Result<Columns> {
    let mut columns = Columns::default();
    let mut taken = Ok(());
    report.each(&mut |entry| {
        let line = LedgerLine::with_transcript(&Senders::from(report), entry);
        let row = PageRow { line, entry, is_counted: report.counted.counts(entry) };
        if taken.is_ok() {
            taken = columns.take(&row.value(), &LEFT_OUT);
        }
    });
    taken.map(|()| columns)
}
