//! Unread parts, repairs, and notes about single requests.

use std::collections::BTreeMap;

use crate::document::{Cell, Column, Document, Table};
use crate::report::{Damage, Fate};
use crate::report::{Report, remarks};

/// Most kinds of damage shown to people.
const SHOWN: usize = 8;

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let table = table(report);
    if !table.rows.is_empty() {
        document.heading("Not read, repaired, or noted");
        document.table(table);
    }
    let table = remarked(report);
    if !table.rows.is_empty() {
        document.heading("Remarks");
        document.table(table);
    }
}

#[derive(Default)]
struct Kind {
    count: u64,
    reason: String,
    first: String,
}

fn table(report: &Report<'_>) -> Table {
    let mut kinds: BTreeMap<(Fate, String), Kind> = BTreeMap::new();
    for Damage { fate, file, line, reason } in Damage::all(report.inputs, &report.unreplayed) {
        let (reason, inner) = without_place(reason);
        let reason = report.names.message(reason);
        let kind = kinds.entry((fate, masked(&reason))).or_default();
        if kind.count == 0 {
            kind.reason = reason;
            let line = if line == 0 { String::new() } else { format!(":{line}") };
            kind.first = format!("{}{line}{inner}", report.short(file));
        }
        kind.count += 1;
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|((fate, _), kind)| (*fate, std::cmp::Reverse(kind.count)));
    // For a single damage the text names the finding.
    let is_exact = |fate: Fate, kind: &Kind| kind.count == 1 && fate != Fate::PassedOver;
    Table::of("damage", &kinds)
        .with(Column::left("", "what"), |((fate, _), _)| Cell::text(fate.word()))
        .with(Column::right("Times", "times"), |(_, kind)| Cell::Count(kind.count))
        .with(Column::wrap("Why", "reason"), |((fate, reason), kind)| {
            Cell::text(if is_exact(*fate, kind) { &kind.reason } else { reason })
        })
        .with(Column::name("First", "first"), |(_, kind)| Cell::text(&kind.first))
        .shown(SHOWN, "kinds (--format json lists every file under `inputs`)")
}

/// The reason without the place in the file that it begins with ("interaction 3, line 272: …"), and that place, so that
/// equal reasons are counted together.
fn without_place(reason: &str) -> (&str, String) {
    let Some((place, rest)) = reason.split_once(": ") else { return (reason, String::new()) };
    let mut words = place.split([' ', ',']).filter(|word| !word.is_empty());
    let is_place = words.all(|word| PLACE_WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit()));
    if is_place { (rest, format!(", {place}")) } else { (reason, String::new()) }
}

/// Words in places of files.
const PLACE_WORDS: [&str; 6] = ["interaction", "exchange", "request", "record", "line", "column"];

/// Replaces the differing parts of messages of one kind.
const ANY: &str = "…";

/// The message without ids and numbers, so that messages that are otherwise equal are counted together.
fn masked(reason: &str) -> String {
    let words = reason.split(' ').map(|word| {
        let parts: Vec<String> = word.split('/').map(masked_part).collect();
        parts.join("/")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A number, or a long word with digits in it, as ids are, becomes [`ANY`].
fn masked_part(part: &str) -> String {
    const ID_MIN: usize = 12;
    let bare = part.trim_matches([',', '.', ':', ';', '(', ')', '`']);
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let plain = bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_id = digits > 0 && (digits == bare.len() || plain && bare.len() >= ID_MIN);
    if is_id { part.replacen(bare, ANY, 1) } else { part.to_owned() }
}

fn remarked(report: &Report<'_>) -> Table {
    Table::of("remarks", &remarks(report))
        .with(Column::right("Requests", "requests"), |(_, number)| Cell::Count(*number))
        .with(Column::wrap("", "remark"), |(remark, _)| Cell::text(remark))
        .shown(SHOWN, "remarks")
}

#[cfg(test)]
mod tests {
    use super::{masked, without_place};

    #[test]
    fn messages_that_differ_in_ids_are_of_one_kind() {
        let expected = "`DELETE api.anthropic.com/v1/files/…` is no model request";
        assert_eq!(
            masked("`DELETE api.anthropic.com/v1/files/file_011CcaGpPS2JA1AMya8VxEMh` is no model request"),
            expected
        );
        let batch = "PATCH host.com/batches/a5f6703b-5644-4ccc-acf1-aef52f321b1a/finalize";
        assert_eq!(masked(batch), "PATCH host.com/batches/…/finalize");
        assert_eq!(masked("`n` is 24, expected at least 161"), "`n` is …, expected at least …");
        assert_eq!(masked("text of another kind"), "text of another kind");
    }

    #[test]
    fn places_are_taken_off_reasons() {
        let apart = |reason| without_place(reason);
        assert_eq!(
            apart("interaction 3, line 272: POST x is none"),
            ("POST x is none", ", interaction 3, line 272".into())
        );
        assert_eq!(apart("column 17: found `}`"), ("found `}`", ", column 17".into()));
        assert_eq!(apart("cannot be read: gone"), ("cannot be read: gone", String::new()));
        assert_eq!(apart("empty file"), ("empty file", String::new()));
    }
}
