//! SARIF 2.1.0: a rule for each cause, a result for each change, however many requests have it.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0" (2020-03), and what
//! docs.github.com, "SARIF support for code scanning" (2026-09), shows of it. The tests validate it by the standard's own
//! schema. Why no library writes it: `reports/README.md`, "Deliberately not here".

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use forkcast_replay::input::Unreadable;
use forkcast_sim::outside::{inert_message, quoted};
use forkcast_sim::wire::Maker;

use crate::check::{Check, Kind, Origin, Weight};
use crate::document::json_text;
use crate::human::check::{claim, words};
use crate::human::list;
use crate::names::Names;
use crate::record::Value;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const VERSION: &str = "2.1.0";

/// Most requests listed in a result besides the first.
const RELATED_MAX: usize = 20;

const FINGERPRINT_DIGITS: usize = 32;

/// The fields of an object, in order.
macro_rules! object {
    ($($word:literal: $value:expr),* $(,)?) => { Value::Fields(vec![$(($word, Value::from($value))),*]) };
}

/// Writes a check.
///
/// # Errors
/// When the target cannot be written.
pub fn write(check: &Check<'_>, target: &mut dyn Write) -> io::Result<()> {
    let kinds = check.kinds();
    let rules = Rules::of(check, &kinds);
    let mut fingerprints = BTreeMap::new();
    let changes = kinds.iter().map(|kind| change(check, kind, &rules, &mut fingerprints));
    let results: Vec<Value> = changes.chain(violations(check, &rules)).chain(graded(check, &rules)).collect();
    let notifications: Vec<Value> = check.inputs.unreadable.iter().map(|damage| unread(check, damage)).collect();
    let invocation = object! {
        "executionSuccessful": !check.partial && check.inputs.unreadable.is_empty(),
        "toolExecutionNotifications": unless_empty(notifications),
    };
    let driver = object! {
        "name": "forkcast",
        "fullName": "forkcast check: what breaks the prompt cache",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules.0.into_values().collect::<Vec<Value>>(),
    };
    let run = object! {
        "tool": object! { "driver": driver },
        "columnKind": "unicodeCodePoints",
        "invocations": vec![invocation],
        "results": results,
    };
    json_text::pretty(target, &object! { "$schema": SCHEMA, "version": VERSION, "runs": vec![run] })?;
    writeln!(target)
}

fn message(text: &str) -> Value {
    object! { "text": inert_message(text).into_owned() }
}

fn unless_empty(values: Vec<Value>) -> Value {
    if values.is_empty() { Value::Absent } else { Value::List(values) }
}

/// A rule for each cause that was found, for budgets and for each thing that forks need, by its id.
struct Rules(BTreeMap<String, Value>);

impl Rules {
    fn of(check: &Check<'_>, kinds: &[Kind<'_>]) -> Self {
        let mut rules = Self(BTreeMap::new());
        for cause in kinds.iter().map(|kind| kind.first().cause) {
            let of_cause = kinds.iter().map(Kind::first).filter(|finding| finding.cause == cause);
            let providers: BTreeSet<String> = of_cause.map(words::provider).collect();
            let providers: Vec<String> = providers.into_iter().collect();
            let full =
                format!("{} {} {} {}.", cause.meaning(), cause.suggestion(), providers.join(" "), list::more(cause));
            let short = format!("A cached prefix is not read: {}", cause.word().replace('_', " "));
            rules.add(cause.word(), &short, &full);
        }
        for violation in &check.report.violations {
            let short = "A request is refused, outside its budget, or differs from the lock";
            rules.add(violation.rule.word(), short, claim(violation.rule));
        }
        for graded in check.card.iter().filter(|graded| graded.passed == Some(false)) {
            rules.add(&graded.check, &graded.claim, graded.suggestion.as_deref().unwrap_or(&graded.claim));
        }
        rules
    }

    fn add(&mut self, id: &str, short: &str, full: &str) {
        let rule = object! {
            "id": id.to_owned(),
            "name": pascal(id),
            "shortDescription": message(short),
            "fullDescription": message(full),
            "help": message(full),
            "defaultConfiguration": object! { "level": Weight::Error.in_sarif() },
            "properties": object! { "tags": ["prompt-cache", "cost"] },
        };
        self.0.insert(id.to_owned(), rule);
    }

    /// The index of a rule.
    fn index(&self, id: &str) -> usize {
        self.0.range(..id.to_owned()).count()
    }
}

/// `tool_changed` as `ToolChanged`, the form in which rules are named.
fn pascal(word: &str) -> String {
    let capital = |part: &str| {
        let mut chars = part.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>())
    };
    word.split('_').filter_map(capital).collect()
}

fn change(check: &Check<'_>, kind: &Kind<'_>, rules: &Rules, fingerprints: &mut BTreeMap<String, usize>) -> Value {
    let finding = kind.first();
    let id = finding.cause.word();
    let headline = words::headline(check, kind);
    let text = std::iter::once(headline).chain(words::lines(check, kind)).collect::<Vec<_>>().join("\n");
    let related = kind.further().into_iter().take(RELATED_MAX).enumerate().map(|(at, request)| {
        let said = format!("the same in request {request}");
        location(check, request, "", Some((at + 1, said)))
    });
    object! {
        "ruleId": id,
        "ruleIndex": rules.index(id),
        "level": kind.verdict.weight().in_sarif(),
        "message": message(&text),
        "locations": vec![location(check, finding.request, &finding.path, None)],
        "relatedLocations": unless_empty(related.collect()),
        "occurrenceCount": kind.further().len() + 1,
        "partialFingerprints": object! { "forkcastChange/v1": fingerprint(check, kind, fingerprints) },
        "properties": properties(check, kind),
    }
}

