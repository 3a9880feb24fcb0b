//! `forkcast.check/1`, and a check in the formats of other programs.
//!
//! * [`write()`]: one JSON object.
//! * [`junit`]: JUnit XML, for GitLab, Jenkins and other programs that show tests.
//! * [`github`]: commands of a GitHub workflow, shown as annotations.
//! * [`sarif`]: SARIF 2.1.0, for code scanning.

mod finding;
pub mod github;
pub mod junit;
pub mod sarif;
mod update;

use std::io::{self, Write};

use forkcast_sim::guard::{Noted, ShownBy, Violation};

use crate::check::{Check, Graded, Lock};
use crate::document::Document;
use crate::format::inputs::{Account, DamagedPlace};
use crate::human::check::words;
use crate::names::Names;
use crate::record::{Record, Shape, Value, list, pretty, table};
use crate::report::{Damage, Fate};

use finding::{FindingOf, rules};
use update::{Change, Update};

/// Name and version.
pub const SCHEMA: &str = "forkcast.check/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "The findings of the prefix guard: every change of a prompt that was sent before, with \
                                its place, cause and price. Contains no text of prompts unless requested.";

/// Writes a check as one JSON object.
///
/// # Errors
/// When the target cannot be written.
pub fn write(check: &Check<'_>, target: &mut dyn Write) -> io::Result<()> {
    pretty(check, target)
}

record! {
    Check<'_>, "check":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    truth "passed", "Whether the program ends with 0 as far as the rules are concerned." => |check| check.passes();
    truth "partial", "The user stopped it before everything was read." => |check| check.partial;
    count "chains", "Conversations that were checked." => |check| check.report.chains, unit("chains");
    count "requests", "Requests that were checked." => |check| check.report.requests, unit("requests");
    records: FindingOf<'_>, "findings", "In order of the requests, and in a request in the order of the prompt." =>
        |check| list(check.report.findings.iter().map(|finding| FindingOf { check, finding }));
    field "score", || Shape::Map(Box::new(Shape::Maybe(Box::new(Shape::Truth)))),
        "Each rule that was checked (stability, sharing, budget, equality), and whether it held; if the suite was \
         requested, each of its checks too, null if the input does not show it." =>
        |it| score(it);
    records: InCheck<'_, Graded>, "conformance", "The results of the suite." =>
        |check| {
            let card = check.card.iter().map(|of| InCheck { names: check.names, of });
            if check.card.is_empty() { Value::Null } else { list(card) }
        }, null("if it was not asked for");
    records: ViolationOf<'_>, "violations",
        "Figures outside their budget, and chains with requests that the provider refuses." =>
        |check| list(check.report.violations.iter().map(|violation| ViolationOf { check, violation }));
    records: NoteOf<'_>, "notes", "Harmless notes, in order of the requests." =>
        |check| list(check.report.notes.iter().map(|noted| NoteOf { check, noted }));
    texts "warnings", "Reasons why the result may be less certain than it looks." =>
        |check| Value::texts(check.report.warnings.iter().map(|warning| check.names.message(warning)));
    record: Account<'_>, "inputs", "The input." =>
        |check| Account { inputs: check.inputs, unreplayed: &[], names: check.names }.value();
    record: LockHeld, "lock", "The lock with which prompts were compared." =>
        |check| LockHeld::of(check).as_ref().map(Record::value), null("if there was none");
    record: Update<'_>, "update", "The changes of rewriting the lock." =>
        |check| check.update.map(|changes| Update(changes, check.names).value()),
        null("if that was not asked for");
    text "cache", "Name of the cache rules." => |check| check.rules.preset.name;
    text "prices", "Which prices these are, for people, such as `list prices of 2026-11-21`." =>
        |check| Value::text(&check.prices);
    count "requests_per_day", "The value of --requests-per-day." =>
        |check| check.rules.requests_per_day, unit("requests"), null("if it was not given");
}

/// All of it as tables, for formats that have no sentences.
pub fn tables(check: &Check<'_>) -> Document {
    let mut document = Document::default();
    let names = check.names;
    let findings = check.report.findings.iter().map(|finding| FindingOf { check, finding });
    document.table(table::whole("findings", findings));
    let violations = check.report.violations.iter().map(|violation| ViolationOf { check, violation });
    document.table(table::whole("violations", violations));
    document.table(crate::human::check::score(check));
    if !check.card.is_empty() {
        document.table(table::whole("conformance", check.card.iter().map(|of| InCheck { names, of })));
    }
    document.table(table::whole("notes", check.report.notes.iter().map(|noted| NoteOf { check, noted })));
    if !check.inputs.unreadable.is_empty() {
        document.table(table::whole("unreadable", unreadable(check)));
    }
    if let Some(changes) = check.update {
        document.table(table::whole("update", changes.changes.iter().map(|change| Change(change, names))));
    }
    document
}

