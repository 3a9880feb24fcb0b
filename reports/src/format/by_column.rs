//! Requests by column, as pages in a browser have them: the fields of the ledger, and some that only a page shows.

use forkcast_sim::pricing::Money;

use super::contents::ContentSums;
use super::ledger::LedgerLine;
use super::usage::NO_PRICE;
use crate::record::columns::Columns;
use crate::record::{Record, Shape};
use crate::report::{Counted, Recorded, Report, Senders, suggestion};

/// Fields of the ledger that a page does not show, or derives from others.
const LEFT_OUT: [&str; 12] = [
    "schema",
    "at",
    "first_byte_at",
    "bill",
    "fees",
    "exchange",
    "between",
    "read_tokens",
    "new_tokens",
    "missed",
    "predicted_cost_usd",
    "unread_writes_usd",
];

/// What it does not show either if the usage was recorded.
const PREDICTED: [&str; 1] = ["predicted"];

/// A request on a page.
struct PageRow<'a> {
    line: LedgerLine<'a>,
    entry: &'a Recorded<'a>,
    is_counted: bool,
    /// Places of the what-ifs that say something.
    tried: &'a [usize],
}

record! {
    PageRow<'_>, "page_row":
    flat: LedgerLine<'_>, => |row| row.line.value();
    truth "in_transcript", "It was recorded without its body: its place is a line." => |row| row.entry.exchange.is_none();
    truth "counted", "It is in the sums." => |row| row.is_counted;
    millis "ended_ms", "When its answer ended, on the same clock." =>
        |row| {
            let Recorded { exchange, answered, .. } = row.entry;
            exchange.and_then(|exchange| exchange.ended_at).or(answered.and_then(|answered| answered.answer.ended_at))
        }, null("if that is unknown");
    field "what_if_usd", || Shape::list(Shape::Number), "Its bill under each what-if, in their order; null where it is the same." =>
        |row| {
            let bill = row.line.line.charge.bill.as_ref().map(|bill| bill.total);
            let side = |at: &usize| row.entry.hypotheticals.get(*at);
            let other = |at| side(at).and_then(|side| side.cost).filter(|cost| Some(*cost) != bill);
            let is_any = !row.entry.hypotheticals.is_empty();
            row.tried.iter().filter(|_| is_any).map(other).collect::<Vec<Option<Money>>>()
        }, null(NO_PRICE);
    field "advice", || Shape::list(Shape::Text), "What to do about each of its causes." =>
        |row| row.line.line.charge.causes.iter().map(|part| suggestion(row.entry, part)).collect::<Vec<String>>();
}

/// What a page has of all requests.
#[derive(Debug, Default)]
pub struct PageData {
    /// The requests, in the order of the ledger.
    pub requests: Columns,
    /// What prompts were made of.
    pub contents: ContentSums,
}

/// What a page has of the requests of a report.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn of(report: &Report<'_>) -> serde_json::Result<PageData> {
    let predicted: &[&str] = if report.counted == Counted::Recorded { &PREDICTED } else { &[] };
    let left_out = [&LEFT_OUT, predicted].concat();
    let mut data = PageData::default();
    let tried: Vec<usize> = report.tried().map(|(at, _)| at).collect();
    let mut taken = Ok(());
    report.each(&mut |entry| {
        let line = LedgerLine::with_transcript(&Senders::from(report), report.counted, entry);
        let row = PageRow { line, entry, is_counted: report.counted.counts(entry), tried: &tried };
        if row.is_counted {
            data.contents.add(report, entry);
        }
        if taken.is_ok() {
            taken = data.requests.take(&row.value(), &left_out);
        }
    });
    taken.map(|()| data)
}
