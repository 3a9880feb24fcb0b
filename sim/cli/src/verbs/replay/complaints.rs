//! Named paths that gave nothing, and why.

use std::collections::BTreeSet;

use forkcast_replay::input::{Inputs, ScopeInput};
use forkcast_replay::replay::Replay;

use crate::exit::BadInput;

/// A complaint for each named path without a single readable request.
pub fn of_inputs(inputs: &Inputs, replay: &Replay) -> Vec<String> {
    let empty = inputs.scopes.iter().filter(|scope| !has_requests(scope, replay));
    empty.map(|scope| complaint(&scope.name, inputs, replay)).collect()
}

/// The complaints, or one that says that there is nothing.
pub fn or_nothing_read(complaints: Vec<String>) -> BadInput {
    BadInput(if complaints.is_empty() { vec!["nothing was recorded".to_owned()] } else { complaints })
}

/// `file:line: reason`.
pub fn located(file: &str, line: usize, reason: &str) -> String {
    if line == 0 { format!("{file}: {reason}") } else { format!("{file}:{line}: {reason}") }
}

fn has_requests(scope: &ScopeInput, replay: &Replay) -> bool {
    let files: BTreeSet<&str> = scope.files.iter().map(|file| file.file.as_str()).collect();
    let requests: usize = scope.files.iter().map(|file| file.exchanges.len()).sum();
    let broken = replay.unreadable.iter().filter(|damage| files.contains(damage.file.as_str())).count();
    requests > broken
}

/// Reasons that a complaint about a folder names.
const REASONS_SHOWN: usize = 3;

fn complaint(path: &str, inputs: &Inputs, replay: &Replay) -> String {
    let folder = format!("{}/", path.trim_end_matches('/'));
    let damaged =
        inputs.unreadable.iter().chain(&replay.unreadable).map(|damage| (&damage.file, damage.line, &damage.reason));
    let skipped = inputs.skipped.iter().map(|skipped| (&skipped.file, 0, &skipped.reason));
    let reasons: Vec<_> =
        damaged.chain(skipped).filter(|(file, ..)| *file == path || file.starts_with(&folder)).collect();
    let shown: Vec<String> =
        reasons.iter().take(REASONS_SHOWN).map(|(file, line, reason)| located(file, *line, reason)).collect();
    match reasons[..] {
        [] => format!("{path}: no recordings"),
        [(file, ..)] if file == path => shown.join(""),
        _ => {
            let more = reasons.len() - shown.len();
            let more = if more > 0 { format!("\n  … and {more} more") } else { String::new() };
            format!("{path}: no readable request\n  {}{more}", shown.join("\n  "))
        }
    }
}
