//! Tables of a check.

use forkcast_sim::guard::{Finding, Rule, Violation};

use crate::check::{Check, Graded, Kind, Verdict};
use crate::document::{Cell, Column, Table};

/// Most rows shown to people of tables that may be long.
const SHOWN: usize = 20;

/// Kinds of changes, a row each.
pub fn kinds(check: &Check<'_>, kinds: &[Kind<'_>]) -> Table {
    Table::of("kinds", kinds)
        .with(Column::left("Cause", "cause").kept(), |kind| Cell::text(kind.first().cause.word()))
        .with(Column::right("Request", "request"), |kind| Cell::Count(kind.first().request as u64))
        .with(Column::name("Place", "path"), |kind| Cell::text(&kind.first().path))
        .with(Column::right("Requests", "requests"), |kind| Cell::Count(kind.further().len() as u64 + 1))
        .with(Column::right("Tokens lost", "tokens_lost"), |kind| kind.tokens_lost().map_or(Cell::Empty, Cell::Count))
        .with(Column::right("Cost", "cost_usd").kept(), |kind| Cell::Money(kind.cost()))
        .with(Column::wrap("What", "name"), |kind| Cell::Text(check.names.thing(&kind.first().name)))
        .shown(SHOWN, "kinds of changes (--format json lists all)")
}

/// Figures outside their budget.
pub fn violations(check: &Check<'_>, violations: &[&Violation]) -> Table {
    let chain = |violation: &Violation| violation.chain.as_ref().map(|chain| check.names.agent(chain));
    Table::of("violations", violations)
        .with(Column::left("Chain", "chain"), |found| chain(found).map_or(Cell::Missing("all"), Cell::Text))
        .with(Column::wrap("What", "what"), |found| Cell::text(&found.what))
        .with(Column::left("Found", "found"), |found| Cell::text(&found.found))
        .with(Column::left("Expected", "expected"), |found| Cell::text(&found.expected))
        .whole()
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
    let held = |graded: &Graded| match graded.passed {
        Some(holds) => Cell::Truth { holds, yes: "yes", no: "NO" },
        None => Cell::Missing("–"),
    };
    Table::of("conformance", check.card)
        .with(Column::left("Check", "check"), |graded| Cell::text(&graded.check))
        .with(Column::left("Held", "passed"), held)
        .with(Column::right("Request", "request").optional(), |graded| {
            graded.request.map_or(Cell::Empty, |request| Cell::Count(request as u64))
        })
        .with(Column::name("Place", "path").optional(), |graded| graded.path.as_ref().map_or(Cell::Empty, Cell::text))
        .with(Column::wrap("Detail", "detail"), |graded| Cell::Text(check.names.message(&said(graded))))
        .whole()
}

fn said(graded: &Graded) -> String {
    let said: Vec<&str> = match graded.passed {
        Some(true) => vec![&graded.claim],
        Some(false) => [Some(graded.evidence.as_str()), graded.suggestion.as_deref()].into_iter().flatten().collect(),
        None => vec![&graded.evidence],
    };
    said.join(" ")
}

/// Notes by their word, with the first of each.
pub fn notes(check: &Check<'_>) -> Table {
    let notes: Vec<_> = check.notes().into_iter().collect();
    Table::of("notes", &notes)
        .with(Column::left("Note", "note"), |(word, _)| Cell::text(*word))
        .with(Column::right("Times", "times"), |(_, (times, _))| Cell::Count(*times as u64))
        .with(Column::name("First in", "request"), |(_, (_, first))| {
            Cell::Text(check.place(first.request).unwrap_or_else(|| format!("request {}", first.request)))
        })
        .with(Column::name("Place", "path").optional(), |(_, (_, first))| Cell::text(&first.path))
        .with(Column::wrap("Meaning", "detail"), |(_, (_, first))| Cell::Text(super::words::note(first)))
        .whole()
}
