//! The report of a replay.

mod account;
mod actions;
mod agents;
mod agreement;
mod bill;
mod chapters;
mod damage;
mod gates;
mod head;
mod misses;
mod same_tokens;
mod sessions;
mod totals;
mod unseen;
mod what_if;

pub use chapters::{Chapters, chapters};
pub use gates::sentence;
pub(super) use totals::part_of;

use forkcast_sim::outside::quoted;

use crate::document::{Document, several};
use crate::human::when;
use crate::report::{CAUSES_HINT, Report};

/// The first screen: the bill, what it was spent on, what to change, the requested parts, the most expensive sessions.
/// With details also all other tables for people.
pub fn document(report: &Report<'_>) -> Document {
    let mut document = Document::default();
    head::add(report, &mut document);
    if report.tally.requests == 0 {
        document.text(vec![match (&report.view.project, &report.view.session) {
            (Some(project), _) => format!("No request of a project with {} in its path.", quoted(project)),
            (None, Some(session)) => format!("No request of a session whose id begins with {}.", quoted(session)),
            (None, None) => format!("No request was sent in this period{}.", newest(report)),
        }]);
        gates::add(report, &mut document);
        damage::add(report, &mut document);
        return document;
    }
    gates::add(report, &mut document);
    bill::add(report, &mut document);
    actions::add(report, &mut document);
    sessions::add_groups(report, &mut document);
    sessions::add_models(report, &mut document);
    if report.view.details {
        details(report, &mut document);
    } else {
        first_screen(report, &mut document);
    }
    document
}

/// When the newest request was sent, if none counts.
fn newest(report: &Report<'_>) -> String {
    let newest = report.left_out.newest.and_then(|at| when::sent(at, &report.view.zone));
    newest.map_or_else(String::new, |sent| format!("; the newest was sent {sent}"))
}

fn first_screen(report: &Report<'_>, document: &mut Document) {
    if report.view.by.is_none() {
        sessions::add(report, document, SESSIONS_FIRST);
    }
    if !report.view.what_ifs.is_empty() && report.tried().next().is_some() {
        what_if::add(report, document);
    }
    document.text(unseen::without_what_ifs(report).into_iter().collect());
    super::calibration::add(report, document);
    if report.unreadable().next().is_some() {
        damage::add(report, document);
    }
    document.aside(pointers(report));
}

/// Sessions on the first screen.
const SESSIONS_FIRST: usize = 5;

/// Sessions with details.
const SESSIONS_ALL: usize = 10;

fn details(report: &Report<'_>, document: &mut Document) {
    head::rules(report, document);
    totals::add(report, document);
    misses::add(report, document);
    sessions::add(report, document, SESSIONS_ALL);
    agents::add(report, document);
    what_if::add(report, document);
    agreement::add(report, document);
    unseen::add(report, document);
    super::calibration::add(report, document);
    damage::add(report, document);
}

/// References to the rest.
fn pointers(report: &Report<'_>) -> Vec<String> {
    let limits = unseen::sentences(report).len();
    let limits =
        if limits > 0 { format!(", {} of these numbers", several(limits as u64, "limit")) } else { String::new() };
    let why = if report.misses.is_empty() { "" } else { "why tokens were not read, " };
    let what_ifs = if report.tried().next().is_none() { "" } else { "what-ifs, " };
    let meaning = if why.is_empty() { String::new() } else { format!("; {CAUSES_HINT}") };
    vec![
        format!("--details: {why}{what_ifs}forecast{limits}"),
        "--by day, --by model, --by project: the same by group; --session ID: one session".to_owned(),
        format!("forkcast explain: one request in full{meaning}"),
    ]
}

/// The requested parts besides the sums: limits, groups, what-ifs.
pub fn asked(report: &Report<'_>) -> Document {
    let mut document = Document::default();
    gates::add(report, &mut document);
    sessions::add_groups(report, &mut document);
    if report.tried().next().is_some() {
        what_if::add(report, &mut document);
    }
    document
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Whether everything comes from transcripts: these have sessions and agents, not recordings and chains.
const fn is_of_transcripts(report: &Report<'_>) -> bool {
    report.tally.requests > 0 && report.tally.from_transcripts == report.tally.requests
}
