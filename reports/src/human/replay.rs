//! The report of a replay.

mod account;
mod actions;
mod agents;
mod agreement;
mod damage;
mod gates;
mod head;
mod misses;
mod sessions;
mod totals;
mod unseen;
mod what_if;

pub use gates::sentence;

use crate::document::Document;
use crate::report::{Miss, Place, Report};

/// The report, most important things first.
pub fn document(report: &Report<'_>) -> Document {
    let mut document = Document::default();
    head::add(report, &mut document);
    if report.tally.requests == 0 {
        document.text(vec!["No request was sent in that time.".to_owned()]);
        gates::add(report, &mut document);
        damage::add(report, &mut document);
        return document;
    }
    gates::add(report, &mut document);
    actions::add(report, &mut document);
    totals::add(report, &mut document);
    sessions::add_groups(report, &mut document);
    sessions::add_models(report, &mut document);
    misses::add(report, &mut document);
    sessions::add(report, &mut document);
    agents::add(report, &mut document);
    what_if::add(report, &mut document);
    agreement::add(report, &mut document);
    unseen::add(report, &mut document);
    super::calibration::add(report, &mut document);
    damage::add(report, &mut document);
    document
}

/// What was asked for beside the sums: limits, groups, what-ifs.
pub fn asked(report: &Report<'_>) -> Document {
    let mut document = Document::default();
    gates::add(report, &mut document);
    sessions::add_groups(report, &mut document);
    if !report.what_ifs.is_empty() {
        what_if::add(report, &mut document);
    }
    document
}

/// `1 file`, `2 files`.
fn some(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", crate::document::count(number))
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Where a request was recorded: `file.json#3`, in a transcript the line of its answer, `session.jsonl:812`.
fn place(report: &Report<'_>, place: &Place) -> String {
    let file = report.short(&place.file);
    if place.told { format!("{file}:{}", place.line) } else { format!("{file}#{}", place.file_index) }
}

/// Everything was told by transcripts: these hold sessions and agents, not recordings and chains.
const fn is_told(report: &Report<'_>) -> bool {
    report.tally.requests > 0 && report.tally.told == report.tally.requests
}

/// Where it shows why a request missed: the line of the transcript that tells it, else where it was recorded.
fn shown_at(report: &Report<'_>, miss: &Miss) -> String {
    match &miss.evidence {
        Some(shown) => format!("{}:{}", report.short(&shown.file), shown.line),
        None => place(report, &miss.place),
    }
}
