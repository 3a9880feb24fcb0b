//! A check for people: which change broke which prefix, byte by byte, its cost, and how to fix it.

mod lock;
mod tables;
pub mod words;

pub use lock::{reviewed, written};
pub use tables::score;

use forkcast_sim::guard::{Finding, Rule, Violation};
use forkcast_sim::pricing::Money;

use super::change;
use crate::check::{Check, Kind, Lock, Verdict};
use crate::document::{Document, bytes, count, money, several};
use crate::names::Names;
use crate::report::{Damage, Fate};

/// Most kinds of changes shown with their bytes; the others are in a table.
const SHOWN: usize = 12;

/// The check as a document. `windows`: the bytes around each difference are shown.
pub fn document(check: &Check<'_>, windows: bool) -> Document {
    let mut document = Document::default();
    let kinds = check.kinds();
    document.title(title(check));
    document.aside(about(check));
    if let Some((changes, Lock::Held { file, .. })) = check.update.map(|changes| (changes, &check.lock)) {
        document.heading(lock::changed(changes, file, check.names));
        if !changes.is_empty() {
            document.table(lock::changes(changes, check.names));
        }
    }
    refused(check, &mut document);
    let (shown, further) = kinds.split_at(kinds.len().min(SHOWN));
    for kind in shown {
        change(check, kind, windows && check.names == Names::Plain, &mut document);
    }
    if !further.is_empty() {
        document.heading("Further changes");
        document.table(tables::kinds(check, further));
    }
    violations(check, &mut document);
    card(check, &mut document);
    add_score(check, &mut document);
    notes(check, &mut document);
    if !kinds.is_empty() {
        super::list::hint(&mut document);
    }
    document
}

/// The result if all changes are breakpoints that the provider does not take.
const REFUSED: &str = "the provider refuses requests";

/// The result in one line.
pub fn title(check: &Check<'_>) -> String {
    let requests = requests(check.report.requests);
    let failing = check.requests_with(Verdict::Fails);
    let part = format!("{}{}", unread(check), if check.partial { " (partial: it was stopped)" } else { "" });
    if failing > 0 {
        let kinds = check.kinds();
        let kinds: Vec<&Kind<'_>> = kinds.iter().filter(|kind| kind.verdict == Verdict::Fails).collect();
        let some = |cost: Option<Money>| cost.filter(|cost| *cost != Money::ZERO);
        let at_least = if check.cost(Verdict::Fails).is_none() { "at least " } else { "" };
        let known = Some(check.known_cost(Verdict::Fails));
        let cost = some(known).map(|cost| format!(", {at_least}{} extra cost", money(cost)));
        let unshared = some(check.unshared(Verdict::Fails));
        let unshared = unshared.map(|cost| format!(", {} not shared by siblings", money(cost)));
        let cost = [cost, unshared].into_iter().flatten().collect::<String>();
        let breaks = |found: &Finding| found.breaks_prefix && found.rule != Rule::Equality;
        let is_uncached = kinds.iter().all(|kind| kind.first().rule == Rule::Breakpoints);
        let changes = several(kinds.len() as u64, if is_uncached { "finding" } else { "change" });
        let what = if kinds.iter().all(|kind| kind.first().cause.is_refusal()) {
            REFUSED
        } else if is_uncached {
            "repeated history is not cached"
        } else if kinds.iter().any(|kind| breaks(kind.first())) {
            // Its entry had expired, or another change costs all that was cached.
            let is_free = kinds.iter().all(|kind| kind.tokens_lost() == Some(0));
            if is_free { "a prefix is broken, at no cost" } else { "a cached prefix is broken" }
        } else {
            "the prompt differs from the lock"
        };
        let refused = if is_refused(check) && what != REFUSED { "refused by the provider, and " } else { "" };
        return format!("{refused}{what}: {changes} in {} of {requests}{cost}{part}", count(failing as u64));
    }
    if !check.report.violations.is_empty() {
        return format!(
            "{}; {requests} checked{part}",
            kind(&check.report.violations.iter().collect::<Vec<_>>()).to_lowercase()
        );
    }
    if !check.holds() {
        return format!("a check for forks fails: {requests}{part}");
    }
    if !check.passes() {
        return format!("not everything was checked: {requests}{part}");
    }
    let chains = several(check.report.chains as u64, "chain");
    match (check.requests_with(Verdict::Allowed), check.requests_with(Verdict::Noted)) {
        (0, 0) => format!("every prefix is kept: {requests} of {chains}{part}"),
        (0, noted) => format!("passed: {requests}, {} with noted changes{part}", count(noted as u64)),
        (allowed, 0) => format!("passed: {requests}, {} with allowed changes{part}", count(allowed as u64)),
        (allowed, noted) => {
            let (allowed, noted) = (count(allowed as u64), count(noted as u64));
            format!("passed: {requests}, {allowed} with allowed and {noted} with noted changes{part}")
        }
    }
}

/// The unreadable part of the input, which was not checked.
fn unread(check: &Check<'_>) -> String {
    match check.inputs.unreadable.len() {
        0 => String::new(),
        1 => "; 1 place could not be read".to_owned(),
        places => format!("; {} places could not be read", count(places as u64)),
    }
}

fn requests(number: usize) -> String {
    several(number as u64, "request")
}