fn unreadable(check: &Check<'_>) -> Vec<DamagedPlace> {
    let unreadable = Damage::all(check.inputs, &[]).filter(|damage| damage.fate == Fate::Unreadable);
    unreadable.map(|damage| DamagedPlace::of(damage, check.names)).collect()
}

/// The rules that were checked, and the checks for forks.
fn score(check: &Check<'_>) -> Value {
    let rules = check.report.score.iter().map(|(rule, held)| ((*rule).to_owned(), Some(*held)));
    let card = check.card.iter().map(|graded| (graded.check.clone(), graded.passed));
    Value::map(rules.chain(card))
}

struct LockHeld {
    file: String,
    chains: usize,
    requests: usize,
}

impl LockHeld {
    fn of(check: &Check<'_>) -> Option<Self> {
        let Lock::Held { file, chains, requests } = &check.lock else { return None };
        Some(Self { file: check.names.file(file), chains: *chains, requests: *requests })
    }
}

record! {
    LockHeld, "lock":
    text "file", "Its file." => |lock| Value::text(&lock.file);
    count "chains", "Chains in it." => |lock| lock.chains, unit("chains");
    count "requests", "Requests in it." => |lock| lock.requests, unit("requests");
}

/// A note and the check that it is of.
struct NoteOf<'a> {
    check: &'a Check<'a>,
    noted: &'a Noted,
}

record! {
    NoteOf<'_>, "noted":
    text "note", "Its kind." => |it| it.noted.note.word();
    text "chain", "Its chain." => |it| it.check.names.agent(&it.noted.chain);
    ordinal "request", "Position among all requests, from 0." => |it| it.noted.request;
    text "file", "The file of the request." => |it| it.check.file(it.noted.request), null("if it is in none");
    text "path", "Its place; empty if it concerns the whole request." => |it| Value::text(&it.noted.path);
    text "detail", "Its meaning." => |it| words::note(it.noted);
}

/// A thing and how names are shown.
struct InCheck<'a, T> {
    names: Names,
    of: &'a T,
}

/// A violation and the check that it is of.
struct ViolationOf<'a> {
    check: &'a Check<'a>,
    violation: &'a Violation,
}

impl ViolationOf<'_> {
    fn request(&self) -> Option<usize> {
        match self.violation.shown_by? {
            ShownBy::Request(number) => Some(number),
            ShownBy::RecordedError(_) => None,
        }
    }

    fn file(&self) -> Option<String> {
        self.check.shows(self.violation).map(|origin| self.check.names.file(&origin.file))
    }
}

record! {
    ViolationOf<'_>, "violation":
    field "rule", rules, "The violated rule." => |it| it.violation.rule.word();
    text "chain", "Its chain." =>
        |it| it.violation.chain.as_ref().map(|chain| it.check.names.agent(chain)), null("for all together");
    ordinal "request", "The first request that shows it, by its position among all, from 0." =>
        |it| it.request(), null("if all of the chain do, or a recorded error, whose request is not checked");
    text "file", "The file of that request, or of that error." => |it| it.file(), null("if it is in none");
    text "path", "Its place; empty if it concerns the whole request." => |it| Value::text(&it.violation.path);
    text "what", "The figure." => |it| Value::text(&it.violation.what);
    text "found", "The value found." => |it| Value::text(&it.violation.found);
    text "expected", "The allowed value." => |it| Value::text(&it.violation.expected);
}

record! {
    InCheck<'_, Graded>, "graded":
    text "check", "Stable word." => |it| Value::text(&it.of.check);
    truth "passed", "Whether the claim holds." => |it| it.of.passed, null("if the input does not show it");
    text "claim", "The statement that holds if it passed." => |it| Value::text(&it.of.claim);
    text "evidence", "The evidence, or why the input does not show it." => |it| it.names.message(&it.of.evidence);
    ordinal "request", "The request that shows it." => |it| it.of.request, null("if none does");
    text "path", "The place in its body." => |it| it.of.path.clone(), null("if it has none");
    text "suggestion", "What to do." => |it| it.of.suggestion.clone(), null("if it did not fail");
}
