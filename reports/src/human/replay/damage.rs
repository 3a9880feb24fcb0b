//! What was not read, what was mended, and what is to be known of single requests.

use std::collections::BTreeMap;

use crate::document::{Cell, Column, Document, Table};
use crate::report::{Report, remarks};

/// Kinds of damage that people see.
const SHOWN: usize = 8;

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let table = table(report);
    if !table.rows.is_empty() {
        document.heading("Not read, or repaired");
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
    first: String,
}

fn table(report: &Report<'_>) -> Table {
    let mut kinds: BTreeMap<(u8, String), Kind> = BTreeMap::new();
    let mut note = |rank: u8, reason: &str, file: &str, line: usize| {
        let (reason, inner) = without_place(reason);
        let kind = kinds.entry((rank, report.names.message(reason))).or_default();
        if kind.count == 0 {
            let line = if line == 0 { String::new() } else { format!(":{line}") };
            kind.first = format!("{}{line}{inner}", report.short(file));
        }
        kind.count += 1;
    };
    for damage in report.unreadable() {
        note(0, &damage.reason, &damage.file, damage.line);
    }
    for repaired in &report.inputs.repaired {
        note(1, &repaired.what, &repaired.file, repaired.line);
    }
    for skipped in &report.inputs.skipped {
        note(2, &skipped.reason, &skipped.file, 0);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|((rank, _), kind)| (*rank, std::cmp::Reverse(kind.count)));
    let mut table = Table::new(
        "damage",
        vec![
            Column::left("", "what"),
            Column::right("Times", "times"),
            Column::wrap("Why", "reason"),
            Column::name("First", "first"),
        ],
    );
    for ((rank, reason), kind) in kinds {
        let what = WORDS[usize::from(rank).min(WORDS.len() - 1)];
        table.rows.push(vec![Cell::text(what), Cell::Count(kind.count), Cell::Text(reason), Cell::Text(kind.first)]);
    }
    table.shown_max = SHOWN;
    table.rows_are = "kinds (--format json lists every file under `inputs`)";
    table
}

/// The reason without the place in the file that it begins with ("interaction 3, line 272: …"), and that place, so that
/// equal reasons are counted together.
fn without_place(reason: &str) -> (&str, String) {
    let Some((place, rest)) = reason.split_once(": ") else { return (reason, String::new()) };
    let mut words = place.split([' ', ',']).filter(|word| !word.is_empty());
    let is_place = words.all(|word| PLACE_WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit()));
    if is_place { (rest, format!(", {place}")) } else { (reason, String::new()) }
}

/// Words of which places in files are made.
const PLACE_WORDS: [&str; 6] = ["interaction", "exchange", "request", "record", "line", "column"];

const WORDS: [&str; 3] = ["unreadable", "repaired", "passed over"];

fn remarked(report: &Report<'_>) -> Table {
    let mut table = Table::new("remarks", vec![Column::right("Requests", "requests"), Column::wrap("", "remark")]);
    table.rows =
        remarks(report).into_iter().map(|(remark, number)| vec![Cell::Count(number), Cell::Text(remark)]).collect();
    table.shown_max = SHOWN;
    table.rows_are = "remarks";
    table
}

#[cfg(test)]
mod tests {
    use super::without_place;

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
