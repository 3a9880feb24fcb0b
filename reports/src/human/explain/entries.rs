//! The contents of the cache: its entries, the nearest one, and the first difference from it.

use forkcast_replay::replay::inspect::HeldEntry as Held;
use forkcast_sim::cache::EntryState;
use forkcast_sim::time::Duration;

use super::words::state;
use crate::document::{Document, Marked, Part, count, several, span};
use crate::explained::Explained;
use crate::names::Names;

pub(super) fn entries(explained: &Explained<'_>) -> Option<String> {
    let total = explained.inspection.entries.len();
    if total == 0 {
        return Some("Nothing: no earlier request of this model and scope wrote an entry.".to_owned());
    }
    let counted = explained.counts().into_iter().filter(|(_, number)| *number > 0);
    let words: Vec<String> = counted.map(|(of, number)| format!("{} {}", count(number as u64), plural(of))).collect();
    let entries = if total == 1 { "entry" } else { "entries" };
    Some(format!("{} {entries} of this model and scope: {}.", count(total as u64), words.join(", ")))
}

const fn plural(state: EntryState) -> &'static str {
    match state {
        EntryState::Live => "readable",
        EntryState::InFlight => "being written",
        EntryState::Expired => "expired",
        EntryState::Evicted => "lost",
        EntryState::Absent => "absent",
    }
}

pub(super) fn nearest(explained: &Explained<'_>) -> Option<String> {
    let Some(nearest) = &explained.inspection.nearest else {
        return (!explained.inspection.entries.is_empty())
            .then(|| "None of them begins with the same block as this request.".to_owned());
    };
    let entry = &nearest.entry;
    let since = explained.ms_since(entry.marked_by.1);
    let ago = since.map_or_else(String::new, |ms| format!(" {} before", span(ms)));
    let shared = match entry.blocks - entry.shared_blocks {
        0 => "all of it is a prefix of this request".to_owned(),
        _ => match entry.shared_blocks {
            1 => "this request shares its first block".to_owned(),
            shared => format!("this request shares its first {} blocks", count(shared as u64)),
        },
    };
    Some(format!(
        "Nearest: {}, {}, last marked by {}{ago}, {}{}; {shared}.",
        several(entry.blocks as u64, "block"),
        several(entry.tokens, "token"),
        explained.name_of(entry.marked_by.1),
        state(entry.state),
        remaining(explained, entry),
    ))
}

/// `, for another 4 min 12 s`.
fn remaining(explained: &Explained<'_>, entry: &Held) -> String {
    let Some(life) = entry.life.filter(|_| entry.state == EntryState::Live && explained.entry.line.at.is_some()) else {
        return String::new();
    };
    let used: Duration = explained.inspection.at.since(life.last_use);
    let left = life.ttl.duration().as_millis().saturating_sub(used.as_millis());
    format!(", for another {}", span(left))
}

pub(super) fn difference(explained: &Explained<'_>, windows: bool, document: &mut Document) {
    let Some(sides) = explained.sides() else { return };
    let judged = sides.judged();
    let Some(found) = judged.findings.first() else { return };
    let byte = found.offset_in_block.map_or_else(String::new, |byte| format!(", byte {} of the block", count(byte)));
    let volatile =
        found.volatile.map_or_else(String::new, |kind| format!("; it looks like volatile content: {}", kind.word()));
    document.text(vec![format!(
        "First difference to it: {}, {} at {}{byte}{volatile}.",
        found.cause.word(),
        sides.names.thing(&found.name),
        found.path
    )]);
    if let Some(shown) = found.windows.as_ref().filter(|_| windows && sides.names == Names::Plain) {
        let [older, newer] = shown.clone().map(Marked::from);
        document.parts.push(Part::Verbatim(vec![labelled("entry    ", &older), labelled("request  ", &newer)]));
    }
}

fn labelled(label: &str, window: &Marked) -> Marked {
    Marked { before: format!("{label}{}", window.before), ..window.clone() }
}
