//! The findings of a check, as all its outputs show them: changes of one kind together, each with its file.

mod kind;
mod origin;

use std::collections::BTreeMap;

use forkcast_replay::input::Inputs;
use forkcast_sim::guard::conformance::{Card, Row};
use forkcast_sim::guard::lock::Changes;
use forkcast_sim::guard::{Finding, Noted, Report, Rule, Rules, Severity, ShownBy, Violation};
use forkcast_sim::pricing::Money;
use forkcast_sim::words;

use crate::names::Names;
pub use kind::Kind;
use kind::lost;

/// All data of a check.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    /// The findings.
    pub report: &'a Report,
    /// The rules and their severities.
    pub rules: &'a Rules,
    /// The place in which each request was read, by its position among all.
    pub origins: &'a [Origin],
    /// The place of each recorded error, in order.
    pub refused: &'a [Origin],
    /// The input.
    pub inputs: &'a Inputs,
    /// The lock with which prompts were compared.
    pub lock: Lock,
    /// The results of the conformance suite; empty unless requested.
    pub card: &'a [Graded],
    /// The changes of rewriting the lock, if requested.
    pub update: Option<&'a Changes>,
    /// Which prices these are, such as `list prices of 2026-11-21`.
    pub prices: String,
    /// How names are shown.
    pub names: Names,
    /// Whether files may also contain the bytes around each difference.
    pub content: bool,
    /// The user stopped it before everything was read.
    pub partial: bool,
}

/// The place in which a request was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: String,
    /// Its line, from 1; 0 if a line has no meaning.
    pub line: usize,
    /// The request's position in its file, from 0; `None` if the file contains nothing else.
    pub index: Option<usize>,
    /// Name of its chain.
    pub chain: String,
}

/// The lock with which prompts are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    /// None was wanted.
    #[default]
    Unwanted,
    /// There is none.
    Absent,
    /// A lock.
    Held {
        /// Its file.
        file: String,
        /// Chains in it.
        chains: usize,
        /// Requests in it.
        requests: usize,
    },
}

/// The result of one criterion of the conformance suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graded {
    /// Stable word.
    pub check: String,
    /// The claim that is true if it passed.
    pub claim: String,
    /// Whether it passed; `None` if the input cannot show this.
    pub passed: Option<bool>,
    /// The evidence, or why the input cannot show it.
    pub evidence: String,
    /// The request that shows it.
    pub request: Option<usize>,
    /// The place in its body.
    pub path: Option<String>,
    /// What to do.
    pub suggestion: Option<String>,
}

impl Graded {
    /// The combined results of several cards, each with the numbers that its requests have among all.
    pub fn of(cards: &[(Card, Vec<usize>)]) -> Vec<Self> {
        let Some((first, _)) = cards.first() else { return Vec::new() };
        let graded = first.rows.iter().enumerate().map(|(at, row)| {
            let rows: Vec<(&Row, &[usize])> =
                cards.iter().map(|(card, numbers)| (&card.rows[at], &numbers[..])).collect();
            Self::together(row, &rows)
        });
        graded.collect()
    }

    fn together(row: &Row, rows: &[(&Row, &[usize])]) -> Self {
        let check = row.check;
        let (applied, failed) =
            rows.iter().fold((0, 0), |(applied, failed), (row, _)| (applied + row.applied, failed + row.failed));
        let seen = rows.iter().find_map(|(row, numbers)| Some((row.evidence.first()?, *numbers)));
        let why = rows.iter().find_map(|(row, _)| row.why_unknown).unwrap_or_default();
        let passed = (applied > 0).then_some(failed == 0);
        let times = if applied == 1 { "once".to_owned() } else { format!("{applied} times") };
        let evidence = match (passed, seen) {
            (Some(true), _) => format!("Applied {times}."),
            (Some(false), Some((evidence, _))) => format!("{failed} of {applied} fail; the first: {}.", evidence.found),
            (Some(false), None) => format!("{failed} of {applied} fail."),
            (None, _) => format!("Unknown: {why}."),
        };
        let number = |own: usize, numbers: &[usize]| numbers.get(own).copied().unwrap_or(own);
        Self {
            check: check.word().to_owned(),
            claim: check.sentence().to_owned(),
            passed,
            evidence,
            request: seen.map(|(evidence, numbers)| number(evidence.request, numbers)),
            path: seen.map(|(evidence, _)| evidence.path.clone()).filter(|path| !path.is_empty()),
            suggestion: (passed == Some(false)).then(|| check.suggestion().to_owned()),
        }
    }
}

words! {
    /// Consequence of a finding.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Verdict: word {
        /// The check fails because of it.
        Fails = "fails",
        /// It breaks a prefix or differs from the lock, and is only reported.
        Noted = "noted",
        /// The same, and the rules explicitly allow it.
        Allowed = "allowed",
        /// It breaks nothing.
        Harmless = "harmless",
    }
}

impl Verdict {
    /// Severity of such a finding.
    pub const fn weight(self) -> Weight {
        match self {
            Self::Fails => Weight::Error,
            Self::Noted | Self::Allowed | Self::Harmless => Weight::Note,
        }
    }
}

/// Severity of a finding, decided once for all programs that read a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It makes the check fail.
    Error,
    /// It does not.
    Note,
}

