//! Limits and the measured values.

use crate::document::{Cell, Column, Document, Table};
use crate::report::{Gate, Measure, Report, gates};

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let gates = gates(report);
    if gates.is_empty() {
        return;
    }
    let why = |gate: &Gate| gate.undecided.as_ref().map(|why| format!("cannot be checked: {why}"));
    let table = Table::of("gates", &gates)
        .with(Column::left("Limit", "name"), |gate| Cell::text(gate.name))
        .with(Column::right("Allowed", "limit"), |gate| cell(gate.limit))
        .with(Column::right("Found", "found").kept(), |gate| gate.found.map_or(Cell::Empty, cell))
        .with(Column::left("", "passed").kept(), |gate| Cell::Truth { holds: gate.passed, yes: "kept", no: "FAILED" })
        .with(Column::wrap("Why", "undecided"), |gate| why(gate).map_or(Cell::Empty, Cell::Text));
    document.heading("Limits");
    document.table(table.whole());
}

fn cell(measure: Measure) -> Cell {
    match measure {
        Measure::Cost(cost) => Cell::Money(Some(cost)),
        Measure::HitRate(part) => Cell::Share(Some(part)),
        Measure::Tokens(tokens) => Cell::Count(tokens),
    }
}

/// The sentence about a failed limit: the measured and the allowed value, with all digits.
pub fn sentence(gate: &Gate) -> Option<String> {
    if gate.passed {
        return None;
    }
    let name = gate.name;
    let allowed = match gate.limit {
        Measure::HitRate(_) => "at least",
        Measure::Cost(_) | Measure::Tokens(_) => "at most",
    };
    let limit = exactly(gate.limit);
    let found = gate.found.map_or_else(|| "nothing".to_owned(), exactly);
    let why = gate.undecided.as_ref().map(|why| format!("; cannot be checked: {why}")).unwrap_or_default();
    Some(format!("--{name}: found {found}, allowed is {allowed} {limit}{why}"))
}

fn exactly(measure: Measure) -> String {
    match measure {
        Measure::Cost(cost) => format!("${cost}"),
        Measure::HitRate(part) => percent(part),
        Measure::Tokens(1) => "1 token".to_owned(),
        Measure::Tokens(tokens) => format!("{} tokens", crate::document::count(tokens)),
    }
}

/// With up to four decimals, rounded down, so that a value below a limit never looks as if it reached it.
fn percent(part: f64) -> String {
    const DECIMALS: f64 = 10_000.0;
    // A share read from decimal text, times a power of ten, may end just below the number that was meant.
    const HAIR: f64 = 1e-7;
    let text = format!("{:.4}", ((part * 100.0).mul_add(DECIMALS, HAIR)).floor() / DECIMALS);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn percentages_are_never_rounded_up() {
        assert_eq!(percent(0.8), "80 %");
        assert_eq!(percent(0.799_999_9), "79.9999 %");
        assert_eq!(percent(0.601_26), "60.126 %");
        assert_eq!((percent(0.0), percent(1.0)), ("0 %".to_owned(), "100 %".to_owned()));
    }
}
