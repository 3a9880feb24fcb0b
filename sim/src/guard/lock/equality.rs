//! Compares a newer lock with the pinned one.

use std::collections::BTreeSet;

use super::matching::{self, Match};
use super::outline::Outlines;
use super::{Breakpoint, Chain, Lock, Locked};
use crate::diagnosis::{Cause, Difference, Note, Subject, appended, compare};
use crate::guard::judge::{Question, judge_compared};
use crate::guard::timeless::TimelessCache;
use crate::guard::{Finding, NoteKind, Noted, Report, Rule, Rules, Severity, Violation};
use crate::pricing::several;
use crate::wire::{BlockId, Level};

/// Differences from a lock.
#[derive(Clone, Debug, Default)]
pub struct Equality {
    /// Blocks, parameters and models that differ, each once in its chain.
    pub findings: Vec<Finding>,
    /// Breakpoints at other places.
    pub notes: Vec<Noted>,
    /// Chains and requests of the lock that were not sent.
    pub missing: Vec<Violation>,
    /// Chains and requests that are not in the lock.
    pub strangers: Vec<Violation>,
}

impl Equality {
    /// Adds the differences to the report. Missing chains and requests fail the check as severely as the rules require.
    /// New ones fail it if the whole prompt has to be equal, or its conversation; else they are reported as warnings.
    pub fn report(self, rules: &Rules, report: &mut Report) {
        let is_whole = rules.equality == Severity::Fail || rules.pinned.contains(&Level::Messages);
        let strangers = if is_whole { Severity::Fail } else { Severity::Note };
        let forbidden = self.findings.iter().any(|finding| rules.forbid(finding));
        let before = report.violations.len();
        judge(self.missing, rules.missing, report);
        judge(self.strangers, strangers, report);
        report.score.insert(Rule::Equality.word(), !forbidden && report.violations.len() == before);
        report.findings.extend(self.findings);
        report.notes.extend(self.notes);
    }
}

fn judge(found: Vec<Violation>, severity: Severity, report: &mut Report) {
    match severity {
        Severity::Off => {}
        Severity::Note => report.warnings.extend(found.iter().map(Violation::to_string)),
        Severity::Fail => report.violations.extend(found),
    }
}

/// Compares `new` with `old`: all levels, or only the pinned ones if equality is off. If the conversation is not
/// compared, it may have any length.
pub fn equality(old: &Lock, new: &Lock, rules: &Rules) -> Equality {
    let levels = match rules.equality {
        Severity::Off => rules.pinned.clone(),
        _ => Level::ALL.to_vec(),
    };
    let mut found = Equality::default();
    if levels.is_empty() {
        return found;
    }
    for chain in matching::chains(old, new) {
        match (chain.old, chain.new) {
            (Some(before), Some(after)) => {
                Chains { old, new, levels: &levels, rules }.compare(before, after, &mut found);
            }
            (Some(Chain { name, requests, .. }), None) => {
                let expected = format!("{}, as in the lock", several(requests.len() as u64, "request"));
                found.missing.push(violation(name, "the chain", "missing: no request of it was sent", expected));
            }
            (None, Some(Chain { name, requests, .. })) => {
                let sent = format!("new: {}", several(requests.len() as u64, "request"));
                found.strangers.push(violation(name, "the chain", sent, "no such chain, as in the lock"));
            }
            (None, None) => {}
        }
    }
    found
}

fn violation(chain: &str, what: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Violation {
    Violation::new(Rule::Equality, chain, what, found, expected)
}

fn of_blocks(blocks: usize) -> String {
    format!("a request of {blocks} blocks")
}

/// Identifies a difference, so that it is reported once and not in every later request. Breakpoints count as one.
type Known = (Cause, Option<BlockId>, Option<BlockId>, Option<String>);

fn known_by(found: &Difference) -> Known {
    let name = matches!(found.cause, Cause::LevelParameter | Cause::ModelChanged).then(|| found.name.clone());
    (found.cause, found.old, found.new, name)
}

struct Chains<'a> {
    old: &'a Lock,
    new: &'a Lock,
    levels: &'a [Level],
    rules: &'a Rules,
}

/// A chain of the lock and the one that was sent.
struct Beside<'a> {
    chains: &'a Chains<'a>,
    name: &'a str,
    outlines: Outlines,
    /// The prefixes that the lock's requests and the ones sent instead have written.
    cache: TimelessCache,
    /// Requests of both that are in no wire yet: as long as they are equal, this is not needed.
    waiting: Vec<[&'a Locked; 2]>,
    known: BTreeSet<Known>,
}

