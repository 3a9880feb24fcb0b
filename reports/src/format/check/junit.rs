//! JUnit XML: a suite for each rule, a test for each chain.
//!
//! GitLab reads `name`, `classname`, `file` and the text of a failure; Jenkins `classname` as package and class. A test
//! has one failure there, so one failure contains all findings of a chain.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use forkcast_sim::guard::{Rule, Violation};
use forkcast_sim::outside::visible;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::check::{Check, Graded, Kind, Origin, Weight};
use crate::document::count;
use crate::human::check::words;

/// Writes a check.
///
/// # Errors
/// When the target cannot be written.
pub fn write(check: &Check<'_>, target: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new("forkcast check");
    let kinds = by_chain(check);
    for rule in Rule::ALL.into_iter().filter(|rule| check.report.score.contains_key(rule.word())) {
        report.add_test_suite(suite(check, rule, &kinds));
    }
    if !check.card.is_empty() {
        let mut suite = TestSuite::new("conformance");
        suite.add_test_cases(check.card.iter().map(|graded| graded_case(check, graded)));
        report.add_test_suite(suite);
    }
    if !check.inputs.unreadable.is_empty() {
        report.add_test_suite(inputs(check));
    }
    report.serialize(&mut *target).map_err(io::Error::other)
}

/// Changes that do anything, by rule and chain.
fn by_chain<'a>(check: &Check<'a>) -> BTreeMap<(Rule, &'a str), Vec<Kind<'a>>> {
    let mut found: BTreeMap<(Rule, &'a str), Vec<Kind<'a>>> = BTreeMap::new();
    for kind in check.kinds() {
        for part in kind.by_chain() {
            found.entry((part.first().rule, part.first().chain.as_str())).or_default().push(part);
        }
    }
    found
}

fn suite(check: &Check<'_>, rule: Rule, kinds: &BTreeMap<(Rule, &str), Vec<Kind<'_>>>) -> TestSuite {
    let mut suite = TestSuite::new(rule.word());
    let chains = check.chains();
    for (chain, request) in &chains {
        let found = kinds.get(&(rule, *chain)).map_or(&[][..], Vec::as_slice);
        let violations = violations(check, rule, Some(chain));
        suite.add_test_case(case(check, rule, chain, Some(*request), found, &violations));
    }
    // Chains that the input does not have are a lock's.
    for chain in absent_chains(check, rule, kinds, &chains) {
        let found = kinds.get(&(rule, chain)).map_or(&[][..], Vec::as_slice);
        suite.add_test_case(case(check, rule, chain, None, found, &violations(check, rule, Some(chain))));
    }
    let together = violations(check, rule, None);
    if !together.is_empty() {
        let mut case = TestCase::new("all chains", TestCaseStatus::success());
        placed(check, &mut case, together.iter().find_map(|violation| check.shows(violation)));
        suite.add_test_case(failed(case, rule.word(), &together.into_iter().map(said).collect::<Vec<_>>()));
    }
    suite
}

/// Chains with something to report that none of the requests belongs to, each once.
fn absent_chains<'a>(
    check: &'a Check<'_>,
    rule: Rule,
    kinds: &BTreeMap<(Rule, &'a str), Vec<Kind<'_>>>,
    chains: &[(&str, usize)],
) -> BTreeSet<&'a str> {
    let changed = kinds.keys().filter(|(of, _)| *of == rule).map(|(_, chain)| *chain);
    let outside = check.report.violations.iter().filter(|violation| violation.rule == rule);
    let named = changed.chain(outside.filter_map(|violation| violation.chain.as_deref()));
    named.filter(|name| !chains.iter().any(|(known, _)| known == name)).collect()
}

fn violations<'a>(check: &Check<'a>, rule: Rule, chain: Option<&str>) -> Vec<&'a Violation> {
    let found = check.report.violations.iter();
    found.filter(|violation| violation.rule == rule && violation.chain.as_deref() == chain).collect()
}

/// A violation as a failure: its title, and no lines.
fn said(Violation { what, found, expected, .. }: &Violation) -> (String, Vec<String>) {
    (format!("{what}: found {found}, expected {expected}"), Vec::new())
}