/// The input, the rules, and reasons for uncertainty.
pub fn about(check: &Check<'_>) -> Vec<String> {
    let inputs = check.inputs;
    let mut lines = vec![
        format!("Read {}, {}", several(inputs.files_read() as u64, "file"), bytes(inputs.bytes)),
        format!("Cache rules {}; {}; tokens by length if no usage is recorded", check.rules.preset.name, check.prices),
        locked(check),
    ];
    lines.extend(damage(check));
    lines.extend(check.report.warnings.iter().map(|warning| check.names.message(warning)));
    lines
}

fn locked(check: &Check<'_>) -> String {
    match &check.lock {
        Lock::Unwanted => "Checked without a lock: requests are compared with each other".to_owned(),
        Lock::Absent => {
            "There is no lock, so requests are only compared with each other; `forkcast lock` writes one".to_owned()
        }
        Lock::Held { file, chains, requests: number } => {
            let chains = several(*chains as u64, "chain");
            format!("Lock {}: {} of {chains}", check.names.file(file), requests(*number))
        }
    }
}

/// Most unreadable places that are listed.
const DAMAGE_SHOWN: usize = 5;

fn damage(check: &Check<'_>) -> Vec<String> {
    let mut all: Vec<Damage<'_>> = Damage::all(check.inputs, &[]).collect();
    all.retain(|damage| matches!(damage.fate, Fate::Unreadable | Fate::PassedOver));
    let shown = all.iter().take(DAMAGE_SHOWN).map(|damage| {
        let file = check.names.file(damage.file);
        let line = if damage.line == 0 { String::new() } else { format!(":{}", damage.line) };
        format!("Not checked: {file}{line}: {}", check.names.message(damage.reason))
    });
    let more = all.len().saturating_sub(DAMAGE_SHOWN);
    shown.chain((more > 0).then(|| format!("… and {} more places", count(more as u64)))).collect()
}

/// A change with its bytes.
fn change(check: &Check<'_>, kind: &Kind<'_>, windows: bool, document: &mut Document) {
    let finding = kind.first();
    document.heading(words::headline(check, kind));
    document.text(words::where_it_is(check, kind));
    if let Some([older, newer]) = finding.windows.as_ref().filter(|_| windows) {
        document.parts.push(change::sides(&older.clone().into(), &newer.clone().into()));
    }
    document.text(words::what_it_means(check, kind));
}

fn is_refused(check: &Check<'_>) -> bool {
    check.report.violations.iter().any(is_refusal)
}

/// What the provider refuses: it is no cost, and comes before the price of changes (`design.md` 6).
fn refused(check: &Check<'_>, document: &mut Document) {
    let refused: Vec<&Violation> = check.report.violations.iter().filter(|found| is_refusal(found)).collect();
    if !refused.is_empty() {
        document.heading(kind(&refused));
    }
    for violation in refused {
        let chain = violation.chain.as_ref().map_or_else(|| "All".to_owned(), |chain| check.names.agent(chain));
        document.text(vec![
            format!("Chain `{chain}`, {}: {}.", violation.what, violation.found),
            format!("Expected: {}.", violation.expected),
        ]);
    }
}

fn violations(check: &Check<'_>, document: &mut Document) {
    let others: Vec<&Violation> = check.report.violations.iter().filter(|found| !is_refusal(found)).collect();
    if !others.is_empty() {
        document.heading(kind(&others));
        document.table(tables::violations(check, &others));
    }
    if others.iter().any(|violation| violation.rule == Rule::Equality) {
        document.text(vec![
            "If this is intended: `forkcast check --update` rewrites the lock, and `missing = \"note\"` in the rules lets \
             requests of the lock be missing."
                .to_owned(),
        ]);
    }
}

/// What the violations are, the gravest first.
fn kind(violations: &[&Violation]) -> &'static str {
    if violations.iter().any(|violation| is_refusal(violation)) {
        "Refused by the provider"
    } else if violations.iter().all(|violation| violation.rule == Rule::Equality) {
        "Requests differ from the lock"
    } else {
        "Outside the budget"
    }
}

/// Whether the provider refuses a request: its words are long.
const fn is_refusal(violation: &Violation) -> bool {
    matches!(violation.rule, Rule::Stability | Rule::Thinking)
}

fn card(check: &Check<'_>, document: &mut Document) {
    if !check.card.is_empty() {
        document.heading("Checks for forks");
        document.table(tables::card(check));
    }
}

fn add_score(check: &Check<'_>, document: &mut Document) {
    if !check.report.score.is_empty() {
        document.heading("Score");
        document.table(score(check));
    }
}

fn notes(check: &Check<'_>, document: &mut Document) {
    let table = tables::notes(check);
    if !table.rows.is_empty() {
        document.heading("Notes");
        document.table(table);
    }
}

/// A rule as a sentence.
pub const fn claim(rule: Rule) -> &'static str {
    match rule {
        Rule::Stability => "each request keeps the prefix of the previous one in its chain",
        Rule::Sharing => "forks share everything up to their directive, siblings what earlier siblings shared",
        Rule::Breakpoints => "breakpoints cover the history that the next request repeats",
        Rule::Siblings => "agents of one kind have the same tools, system prompt and settings",
        Rule::Budget => "hit rate, cost and breakpoints stay within the budget",
        Rule::Equality => "the prompt equals the one in the lock",
        Rule::Thinking => "thinking is sent again after what it was made after",
    }
}