impl Chains<'_> {
    fn compare(&self, old: &Chain, new: &Chain, found: &mut Equality) {
        let mut beside = Beside {
            chains: self,
            name: &new.name,
            outlines: Outlines::default(),
            cache: TimelessCache::new(&self.rules.preset),
            waiting: Vec::new(),
            known: BTreeSet::new(),
        };
        for (position, Match { old: before, new: after }) in
            matching::requests(old, new, self.levels).into_iter().enumerate()
        {
            match (before, after) {
                (Some(before), Some(after)) => beside.requests([before, after], found),
                (Some(Locked { blocks, .. }), None) => {
                    let (what, expected) = (format!("request {position} of the lock"), of_blocks(*blocks));
                    found.missing.push(violation(&new.name, what, "missing: it was not sent", expected));
                }
                (None, Some(Locked { request, blocks, .. })) => {
                    let (what, sent) = (format!("request {request}"), format!("new: {}", of_blocks(*blocks)));
                    found.strangers.push(violation(&new.name, what, sent, "no such request, as in the lock"));
                }
                (None, None) => {}
            }
        }
    }
}

impl<'a> Beside<'a> {
    fn requests(&mut self, [before, after]: [&'a Locked; 2], found: &mut Equality) {
        let whole = self.chains.levels.contains(&Level::Messages);
        let moved = whole && before.breakpoints != after.breakpoints;
        if moved && after.has_modelled_cache() {
            let path = after.sent_at(&moved_to(&before.breakpoints, &after.breakpoints));
            found.notes.push(Noted::new(self.name, after.request, NoteKind::Harmless(Note::MarkerMoved), path));
        }
        if before.is_same(after, self.chains.levels) && !moved {
            self.waiting.push([before, after]);
            return;
        }
        for [before, after] in std::mem::take(&mut self.waiting) {
            let [older, newer] = self.read([before, after]);
            self.cache.serve(&self.outlines.wire, &older);
            self.cache.serve(&self.outlines.wire, &newer);
        }
        let [older, newer] = self.read([before, after]);
        self.cache.serve(&self.outlines.wire, &older);
        found.findings.extend(self.judge(&older, &newer, after, whole));
        self.cache.serve(&self.outlines.wire, &newer);
    }

    /// Both requests, the lock's first.
    fn read(&mut self, [before, after]: [&Locked; 2]) -> [Subject; 2] {
        let Chains { old, new, rules, .. } = self.chains;
        let older = self.outlines.read(old, before, after, rules);
        [older, self.outlines.read(new, after, after, rules)]
    }

    /// Differences according to the judge, and differences in the rest of the body.
    fn judge(&mut self, older: &Subject, newer: &Subject, after: &Locked, whole: bool) -> Vec<Finding> {
        let levels = self.chains.levels;
        let wire = &self.outlines.wire;
        let comparison = compare(wire, &older.request, &newer.request);
        let known = &self.known;
        let concerns = |found: &Difference| {
            (levels.contains(&found.level) || found.cause == Cause::ModelChanged) && !known.contains(&known_by(found))
        };
        let case = Question {
            wire,
            timeless: self.cache.moment(),
            clocked: self.cache.moment(),
            older,
            newer,
            rates: after.rates.as_ref(),
            rule: Rule::Equality,
            chain: self.name,
            concerns: &concerns,
            // A difference that is already reported moved the older request's end away.
            read_tokens: 0,
            asks_breakpoints: whole && comparison.differences.iter().all(concerns),
        };
        let (mut findings, _) = judge_compared(&case, &comparison);
        let appended = appended(wire, &older.request, &newer.request, &comparison);
        findings.extend(appended.iter().filter(|found| concerns(found)).map(|found| case.finding(found, &[])));
        let of_bytes = comparison.differences.iter().chain(&appended).map(known_by);
        let of_breakpoints = findings.iter().filter(|found| !found.cause.is_change()).map(|found| found.cause);
        let of_breakpoints: Vec<Known> = of_breakpoints.map(|cause| (cause, None, None, None)).collect();
        findings.retain(|found| !known.contains(&(found.cause, None, None, None)));
        self.known.extend(of_bytes.chain(of_breakpoints));
        findings.into_iter().map(|found| Finding { older: None, ..found }).collect()
    }
}

/// The path of the first breakpoint that differs.
fn moved_to(old: &[Breakpoint], new: &[Breakpoint]) -> String {
    let came = new.iter().find(|breakpoint| !old.contains(breakpoint));
    let went = || old.iter().find(|breakpoint| !new.contains(breakpoint));
    came.or_else(went).map(|breakpoint| breakpoint.path.clone()).unwrap_or_default()
}
