//! Errors for named paths without requests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use forkcast_replay::input::{Inputs, Unreadable};
use forkcast_reports::document::count;
use forkcast_reports::report::{Counted, Report, unpriced};

use crate::args::Doubt;
use crate::exit::BadInput;

/// A complaint for each named path without a single readable request.
pub fn of_inputs(inputs: &Inputs, unreplayed: &[Unreadable]) -> Vec<String> {
    let empty = inputs.scopes.iter().enumerate().filter(|(at, _)| !has_requests(inputs, *at, unreplayed));
    empty.map(|(_, scope)| complaint(&scope.name, inputs, unreplayed)).collect()
}

/// The errors, or one for empty input.
pub fn or_nothing_read(complaints: Vec<String>) -> BadInput {
    BadInput(if complaints.is_empty() { vec!["no recorded request was found".to_owned()] } else { complaints })
}

/// Doubts about the result of a replay.
pub fn doubts(report: &Report<'_>) -> Vec<Doubt> {
    let models = unpriced(report);
    let mut doubts = Doubt::unpriced(models.iter().map(|model| model.model.as_str()));
    doubts.extend(report.unreadable().map(|damage| Doubt::Unreadable {
        file: report.names.file(&damage.file),
        line: damage.line,
        reason: report.names.message(&damage.reason),
    }));
    let hollow = report.inputs.skipped.iter().filter(|skipped| skipped.is_damage());
    doubts.extend(hollow.map(|skipped| Doubt::LeftOut(located(&report.names.file(&skipped.file), 0, &skipped.reason))));
    doubts.extend(unmetered(report));
    doubts.extend(Doubt::partial(report.is_partial()));
    doubts
}

/// Requests with a cost that are in no sum, or whose size in a sum is unknown.
fn unmetered(report: &Report<'_>) -> Option<Doubt> {
    let requests = report.tally.unmetered;
    let from_transcripts = report.tally.from_transcripts;
    match report.counted {
        Counted::Recorded if requests > 0 => {
            let plural = if requests == 1 { "" } else { "s" };
            Some(Doubt::LeftOut(format!("no recorded usage, in no sum: {} request{plural}", count(requests))))
        }
        Counted::Predicted if from_transcripts > 0 => Some(Doubt::Estimated(
            "no usage was recorded, and a transcript shows only a part of each prompt".to_owned(),
        )),
        Counted::Recorded | Counted::Predicted => None,
    }
}

/// `file:line: reason`.
pub fn located(file: &str, line: usize, reason: &str) -> String {
    if line == 0 { format!("{file}: {reason}") } else { format!("{file}:{line}: {reason}") }
}

/// Whether the scope is a file of bodies that belongs to a recording with other files that were named one by one.
fn is_listed(inputs: &Inputs, scope: usize) -> bool {
    let scope = &inputs.scopes[scope];
    scope.files.is_empty() && inputs.exchanges().any(|exchange| exchange.origin.file == scope.name)
}

fn has_requests(inputs: &Inputs, scope: usize, unreplayed: &[Unreadable]) -> bool {
    let files: BTreeSet<&str> = inputs.scopes[scope].files.iter().map(|file| file.file.as_str()).collect();
    let broken = unreplayed.iter().filter(|damage| files.contains(damage.file.as_str())).count();
    inputs.requests_of(scope) > broken || is_listed(inputs, scope)
}

/// Most reasons that an error about a folder lists.
const REASONS_SHOWN: usize = 3;

fn complaint(path: &str, inputs: &Inputs, unreplayed: &[Unreadable]) -> String {
    let folder = format!("{}/", path.trim_end_matches('/'));
    let damaged = inputs.unreadable.iter().chain(unreplayed);
    let damaged = damaged.map(|damage| (damage.file.as_str(), damage.line, damage.reason.as_str()));
    let skipped = inputs.skipped.iter().map(|skipped| (skipped.file.as_str(), 0, skipped.reason.as_str()));
    let reasons: Vec<_> =
        damaged.chain(skipped).filter(|(file, ..)| *file == path || file.starts_with(&folder)).collect();
    match reasons[..] {
        [] => format!("{path}: no recordings"),
        [(file, line, reason), ..] if file == path => located(file, line, reason),
        _ => format!("{path}: no readable request\n{}", commonest(&reasons)),
    }
}

/// The commonest reasons, each with the number of its files and the first of them.
fn commonest(reasons: &[(&str, usize, &str)]) -> String {
    let mut kinds: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for (file, line, reason) in reasons {
        kinds.entry(reason).or_insert_with(|| (0, located(file, *line, reason))).0 += 1;
    }
    let mut kinds: Vec<(usize, String)> = kinds.into_values().collect();
    kinds.sort_by_key(|(count, _)| Reverse(*count));
    let shown = kinds.iter().take(REASONS_SHOWN).map(|(count, first)| match count - 1 {
        0 => format!("- {first}"),
        more => format!("- {first} (and {more} more like it)"),
    });
    let left_out = kinds.len().saturating_sub(REASONS_SHOWN);
    let more = (left_out > 0).then(|| format!("- … and {left_out} other reasons"));
    shown.chain(more).collect::<Vec<_>>().join("\n")
}
