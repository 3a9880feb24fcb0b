//! The input, the rules and the prices.

use super::{bill, is_of_transcripts, listed};
use crate::document::{Document, count, several};
use crate::human::when;
use crate::names::Names;
use crate::report::{Report, UNKNOWN, statement};

/// The first line, and the input.
pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    document.title(bill::title(report));
    let facts = [files(report), window(report), prices(report), refused(report), thinking(report)];
    document.aside(facts.into_iter().flatten().collect());
}

/// The rules; the model, if there is only one.
pub(super) fn rules(report: &Report<'_>, document: &mut Document) {
    let chains: usize = report.sessions.iter().map(|session| session.chains).sum();
    let chain = if is_of_transcripts(report) { "agent" } else { "chain" };
    let chains = (chains > 0).then(|| format!("Requests of {}", several(chains as u64, chain)));
    document.aside([chains, profiles(report), model(report)].into_iter().flatten().collect());
}

fn files(report: &Report<'_>) -> Option<String> {
    let inputs = report.inputs;
    let passed_over = [
        (inputs.files_skipped(), "passed over"),
        (inputs.skipped.len() - inputs.files_skipped(), "entries passed over"),
        (report.unreadable().count(), "unreadable"),
        (inputs.repaired.len(), "repaired"),
    ];
    let found: Vec<String> = passed_over
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", count(*number as u64)))
        .collect();
    let place = match report.names {
        Names::Plain if !report.folder.is_empty() => format!(" below {}", report.folder),
        _ => String::new(),
    };
    let read = several(inputs.files_read() as u64, "file");
    let size = format!("Read {read}, {}{place}", crate::document::bytes(inputs.bytes));
    Some(if found.is_empty() { size } else { format!("{size}; {}", found.join(", ")) })
}

/// Which requests count, and how many others were replayed.
fn window(report: &Report<'_>) -> Option<String> {
    let window = report.view.window;
    let zone = &report.view.zone;
    let view = &report.view;
    if window.is_open() && view.project.is_none() && view.session.is_none() {
        return None;
    }
    let since = window.since.and_then(|at| when::moment(at, zone)).map(|since| format!(" from {since}"));
    let until = window.until.and_then(|at| when::moment(at, zone)).map(|until| format!(" to {until}"));
    let mut sent = "Counting requests".to_owned();
    if !window.is_open() {
        sent.push_str(&format!(" sent{}{} {}", since.unwrap_or_default(), until.unwrap_or_default(), zone.name()));
    }
    let asked = [(view.project.is_some(), "projects"), (view.session.is_some(), "sessions")];
    for (_, things) in asked.into_iter().filter(|(is_asked, _)| *is_asked) {
        sent.push_str(&format!(" of the requested {things}"));
    }
    let left_out = report.left_out;
    if left_out.requests() == 0 {
        return Some(format!("{sent}: everything"));
    }
    let dark = match left_out.without_instant {
        0 => String::new(),
        number => format!(", {} of them because they have no instant", count(number)),
    };
    let others = several(left_out.requests(), "other request");
    Some(format!("{sent}; {others} only filled the cache{dark}"))
}

fn profiles(report: &Report<'_>) -> Option<String> {
    let names: Vec<String> = report.rules.iter().map(|name| (*name).to_owned()).collect();
    (!names.is_empty()).then(|| format!("Cache rules {}", listed(&names)))
}

fn prices(report: &Report<'_>) -> Option<String> {
    let statement = statement(report);
    let mut letters = statement.chars();
    let first = letters.next()?.to_uppercase();
    Some(format!("{first}{}, from the price book of {}", letters.as_str(), report.options.book.version()))
}

/// Without this a bill of nothing would be a riddle.
fn refused(report: &Report<'_>) -> Option<String> {
    let refused = report.tally.refused;
    (refused > 0).then(|| {
        let requests = several(refused, "request");
        format!("The provider would refuse {requests} (HTTP 400), so nothing of this is predicted: `forkcast check` says why")
    })
}

/// What becomes of thinking is no cost, and comes before the bill (`design.md` 6).
fn thinking(report: &Report<'_>) -> Option<String> {
    let unbound = report.tally.unbound_thinking;
    (unbound > 0).then(|| {
        let (requests, send) = (several(unbound, "request"), if unbound == 1 { "sends" } else { "send" });
        format!(
            "{requests} {send} thinking after other content than it was made after, billed here as if the provider took it: \
             `forkcast check` says what it does"
        )
    })
}

/// The model, if there is one: several have a table.
fn model(report: &Report<'_>) -> Option<String> {
    match &report.models[..] {
        [model] if model.key != UNKNOWN => Some(format!("Model {}", model.key)),
        _ => None,
    }
}
