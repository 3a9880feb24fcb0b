//! `forkcast.check/1`, and a check as other programs take it.
//!
//! * [`write()`]: one JSON object.
//! * [`junit`]: JUnit XML, for GitLab, Jenkins and whatever else shows tests.
//! * [`github`]: commands of a GitHub workflow, which it shows as annotations.
//! * [`sarif`]: SARIF 2.1.0, for code scanning.

mod finding;
pub mod github;
pub mod junit;
pub mod sarif;
mod update;

use std::collections::BTreeMap;
use std::io::{self, Write};

use forkcast_sim::guard::{Noted, Violation};
use serde::Serialize;

use crate::check::{Check, Damage, Graded, Lock};
use crate::format::inputs::{SkippedObject, UnreadableObject};
use crate::format::json_text;
use crate::human::check::words;
use crate::names::Names;

use finding::FindingObject;
use update::UpdateObject;

/// Name and version.
pub const SCHEMA: &str = "forkcast.check/1";

/// Writes a check as one JSON object.
///
/// # Errors
/// When the target cannot be written.
pub fn write(check: &Check<'_>, target: &mut dyn Write) -> io::Result<()> {
    json_text::pretty(target, &CheckObject::of(check))?;
    writeln!(target)
}

#[derive(Serialize)]
struct CheckObject<'a> {
    schema: &'static str,
    passed: bool,
    partial: bool,
    chains: usize,
    requests: usize,
    findings: Vec<FindingObject>,
    score: BTreeMap<&'a str, Option<bool>>,
    conformance: Option<Vec<GradedObject>>,
    violations: Vec<ViolationObject>,
    notes: Vec<NoteObject>,
    warnings: Vec<String>,
    inputs: InputsObject,
    lock: Option<LockObject>,
    update: Option<UpdateObject>,
    cache: &'static str,
    prices: &'a str,
    requests_per_day: Option<u64>,
}

#[derive(Serialize)]
struct InputsObject {
    files: usize,
    bytes: u64,
    skipped: Vec<SkippedObject>,
    unreadable: Vec<UnreadableObject>,
}

#[derive(Serialize)]
struct LockObject {
    file: String,
    chains: usize,
    requests: usize,
}

#[derive(Serialize)]
struct NoteObject {
    note: &'static str,
    chain: String,
    request: usize,
    file: Option<String>,
    path: String,
    detail: String,
}

#[derive(Serialize)]
struct ViolationObject {
    rule: &'static str,
    chain: Option<String>,
    what: String,
    found: String,
    expected: String,
}

#[derive(Serialize)]
struct GradedObject {
    check: String,
    passed: Option<bool>,
    claim: String,
    evidence: String,
    request: Option<usize>,
    path: Option<String>,
    suggestion: Option<String>,
}

impl<'a> CheckObject<'a> {
    fn of(check: &'a Check<'_>) -> Self {
        let report = check.report;
        Self {
            schema: SCHEMA,
            passed: check.passes(),
            partial: check.partial,
            chains: report.chains,
            requests: report.requests,
            findings: report.findings.iter().map(|finding| FindingObject::of(check, finding)).collect(),
            score: score(check),
            conformance: (!check.card.is_empty())
                .then(|| check.card.iter().map(|graded| GradedObject::of(graded, check.names)).collect()),
            violations: report.violations.iter().map(|found| ViolationObject::of(found, check.names)).collect(),
            notes: report.notes.iter().map(|note| NoteObject::of(check, note)).collect(),
            warnings: report.warnings.iter().map(|warning| check.names.message(warning)).collect(),
            inputs: InputsObject::of(check),
            lock: LockObject::of(check),
            update: check.update.map(|changes| UpdateObject::of(changes, check.names)),
            cache: check.rules.preset.name,
            prices: &check.prices,
            requests_per_day: check.rules.requests_per_day,
        }
    }
}

/// The rules that were checked, and what forks need.
fn score<'a>(check: &'a Check<'_>) -> BTreeMap<&'a str, Option<bool>> {
    let rules = check.report.score.iter().map(|(rule, held)| (*rule, Some(*held)));
    rules.chain(check.card.iter().map(|graded| (graded.check.as_str(), graded.passed))).collect()
}

impl InputsObject {
    fn of(check: &Check<'_>) -> Self {
        let (inputs, names) = (check.inputs, check.names);
        let skipped = |damage: &Damage| SkippedObject::new(&damage.file, &damage.reason, names);
        let unreadable = |damage: &Damage| UnreadableObject::new(&damage.file, damage.line, &damage.reason, names);
        Self {
            files: inputs.files,
            bytes: inputs.bytes,
            skipped: inputs.skipped.iter().map(skipped).collect(),
            unreadable: inputs.unreadable.iter().map(unreadable).collect(),
        }
    }
}

impl LockObject {
    fn of(check: &Check<'_>) -> Option<Self> {
        match &check.lock {
            Lock::Held { file, chains, requests } => {
                Some(Self { file: check.names.file(file), chains: *chains, requests: *requests })
            }
            Lock::Unwanted | Lock::Absent => None,
        }
    }
}

impl NoteObject {
    fn of(check: &Check<'_>, noted: &Noted) -> Self {
        Self {
            note: noted.note.word(),
            chain: check.names.agent(&noted.chain),
            request: noted.request,
            file: check.file(noted.request),
            path: noted.path.clone(),
            detail: words::note(noted),
        }
    }
}

impl ViolationObject {
    fn of(violation: &Violation, names: Names) -> Self {
        Self {
            rule: violation.rule.word(),
            chain: violation.chain.as_ref().map(|chain| names.agent(chain)),
            what: violation.what.clone(),
            found: violation.found.clone(),
            expected: violation.expected.clone(),
        }
    }
}

impl GradedObject {
    fn of(graded: &Graded, names: Names) -> Self {
        Self {
            check: graded.check.clone(),
            passed: graded.passed,
            claim: graded.claim.clone(),
            evidence: names.message(&graded.evidence),
            request: graded.request,
            path: graded.path.clone(),
            suggestion: graded.suggestion.clone(),
        }
    }
}
