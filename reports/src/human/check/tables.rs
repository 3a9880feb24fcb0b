//! Tables of a check.

use forkcast_sim::diagnosis::Provider;
use forkcast_sim::guard::{Finding, Noted, Rule};

use crate::check::{Check, Damage, Graded, Kind, Verdict};
use crate::document::{Cell, Column, Table};

/// Rows that people see of tables that may be long.
const SHOWN: usize = 20;

/// Kinds of changes, a row each.
pub fn kinds(check: &Check<'_>, kinds: &[Kind<'_>]) -> Table {
    let mut table = Table::new(
        "kinds",
        vec![
            Column::left("Cause", "cause"),
            Column::right("Request", "request"),
            Column::name("Place", "path"),
            Column::right("Requests", "requests"),
            Column::right("Tokens lost", "tokens_lost"),
            Column::right("Cost", "cost_usd"),
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

/// All findings, a row each.
pub fn findings(check: &Check<'_>) -> Table {
    let mut table = Table::new(
        "findings",
        vec![
            Column::left("Rule", "rule"),
            Column::left("Verdict", "verdict"),
            Column::name("File", "file"),
            Column::left("Chain", "chain"),
            Column::right("Request", "request"),
            Column::right("Against", "older"),
            Column::left("Level", "level"),
            Column::name("Place", "path"),
            Column::wrap("What", "name"),
            Column::left("Cause", "cause"),
            Column::left("Volatile", "volatile"),
            Column::right("Byte", "offset_in_block"),
            Column::right("Of the prefix", "offset_in_prefix"),
            Column::left("Breaks", "breaks_prefix"),
            Column::right("Tokens lost", "tokens_lost"),
            Column::right("Cost", "cost_usd"),
            Column::right("A day", "cost_usd_per_day"),
            Column::left("Provider", "provider"),
            Column::left("Its word", "provider_reason"),
            Column::wrap("What would save it", "suggestion"),
        ],
    );
    table.rows = check.report.findings.iter().map(|finding| row(check, finding)).collect();
    table
}

fn row(check: &Check<'_>, finding: &Finding) -> Vec<Cell> {
    let number = |number: Option<u64>| number.map_or(Cell::Empty, Cell::Count);
    let word = |word: Option<&'static str>| word.map_or(Cell::Empty, Cell::text);
    let day = check.rules.requests_per_day.map(|requests| finding.cost_per_day(requests));
    vec![
        Cell::text(finding.rule.word()),
        Cell::text(check.verdict(finding).word()),
        check.place(finding.request).map_or(Cell::Empty, Cell::Text),
        Cell::Text(check.names.agent(&finding.chain)),
        Cell::Count(finding.request as u64),
        number(finding.older.map(|older| older as u64)),
        Cell::text(finding.level.name()),
        Cell::text(&finding.path),
        Cell::Text(check.names.thing(&finding.name)),
        Cell::text(finding.cause.word()),
        word(finding.volatile.map(|volatile| volatile.word())),
        number(finding.offset_in_block),
        number(finding.offset_in_prefix),
        Cell::Truth { holds: finding.breaks_prefix, yes: "yes", no: "no" },
        number(finding.tokens_lost()),
        Cell::Money(finding.cost()),
        day.map_or(Cell::Empty, Cell::Money),
        word(finding.provider.map(Provider::word)),
        word(finding.provider_reason()),
        Cell::Text(super::words::suggestion(check, finding)),
    ]
}

/// Figures outside their budget.
pub fn violations(check: &Check<'_>) -> Table {
    let mut table = Table::new(
        "violations",
        vec![
            Column::left("Chain", "chain"),
            Column::wrap("What", "what"),
            Column::left("Found", "found"),
            Column::left("Expected", "expected"),
        ],
    );
    let rows = check.report.violations.iter().map(|violation| {
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
            Column::wrap("What it says", "detail"),
        ],
    );
    let rows = check.report.score.iter().map(|(word, held)| {
        let rule = Rule::ALL.into_iter().find(|rule| rule.word() == *word);
        let fails = |finding: &&Finding| Some(finding.rule) == rule && check.verdict(finding) == Verdict::Fails;
        let mut requests: Vec<usize> =
            check.report.findings.iter().filter(fails).map(|finding| finding.request).collect();
        requests.dedup();
        vec![
            Cell::text(*word),
            Cell::Truth { holds: *held, yes: "yes", no: "NO" },
            if requests.is_empty() { Cell::Empty } else { Cell::Count(requests.len() as u64) },
            Cell::text(rule.map_or("", super::claim)),
        ]
    });
    table.rows = rows.collect();
    table
}

/// What the conformance suite says.
pub fn card(check: &Check<'_>) -> Table {
    let mut table = Table::new(
        "conformance",
        vec![
            Column::left("Check", "check"),
            Column::left("Held", "passed"),
            Column::right("Request", "request").optional(),
            Column::name("Place", "path").optional(),
            Column::wrap("What it says", "detail"),
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
            Column::wrap("What it is", "detail"),
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

/// All notes, a row each.
pub fn all_notes(check: &Check<'_>) -> Table {
    let columns = vec![
        Column::left("Note", "note"),
        Column::name("File", "file"),
        Column::left("Chain", "chain"),
        Column::right("Request", "request"),
        Column::name("Place", "path"),
    ];
    let mut table = Table::new("notes", columns);
    let row = |note: &Noted| {
        vec![
            Cell::text(note.note.word()),
            check.place(note.request).map_or(Cell::Empty, Cell::Text),
            Cell::Text(check.names.agent(&note.chain)),
            Cell::Count(note.request as u64),
            Cell::text(&note.path),
        ]
    };
    table.rows = check.report.notes.iter().map(row).collect();
    table
}

/// Places that cannot be read, a row each.
pub fn unreadable(check: &Check<'_>) -> Table {
    let columns =
        vec![Column::name("File", "file"), Column::right("Line", "line"), Column::wrap("What was found", "reason")];
    let mut table = Table::new("unreadable", columns);
    let row = |damage: &Damage| {
        vec![
            Cell::Text(check.names.file(&damage.file)),
            if damage.line == 0 { Cell::Empty } else { Cell::Count(damage.line as u64) },
            Cell::Text(check.names.message(&damage.reason)),
        ]
    };
    table.rows = check.inputs.unreadable.iter().map(row).collect();
    table
}