/// Further data for programs.
fn properties(check: &Check<'_>, kind: &Kind<'_>) -> Value {
    let finding = kind.first();
    object! {
        "rule": finding.rule.word(),
        "verdict": check.verdict(finding).word(),
        "request": finding.request,
        "older": finding.older,
        "offsetInBlock": finding.offset_in_block,
        "offsetInPrefix": finding.offset_in_prefix,
        "volatile": finding.volatile.map(|volatile| volatile.word()),
        "provider": finding.provider.map(Maker::word),
        "providerReason": finding.provider_reason(),
        "tokensLost": kind.tokens_lost(),
        "costUsd": kind.cost(),
    }
}

/// The place of a request, and of a part of it; with its number and its relation to others, if it is one of several.
fn location(check: &Check<'_>, request: usize, path: &str, related: Option<(usize, String)>) -> Value {
    location_of(check, check.origin(request), path, related)
}

fn location_of(check: &Check<'_>, origin: Option<&Origin>, path: &str, related: Option<(usize, String)>) -> Value {
    let (id, said) = related.unzip();
    object! {
        "id": id.map_or(Value::Absent, Value::from),
        "physicalLocation": origin
            .map_or(Value::Absent, |origin| physical(&check.names.file(&origin.file), origin.line)),
        "logicalLocations": if path.is_empty() {
            Value::Absent
        } else {
            vec![object! { "fullyQualifiedName": path.to_owned(), "kind": "object" }].into()
        },
        "message": said.map_or(Value::Absent, |said| message(&said)),
    }
}

fn physical(file: &str, line: usize) -> Value {
    object! {
        "artifactLocation": object! { "uri": uri(file) },
        "region": object! { "startLine": line.max(1) },
    }
}

/// Identifies the same result of another run: the change, and its chain and file, but not the request, byte or version.
fn fingerprint(check: &Check<'_>, kind: &Kind<'_>, fingerprints: &mut BTreeMap<String, usize>) -> String {
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
    format!("{digest}:{among}")
}

/// A path without its positions, which move when anything comes in before.
fn without_indices(path: &str) -> String {
    path.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// A result not caused by a change of a prompt. Its text identifies it.
fn error(rules: &Rules, id: &str, text: &str, place: Value) -> Value {
    object! {
        "ruleId": id.to_owned(),
        "ruleIndex": rules.index(id),
        "level": Weight::Error.in_sarif(),
        "message": message(text),
        "locations": vec![place],
        "partialFingerprints": object! { "forkcastRule/v1": id.to_owned() },
    }
}

fn violations<'a>(check: &'a Check<'_>, rules: &'a Rules) -> impl Iterator<Item = Value> + 'a {
    check.report.violations.iter().map(|violation| {
        let chain = violation.chain.as_ref().map(|chain| format!(" of chain {}", quoted(&check.names.agent(chain))));
        let chain = chain.unwrap_or_default();
        let text = format!("{}{chain}: found {}, expected {}", violation.what, violation.found, violation.expected);
        // Code scanning takes no result without a place.
        let of_chain = || check.origins.iter().find(|origin| violation.chain.as_ref() == Some(&origin.chain));
        let origin = check.shows(violation).or_else(of_chain).or(check.origin(0));
        error(rules, violation.rule.word(), &text, location_of(check, origin, &violation.path, None))
    })
}

fn graded<'a>(check: &'a Check<'_>, rules: &'a Rules) -> impl Iterator<Item = Value> + 'a {
    check.card.iter().filter(|graded| graded.passed == Some(false)).map(|graded| {
        let path = graded.path.as_deref().unwrap_or_default();
        let place = location(check, graded.request.unwrap_or(0), path, None);
        error(rules, &graded.check, &check.names.message(&graded.evidence), place)
    })
}

fn unread(check: &Check<'_>, damage: &Unreadable) -> Value {
    object! {
        "level": Weight::Error.in_sarif(),
        "message": message(&check.names.message(&damage.reason)),
        "locations": vec![object! { "physicalLocation": physical(&check.names.file(&damage.file), damage.line) }],
    }
}

/// A path as the relative or absolute reference that a URI is, everything escaped that has a meaning there (RFC 3986).
fn uri(file: &str) -> String {
    let file = file.replace('\\', "/");
    let file = file.strip_prefix("./").unwrap_or(&file);
    let mut uri = if file.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::{pascal, uri};

    #[test]
    fn files_are_references() {
        assert_eq!(uri("./bodies/a b#1.json"), "bodies/a%20b%231.json");
        assert_eq!(uri("C:\\x"), "C%3A/x");
        assert_eq!(uri("/tmp/ä.json"), "file:///tmp/%C3%A4.json");
    }

    #[test]
    fn rules_have_names_of_one_word() {
        assert_eq!(pascal("tool_changed"), "ToolChanged");
    }
}
