//! SARIF 2.1.0: a rule for each cause, a result for each change, however many requests have it.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" (2020-03), and what
//! docs.github.com, "SARIF support for code scanning" (2026-09), shows of it. Types of our own, since the library with
//! its types makes thousands of lines from a schema for the twenty fields that are written here.

mod parts;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use forkcast_sim::outside::quoted;
use serde::Serialize;

use crate::check::{Check, Kind, Verdict};
use crate::format::json_text;
use crate::human::check::{claim, words};
use crate::names::Names;

use parts::{Driver, Invocation, Location, Message, Notification, Properties, ResultObject, RuleObject, Run, Tool};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const VERSION: &str = "2.1.0";

/// Requests beside the first that a result names.
const RELATED_MAX: usize = 20;

/// Writes a check.
///
/// # Errors
/// When the target cannot be written.
pub fn write(check: &Check<'_>, target: &mut dyn Write) -> io::Result<()> {
    let kinds = check.kinds();
    let rules = rules(check, &kinds);
    let mut fingerprints = BTreeMap::new();
    let changes = kinds.iter().map(|kind| change(check, kind, &rules, &mut fingerprints));
    let results: Vec<ResultObject> = changes.chain(violations(check, &rules)).chain(graded(check, &rules)).collect();
    let run = Run {
        tool: Tool { driver: Driver::new(rules) },
        column_kind: "unicodeCodePoints",
        invocations: [Invocation {
            execution_successful: !check.partial && check.inputs.unreadable.is_empty(),
            tool_execution_notifications: check.inputs.unreadable.iter().map(|damage| unread(check, damage)).collect(),
        }],
        results,
    };
    let log = Log { schema: SCHEMA, version: VERSION, runs: [run] };
    json_text::pretty(target, &log)?;
    writeln!(target)
}

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

/// A rule for each cause that was found, for budgets and for each thing that forks need.
fn rules(check: &Check<'_>, kinds: &[Kind<'_>]) -> Vec<RuleObject> {
    let mut rules: BTreeMap<String, RuleObject> = BTreeMap::new();
    for cause in kinds.iter().map(|kind| kind.first().cause) {
        let of_cause = kinds.iter().map(Kind::first).filter(|finding| finding.cause == cause);
        let providers: BTreeSet<String> = of_cause.map(words::provider).collect();
        let providers: Vec<String> = providers.into_iter().collect();
        let full = format!("{} {}", cause.suggestion(), providers.join(" "));
        let short = format!("A prefix that was cached is not read: {}", cause.word().replace('_', " "));
        rules.insert(cause.word().to_owned(), RuleObject::new(cause.word(), &short, &full));
    }
    for violation in &check.report.violations {
        let word = violation.rule.word();
        rules.insert(
            word.to_owned(),
            RuleObject::new(
                word,
                "What is sent is refused, outside of its budget, or not what the lock holds",
                claim(violation.rule),
            ),
        );
    }
    for graded in check.card.iter().filter(|graded| graded.passed == Some(false)) {
        let full = graded.suggestion.as_deref().unwrap_or(&graded.claim);
        rules.insert(graded.check.clone(), RuleObject::new(&graded.check, &graded.claim, full));
    }
    rules.into_values().collect()
}

fn rule_index(rules: &[RuleObject], id: &str) -> usize {
    rules.iter().position(|rule| rule.id == id).unwrap_or_default()
}

fn change(
    check: &Check<'_>,
    kind: &Kind<'_>,
    rules: &[RuleObject],
    fingerprints: &mut BTreeMap<String, usize>,
) -> ResultObject {
    let finding = kind.first();
    let id = finding.cause.word();
    let headline = words::headline(check, kind);
    let text = std::iter::once(headline).chain(words::lines(check, kind)).collect::<Vec<_>>().join("\n");
    let mut related = kind.further();
    related.truncate(RELATED_MAX);
    let related = related
        .into_iter()
        .enumerate()
        .map(|(at, request)| location(check, request, None).related(at + 1, &format!("the same in request {request}")));
    ResultObject {
        rule_id: id.to_owned(),
        rule_index: rule_index(rules, id),
        level: if kind.verdict == Verdict::Fails { "error" } else { "note" },
        message: Message::text(&text),
        locations: vec![location(check, finding.request, Some(&finding.path))],
        related_locations: related.collect(),
        occurrence_count: Some(kind.further().len() + 1),
        partial_fingerprints: fingerprint(check, kind, fingerprints),
        properties: Some(Properties::of(check, kind)),
    }
}

/// Where a request stands, and what in it.
fn location(check: &Check<'_>, request: usize, path: Option<&str>) -> Location {
    match check.origin(request) {
        Some(origin) => Location::at(&check.names.file(&origin.file), origin.line.max(1), path),
        None => Location::of(path),
    }
}

/// What tells the same result of another run: what changed, and in which chain of which file, but not in which request,
/// byte or version of it.
fn fingerprint(
    check: &Check<'_>,
    kind: &Kind<'_>,
    fingerprints: &mut BTreeMap<String, usize>,
) -> BTreeMap<&'static str, String> {
    let finding = kind.first();
    let file = check.origin(finding.request).map_or("", |origin| origin.file.as_str());
    let volatile = finding.volatile.map_or("", |volatile| volatile.word());
    let path = without_indices(&finding.path);
    let words = [
        finding.rule.word(),
        finding.cause.word(),
        finding.level.name(),
        &Names::Plain.agent(&finding.chain),
        file,
        &path,
        &finding.name,
        volatile,
    ];
    let digest = blake3::hash(words.join("\u{0}").as_bytes()).to_hex();
    let digest = digest.as_str()[..FINGERPRINT_DIGITS].to_owned();
    let among = fingerprints.entry(digest.clone()).or_insert(0);
    *among += 1;
    BTreeMap::from([("forkcastChange/v1", format!("{digest}:{among}"))])
}

const FINGERPRINT_DIGITS: usize = 32;

/// A path without its positions, which move when anything comes in before.
fn without_indices(path: &str) -> String {
    path.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn violations<'a>(check: &'a Check<'_>, rules: &'a [RuleObject]) -> impl Iterator<Item = ResultObject> + 'a {
    check.report.violations.iter().map(|violation| {
        let id = violation.rule.word();
        let chain = violation.chain.as_ref().map(|chain| format!(" of chain {}", quoted(&check.names.agent(chain))));
        let chain = chain.unwrap_or_default();
        let text = format!("{}{chain}: found {}, expected {}", violation.what, violation.found, violation.expected);
        let chains = check.chains();
        let of_chain = chains.iter().find(|(name, _)| Some(*name) == violation.chain.as_deref());
        let request = of_chain.or(chains.first()).map_or(0, |(_, request)| *request);
        ResultObject::error(id, rule_index(rules, id), &text, location(check, request, None))
    })
}

fn graded<'a>(check: &'a Check<'_>, rules: &'a [RuleObject]) -> impl Iterator<Item = ResultObject> + 'a {
    check.card.iter().filter(|graded| graded.passed == Some(false)).map(|graded| {
        let evidence = check.names.message(&graded.evidence);
        let place = location(check, graded.request.unwrap_or(0), graded.path.as_deref());
        ResultObject::error(&graded.check, rule_index(rules, &graded.check), &evidence, place)
    })
}

fn unread(check: &Check<'_>, damage: &crate::check::Damage) -> Notification {
    Notification {
        level: "error",
        message: Message::text(&check.names.message(&damage.reason)),
        locations: [Location::at(&check.names.file(&damage.file), damage.line.max(1), None)],
    }
}
