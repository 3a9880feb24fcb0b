//! One request and the contents of its cache.

mod entries;
mod held;
mod stop;
mod transcript;
mod unprofiled;
mod words;

use entries::{difference, entries, nearest};
use held::{breakpoint_table, breakpoints, held};
use stop::stop;

pub use transcript::transcript;
pub use unprofiled::unprofiled;

use forkcast_sim::diagnosis::THINKING_AT;
use forkcast_sim::ledger::Line;

use crate::document::{Cell, Column, Document, Table, count, money, share};
use crate::explained::Explained;
use crate::human::when;
use crate::report::{Recorded, Report, statement_of_one, suggestion};

/// The explanation for people. `windows`: the bytes around the first difference are shown.
pub fn document(explained: &Explained<'_>, windows: bool) -> Document {
    let mut document = Document::default();
    document.title(title(explained));
    let consequences = consequences(explained.report, &explained.entry.line);
    document.text(consequences.into_iter().chain(outcome(explained)).chain(disagreement(explained)).collect());
    document.heading("The request");
    document.table(held(explained));
    document.heading("Its breakpoints, and the cache entries there");
    breakpoints(explained, &mut document);
    document.heading("Where the match stopped");
    document.text(stop(explained));
    document.heading("Contents of the cache");
    document.text(vec![entries(explained), nearest(explained)].into_iter().flatten().collect());
    difference(explained, windows, &mut document);
    document.heading("Its cost, and how to fix it");
    cost(explained, &mut document);
    document
}

/// The tables alone, for formats that have no sentences.
pub fn tables(explained: &Explained<'_>) -> Document {
    let mut document = Document::default();
    document.table(held(explained));
    document.table(breakpoint_table(explained));
    document.table(causes(explained.report, explained.entry));
    document
}

fn title(explained: &Explained<'_>) -> String {
    let line = &explained.entry.line;
    let at = line
        .at
        .and_then(|at| when::sent(at, &explained.report.view.zone))
        .map_or_else(String::new, |at| format!(", {at}"));
    let agent = explained.report.agent_of(explained.entry).map_or_else(String::new, |agent| format!(", {agent}"));
    format!(
        "Request {}, {}: {}{agent}{at}",
        line.index,
        explained.name_of(line.index),
        explained.report.names.model(&line.model)
    )
}

fn outcome(explained: &Explained<'_>) -> Option<String> {
    let line = &explained.entry.line;
    let usage = line.billed()?;
    let missed = line.explanation.as_ref().map_or(0, |explanation| explanation.missed_tokens());
    let total = usage.total_input_tokens();
    let whose = if line.recorded.is_some() { "" } else { " (predicted: the recording has no usage)" };
    let rate = usage.hit_rate().map_or_else(String::new, |rate| format!(", {}", share(rate)));
    let read = format!("Read {} of {} input tokens{rate}{whose}", count(usage.cache_read_input_tokens), count(total));
    Some(match missed {
        0 => format!("{read}; no token that was sent before was missed."),
        missed => format!("{read}; {} had been sent before and were paid again.", count(missed)),
    })
}

fn disagreement(explained: &Explained<'_>) -> Option<String> {
    let recorded = explained.entry.line.recorded?.cache_read_input_tokens;
    let predicted = explained.inspection.predicted.read_tokens;
    let rules = explained.inspection.rules.name;
    let (predicted_tokens, recorded_tokens) = (count(predicted), count(recorded));
    let said = match explained.report.view.is_of_run {
        true if recorded > predicted => format!(
            "The run read {recorded_tokens} tokens, because its scenario begins with a filled cache; of the requests in \
             this folder alone {predicted_tokens} could be read, which is what follows."
        ),
        true => {
            format!("The run read {recorded_tokens} tokens; by the requests in this folder it is {predicted_tokens}.")
        }
        false => format!(
            "The rules {rules} predict a read of {predicted_tokens} tokens; the provider reported {recorded_tokens}."
        ),
    };
    (recorded != predicted).then_some(said)
}

/// The text for a request without a bill.
fn no_price(report: &Report<'_>, line: &Line) -> String {
    if line.billed().is_none() {
        return "The recording has no usage of it, so its cost is unknown.".to_owned();
    }
    format!("{} has no price in the book, so only tokens are known.", report.names.model(&line.model))
}

/// What the provider does with thinking in a request: it is no cost, and comes before it (`design.md` 6).
fn consequences(report: &Report<'_>, line: &Line) -> Vec<String> {
    let of_thinking = line.remarks.iter().filter_map(|remark| remark.strip_prefix(THINKING_AT));
    of_thinking.map(|said| format!("Thinking at {}.", report.names.message(said).trim_end_matches('.'))).collect()
}

/// The other remarks of a request.
fn notes(report: &Report<'_>, line: &Line) -> Vec<String> {
    let others = line.remarks.iter().filter(|remark| !remark.starts_with(THINKING_AT));
    others.map(|remark| format!("Note: {}.", report.names.message(remark).trim_end_matches('.'))).collect()
}

fn cost(explained: &Explained<'_>, document: &mut Document) {
    let charge = &explained.entry.line.charge;
    let prices = statement_of_one(explained.report, explained.entry.line.at);
    let bill = charge.bill.as_ref().map(|bill| bill.total);
    let whose = if explained.entry.line.recorded.is_some() { "" } else { ", as predicted, without its answer" };
    document.text(vec![match bill.zip(charge.perfect) {
        None => no_price(explained.report, &explained.entry.line),
        Some((bill, perfect)) if bill == perfect => format!("{} at {prices}{whose}; nothing was missed.", money(bill)),
        Some((bill, perfect)) => format!(
            "{} at {prices}{whose}; {} with every missed token read: {} avoidable.",
            money(bill),
            money(perfect),
            money(bill - perfect)
        ),
    }]);
    let table = causes(explained.report, explained.entry);
    if !table.rows.is_empty() {
        document.table(table);
        super::list::hint(document);
    }
    document.aside(notes(explained.report, &explained.entry.line));
}

/// Why it missed, and what to do.
fn causes(report: &Report<'_>, entry: &Recorded<'_>) -> Table {
    let mut table = Table::new(
        "causes",
        vec![
            Column::left("Cause", "cause").kept(),
            Column::right("Tokens", "tokens"),
            Column::right("Cost", "cost_usd").kept(),
            Column::wrap("What changed", "change"),
            Column::wrap("How to fix it", "suggestion"),
        ],
    );
    let differences = entry.line.explanation.as_ref().map_or(&[][..], |why| &why.differences);
    let row = |part: &forkcast_sim::ledger::CauseCost| {
        let change = differences.iter().find(|found| found.cause == part.cause);
        let what =
            change.map_or_else(String::new, |found| format!("{}, at {}", report.names.thing(&found.name), found.path));
        vec![
            Cell::text(part.cause.word()),
            Cell::Count(part.tokens),
            Cell::Money(part.cost),
            Cell::Text(what),
            Cell::Text(suggestion(entry, part)),
        ]
    };
    table.rows = entry.line.charge.causes.iter().map(row).collect();
    table
}
