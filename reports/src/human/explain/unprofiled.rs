//! A request without a cache profile: its usage and its bill.

use forkcast_replay::replay::inspect::Unread;
use forkcast_sim::ledger::Line;

use crate::document::{Document, count, money, several};
use crate::human::when;
use crate::report::{Recorded, Report, statement_of_one};

/// A model without a name.
const UNKNOWN_MODEL: &str = "unknown model";

/// A request that no cache profile can read: its usage and its bill.
pub fn unprofiled(report: &Report<'_>, entry: &Recorded<'_>, why: &Unread) -> Document {
    let line = &entry.line;
    let mut document = Document::default();
    let place = report.spot(&entry.into());
    let at = line.at.and_then(|at| when::sent(at, &report.view.zone)).map_or_else(String::new, |at| format!(", {at}"));
    let model = report.names.model(&line.model);
    let model = if model.is_empty() { UNKNOWN_MODEL } else { &*model };
    document.title(format!("Request {}, {place}: {model}{at}", line.index));
    document.text(vec![
        recorded(line),
        match why {
            Unread::NoProfile(provider) => {
                format!("There is no cache profile for {provider} yet, so the contents of its cache are unknown.")
            }
            Unread::Unreadable(what) => format!("Its body is no request: {}.", report.names.message(what)),
            Unread::Refused => "The provider refused it, so nothing was read or written.".to_owned(),
            why => format!("The contents of its cache are unknown: {}.", why.reason()),
        },
    ]);
    document.heading("Its cost");
    let bill = line.charge.bill.as_ref().map(|bill| bill.total);
    document.text(vec![match bill {
        _ if *why == Unread::Refused => "Nothing was billed.".to_owned(),
        Some(bill) => format!("{} at {}.", money(bill), statement_of_one(report, line.at)),
        None if line.recorded.is_none() => "Nothing is known about it.".to_owned(),
        None => super::no_price(report, line),
    }]);
    document.aside(super::notes(report, line));
    document
}

fn recorded(line: &Line) -> String {
    let Some(usage) = line.recorded else { return "No usage of it is recorded.".to_owned() };
    format!(
        "Read {} of {} input tokens, wrote {}; {} of answer.",
        count(usage.cache_read_input_tokens),
        count(usage.total_input_tokens()),
        count(usage.cache_creation_input_tokens()),
        several(usage.output_tokens, "token")
    )
}
