//! Tables of a check.

use forkcast_sim::guard::{Finding, Rule, Violation};

use crate::check::{Check, Graded, Kind, Verdict};
use crate::document::{Cell, Column, Table};

/// Most rows shown to people of tables that may be long.
const SHOWN: usize = 20;

/// Kinds of changes, a row each.
pub fn kinds(check: &Check<'_>, kinds: &[Kind<'_>]) -> Table {
    let mut table = Table::new(
        "kinds",
        vec![
            Column::left("Cause", "cause").kept(),
            Column::right("Request", "request"),
            Column::name("Place", "path"),
            Column::right("Requests", "requests"),
            Column::right("Tokens lost", "tokens_lost"),
            Column::right("Cost", "cost_usd").kept(),
            Column::wrap("What", "name"),
        ],
    );
    let row = |kind: &Kind<'_>| {
        let first = kind.first();
        vec![
            Cell::text(first.cause.word()),
            Cell::Count(first.request as u64),
            Cell::text(&first.path),
            Cell::Count(kind.further().len() as u64 + 1),
            kind.tokens_lost().map_or(Cell::Empty, Cell::Count),
            Cell::Money(kind.cost()),
            Cell::Text(check.names.thing(&first.name)),
        ]
    };
    table.rows = kinds.iter().map(row).collect();
    table.shown_max = SHOWN;
    table.rows_are = "kinds of changes (--format json lists all)";
    table
}

/// Figures outside their budget.
pub fn violations(check: &Check<'_>, violations: &[&Violation]) -> Table {
    let mut table = Table::new(
        "violations",
        vec![
            Column::left("Chain", "chain"),
            Column::wrap("What", "what"),
            Column::left("Found", "found"),
            Column::left("Expected", "expected"),
        ],
    );
    let rows = violations.iter().map(|violation| {
        let chain = violation.chain.as_ref().map(|chain| check.names.agent(chain));
        vec![
            chain.map_or(Cell::Missing("all"), Cell::Text),
            Cell::text(&violation.what),
            Cell::text(&violation.found),
            Cell::text(&violation.expected),
        ]
    });
    table.rows = rows.collect();
    table
}

/// Each rule, and whether it held.
pub fn score(check: &Check<'_>) -> Table {
    let mut table = Table::new(
        "score",
        vec![
            Column::left("Rule", "rule"),
            Column::left("Held", "passed"),
            Column::right("Requests", "requests").optional(),
            Column::wrap("Detail", "detail"),
        ],
    );
    let rows = check.report.score.iter().map(|(word, held)| {
        let rule = Rule::ALL.into_iter().find(|rule| rule.word() == *word);
        let fails = |finding: &&Finding| Some(finding.rule) == rule && check.verdict(finding) == Verdict::Fails;
        let mut requests: Vec<usize> =
            check.report.findings.iter().filter(fails).map(|finding| finding.request).collect();
        requests.dedup();
        // The rules let pass what they only note.
        let notes = |finding: &Finding| Some(finding.rule) == rule && check.verdict(finding) == Verdict::Noted;
        let is_noted = check.report.findings.iter().any(notes);
        vec![
            Cell::text(*word),
            Cell::Truth { holds: *held, yes: if is_noted { "noted" } else { "yes" }, no: "NO" },
            if requests.is_empty() { Cell::Empty } else { Cell::Count(requests.len() as u64) },
            Cell::text(rule.map_or("", super::claim)),
        ]
    });
    table.rows = rows.collect();
    table
}

/// The results of the conformance suite.
pub fn card(check: &Check<'_>) -> Table {
    let mut table = Table::new(
        "conformance",
        vec![
            Column::left("Check", "check"),
            Column::left("Held", "passed"),
            Column::right("Request", "request").optional(),
            Column::name("Place", "path").optional(),
            Column::wrap("Detail", "detail"),
        ],
    );
    table.rows = check.card.iter().map(|graded| graded_row(check, graded)).collect();
    table
}

fn graded_row(check: &Check<'_>, graded: &Graded) -> Vec<Cell> {
    let held = match graded.passed {
        Some(holds) => Cell::Truth { holds, yes: "yes", no: "NO" },
        None => Cell::Missing("–"),
    };
    let said: Vec<&str> = match graded.passed {
        Some(true) => vec![&graded.claim],
        Some(false) => [Some(graded.evidence.as_str()), graded.suggestion.as_deref()].into_iter().flatten().collect(),
        None => vec![&graded.evidence],
    };
    vec![
        Cell::text(&graded.check),
        held,
        graded.request.map_or(Cell::Empty, |request| Cell::Count(request as u64)),
        graded.path.as_ref().map_or(Cell::Empty, Cell::text),
        Cell::Text(check.names.message(&said.join(" "))),
    ]
}

/// Notes by their word, with the first of each.
pub fn notes(check: &Check<'_>) -> Table {
    let mut table = Table::new(
        "notes",
        vec![
            Column::left("Note", "note"),
            Column::right("Times", "times"),
            Column::name("First in", "request"),
            Column::name("Place", "path").optional(),
            Column::wrap("Meaning", "detail"),
        ],
    );
    let rows = check.notes().into_iter().map(|(word, (times, first))| {
        let place = check.place(first.request).unwrap_or_else(|| format!("request {}", first.request));
        vec![
            Cell::text(word),
            Cell::Count(times as u64),
            Cell::Text(place),
            Cell::text(&first.path),
            Cell::Text(super::words::note(first)),
        ]
    });
    table.rows = rows.collect();
    table
}