impl Weight {
    /// The word of a level in SARIF, and in the text of a JUnit test.
    pub const fn in_sarif(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Note => "note",
        }
    }

    /// The command of a workflow.
    pub const fn in_github(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Note => "notice",
        }
    }
}

impl<'a> Check<'a> {
    /// The consequence of a finding.
    pub fn verdict(&self, finding: &Finding) -> Verdict {
        if self.rules.forbid(finding) {
            Verdict::Fails
        } else if !finding.breaks_prefix && finding.rule != Rule::Equality || self.is_off(finding) {
            Verdict::Harmless
        } else if finding.is_allowed(self.rules) {
            Verdict::Allowed
        } else {
            Verdict::Noted
        }
    }

    /// The rule of the finding is off.
    fn is_off(&self, finding: &Finding) -> bool {
        self.rules.severity(finding.rule) == Severity::Off
    }

    /// Changes with an effect, by kind: first those that fail, then by cost.
    pub fn kinds(&self) -> Vec<Kind<'a>> {
        let told = self.report.findings.iter().map(|finding| (self.verdict(finding), finding));
        let mut kinds = kind::of(told.filter(|(verdict, _)| *verdict != Verdict::Harmless).collect());
        let dearest = |kind: &Kind<'_>| {
            let first = kind.first();
            (kind.verdict, std::cmp::Reverse((kind.cost(), kind.tokens_lost())), first.request, first.offset_in_prefix)
        };
        kinds.sort_by_key(dearest);
        kinds
    }

    /// How many requests have a finding with this verdict.
    pub fn requests_with(&self, verdict: Verdict) -> usize {
        let mut requests: Vec<usize> = Vec::new();
        for finding in self.report.findings.iter().filter(|finding| self.verdict(finding) == verdict) {
            requests.push(finding.request);
        }
        requests.sort_unstable();
        requests.dedup();
        requests.len()
    }

    /// The total cost of all findings with this verdict; `None` if a model has no price.
    pub fn cost(&self, verdict: Verdict) -> Option<Money> {
        self.sum(verdict, false)
    }

    /// What agents would save by sharing with their siblings, by the findings with this verdict: in no other sum.
    pub fn unshared(&self, verdict: Verdict) -> Option<Money> {
        self.sum(verdict, true)
    }

    /// The part of [`Self::cost`] that is known.
    pub fn known_cost(&self, verdict: Verdict) -> Money {
        lost(&self.findings(verdict, false)).filter_map(|lost| lost.cost).sum()
    }

    fn sum(&self, verdict: Verdict, with_sibling: bool) -> Option<Money> {
        lost(&self.findings(verdict, with_sibling)).map(|lost| lost.cost).sum()
    }

    fn findings(&self, verdict: Verdict, with_sibling: bool) -> Vec<&'a Finding> {
        let is_asked = |finding: &&Finding| self.verdict(finding) == verdict && finding.with_sibling == with_sibling;
        self.report.findings.iter().filter(is_asked).collect()
    }

    /// Notes by their word: how many there are, and the first.
    pub fn notes(&self) -> BTreeMap<&'static str, (usize, &'a Noted)> {
        let mut notes: BTreeMap<&'static str, (usize, &'a Noted)> = BTreeMap::new();
        for note in &self.report.notes {
            notes.entry(note.note.word()).or_insert((0, note)).0 += 1;
        }
        notes
    }

    /// The place in which request `number` was read.
    pub fn origin(&self, number: usize) -> Option<&'a Origin> {
        self.origins.get(number)
    }

    /// The displayed file of request `number`.
    pub fn file(&self, number: usize) -> Option<String> {
        self.origin(number).map(|origin| self.names.file(&origin.file))
    }

    /// The place of the request or of the recorded error that shows a violation.
    pub fn shows(&self, violation: &Violation) -> Option<&'a Origin> {
        match violation.shown_by? {
            ShownBy::Request(number) => self.origin(number),
            ShownBy::RecordedError(number) => self.refused.get(number),
        }
    }

    /// The displayed place of request `number`: `file`, `file:line` or `file#position`.
    pub fn place(&self, number: usize) -> Option<String> {
        let origin = self.origin(number)?;
        let file = self.names.file(&origin.file);
        Some(match (origin.line, origin.index) {
            (0, None) => file,
            (0, Some(index)) => format!("{file}#{index}"),
            (line, _) => format!("{file}:{line}"),
        })
    }

    /// Chains in order of their first requests, each with the request.
    pub fn chains(&self) -> Vec<(&'a str, usize)> {
        let mut seen = std::collections::BTreeSet::new();
        let named = self.origins.iter().enumerate().map(|(number, origin)| (origin.chain.as_str(), number));
        named.filter(|(chain, _)| seen.insert(*chain)).collect()
    }

    /// Whether everything was read, and no fault was found. Unreadable input was not checked.
    pub fn passes(&self) -> bool {
        self.holds() && self.inputs.unreadable.is_empty()
    }

    /// Whether no fault was found, by the rules and by the suite.
    pub fn holds(&self) -> bool {
        self.report.passes(self.rules) && self.card.iter().all(|graded| graded.passed != Some(false))
    }
}