/// Gives a test the file of what it is about.
fn placed(check: &Check<'_>, case: &mut TestCase, origin: Option<&Origin>) {
    if let Some(origin) = origin {
        case.extra.insert("file".into(), visible(&check.names.file(&origin.file)).into());
    }
}

/// The test of one chain.
fn case(
    check: &Check<'_>,
    rule: Rule,
    chain: &str,
    request: Option<usize>,
    kinds: &[Kind<'_>],
    violations: &[&Violation],
) -> TestCase {
    let mut case = TestCase::new(&*visible(&check.names.agent(chain)), TestCaseStatus::success());
    case.set_classname(format!("forkcast.{}", rule.word()));
    let changed = kinds.first().and_then(|kind| check.origin(kind.first().request));
    let shown = || violations.iter().find_map(|violation| check.shows(violation));
    placed(check, &mut case, changed.or_else(shown).or_else(|| check.origin(request?)));
    let (failing, others): (Vec<&Kind<'_>>, Vec<&Kind<'_>>) =
        kinds.iter().partition(|kind| kind.verdict.weight() == Weight::Error);
    if !others.is_empty() {
        case.set_system_out(others.iter().map(|kind| noted(check, kind)).collect::<Vec<_>>().join("\n\n"));
    }
    let changes = failing.iter().map(|kind| (words::headline(check, kind), words::lines(check, kind)));
    let failures: Vec<(String, Vec<String>)> = changes.chain(violations.iter().copied().map(said)).collect();
    if failures.is_empty() {
        return case;
    }
    let kind = failing.first().map_or(rule.word(), |kind| kind.first().cause.word());
    failed(case, kind, &failures)
}

/// A message of a test that does not fail: `note: …`.
fn noted(check: &Check<'_>, kind: &Kind<'_>) -> String {
    let title = format!("{}: {}", kind.verdict.weight().in_sarif(), words::headline(check, kind));
    text(&title, &words::lines(check, kind))
}

/// A title with its lines below it.
fn text(title: &str, lines: &[String]) -> String {
    let lines = lines.iter().map(|line| format!("  {}", visible(line)));
    std::iter::once(visible(title).into_owned()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// A test with its failures as one.
fn failed(mut case: TestCase, kind: &str, failures: &[(String, Vec<String>)]) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let more = match failures.len() - 1 {
        0 => String::new(),
        more => format!(" (and {} more)", count(more as u64)),
    };
    status.set_message(format!("{}{more}", visible(&failures[0].0))).set_type(kind);
    let all = failures.iter().map(|(title, lines)| text(title, lines));
    status.set_description(all.collect::<Vec<_>>().join("\n\n"));
    case.status = status;
    case
}

fn graded_case(check: &Check<'_>, graded: &Graded) -> TestCase {
    let mut case = TestCase::new(graded.check.as_str(), TestCaseStatus::success());
    case.set_classname("forkcast.conformance");
    placed(check, &mut case, graded.request.and_then(|request| check.origin(request)));
    let evidence = visible(&check.names.message(&graded.evidence)).into_owned();
    match graded.passed {
        Some(true) => {}
        Some(false) => {
            let lines = graded.suggestion.iter().cloned().collect();
            return failed(case, &graded.check, &[(evidence, lines)]);
        }
        None => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(evidence);
            case.status = status;
        }
    }
    case
}

/// A test that could not be made for each place that cannot be read.
fn inputs(check: &Check<'_>) -> TestSuite {
    let mut suite = TestSuite::new("inputs");
    for damage in &check.inputs.unreadable {
        let file = visible(&check.names.file(&damage.file)).into_owned();
        let name = if damage.line == 0 { file.clone() } else { format!("{file}:{}", damage.line) };
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(&*visible(&check.names.message(&damage.reason))).set_type("unreadable");
        let mut case = TestCase::new(name, status);
        case.set_classname("forkcast.inputs");
        case.extra.insert("file".into(), visible(&file).into());
        suite.add_test_case(case);
    }
    suite
}
