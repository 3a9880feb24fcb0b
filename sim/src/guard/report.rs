//! The results: for one request, and for all.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Finding, Noted, Rule, ShownBy, Violation};
use super::rules::Rules;
use crate::pricing::Money;
use crate::wire::{ChainId, Usage};

/// The result for one request.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its position among all requests, from 0.
    pub request: usize,
    /// Its chain.
    pub chain: ChainId,
    /// Name of its chain: the input's, or its scope and a number.
    pub chain_name: String,
    /// It is its chain's first.
    pub first: bool,
    /// Its changes, in prompt order.
    pub findings: Vec<Finding>,
    /// Harmless notes.
    pub notes: Vec<Noted>,
    /// The provider's error for the request, if no finding reports it and the rules forbid it.
    pub refused: Option<String>,
    /// The expected usage at its instant. Output as recorded, else none.
    pub expected: Usage,
    /// Its cost; `None` for a model without a price.
    pub cost: Option<Money>,
}

/// The result for all requests.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Number of chains.
    pub chains: usize,
    /// Number of requests.
    pub requests: usize,
    /// Changes, in order of the requests: the first [`LISTED_MAX`] that the rules forbid, and as many others.
    pub findings: Vec<Finding>,
    /// Harmless notes, in order of the requests: the first [`LISTED_MAX`].
    pub notes: Vec<Noted>,
    /// Counts of findings beyond the listed ones.
    pub unlisted: Unlisted,
    /// Figures outside their budget, and chains with refused requests.
    pub violations: Vec<Violation>,
    /// Each rule that was checked, and whether it held.
    pub score: BTreeMap<&'static str, bool>,
    /// Reasons why the result may be less certain than it looks.
    pub warnings: Vec<String>,
    /// A request to a model that checks its thinking was taken.
    pub(super) checks_thinking: bool,
    /// How many of the listed findings the rules forbid.
    forbidden: usize,
}

/// Most findings and notes of one sort that a report lists. Further ones are counted, so that the memory of a check
/// does not grow with them. One takes about a kilobyte, most of it the bytes around the difference.
pub const LISTED_MAX: usize = 10_000;

/// Counts of findings and notes that are not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// Findings.
    pub findings: usize,
    /// How many of these the rules forbid.
    pub forbidden: usize,
    /// Tokens lost by those that are forbidden, without requests of unmodelled caches.
    pub tokens_lost: u64,
    /// Their cost, without models that have no price.
    pub cost: Money,
    /// Notes.
    pub notes: usize,
    /// Rules broken by the forbidden ones.
    broken: BTreeSet<Rule>,
}

impl Unlisted {
    /// As a sentence; `None` if everything is listed.
    pub fn told(&self) -> Option<String> {
        let Self { findings, forbidden, tokens_lost, cost, notes, .. } = self;
        (findings + notes > 0).then(|| {
            format!(
                "{findings} more findings and {notes} more notes are not listed; {forbidden} of these findings are faults that \
                 lose {tokens_lost} tokens, {cost} USD."
            )
        })
    }

    fn add(&mut self, other: Self) {
        self.findings += other.findings;
        self.forbidden += other.forbidden;
        self.tokens_lost += other.tokens_lost;
        self.cost += other.cost;
        self.notes += other.notes;
        self.broken.extend(other.broken);
    }
}

impl Report {
    /// Whether nothing was found that the rules forbid.
    pub fn passes(&self, rules: &Rules) -> bool {
        self.failing(rules).next().is_none() && self.unlisted.forbidden == 0 && self.violations.is_empty()
    }

    /// The findings listed that the rules forbid.
    pub fn failing<'a>(&'a self, rules: &'a Rules) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(|finding| rules.forbid(finding))
    }

    /// Lists a finding, or counts it.
    pub(super) fn find(&mut self, finding: Finding, rules: &Rules) {
        let forbidden = rules.forbid(&finding);
        let listed = if forbidden { self.forbidden } else { self.findings.len() - self.forbidden };
        if listed < LISTED_MAX {
            self.forbidden += usize::from(forbidden);
            self.findings.push(finding);
            return;
        }
        self.unlisted.findings += 1;
        if forbidden {
            self.unlisted.forbidden += 1;
            if !finding.with_sibling {
                self.unlisted.tokens_lost += finding.tokens_lost().unwrap_or(0);
                self.unlisted.cost += finding.cost().unwrap_or_default();
            }
            self.unlisted.broken.insert(finding.rule);
        }
    }

    /// Lists a note, or counts it.
    pub(super) fn note(&mut self, note: Noted) {
        if self.notes.len() < LISTED_MAX {
            self.notes.push(note);
        } else {
            self.unlisted.notes += 1;
        }
    }

    /// Adds the findings of another check under the same rules, with its request numbers mapped by `number`.
    pub fn add(&mut self, part: Self, rules: &Rules, number: impl Fn(usize) -> usize) {
        self.chains += part.chains;
        self.requests += part.requests;
        for finding in part.findings {
            let (request, older) = (number(finding.request), finding.older.map(&number));
            self.find(Finding { request, older, ..finding }, rules);
        }
        for note in part.notes {
            self.note(Noted { request: number(note.request), ..note });
        }
        self.unlisted.add(part.unlisted);
        self.violations.extend(part.violations.into_iter().map(|violation| {
            let shown_by = violation.shown_by.map(|shown_by| match shown_by {
                ShownBy::Request(request) => ShownBy::Request(number(request)),
                error @ ShownBy::RecordedError(_) => error,
            });
            Violation { shown_by, ..violation }
        }));
        self.checks_thinking |= part.checks_thinking;
        for (rule, held) in part.score {
            self.score.entry(rule).and_modify(|all| *all &= held).or_insert(held);
        }
        for warning in part.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Rewrites the score card from the findings.
    pub fn set_score(&mut self, rules: &Rules) {
        let is_broken = |rule: Rule| self.failing(rules).any(|finding| finding.rule == rule);
        let is_checked =
            |rule: &Rule| rules.checks(*rule) || (*rule == Rule::Thinking && self.checks_thinking) || is_broken(*rule);
        let checked: Vec<Rule> = Rule::ALL.into_iter().filter(is_checked).collect();
        for rule in checked {
            let held = !self.failing(rules).any(|finding| finding.rule == rule)
                && !self.unlisted.broken.contains(&rule)
                && self.violations.iter().all(|violation| violation.rule != rule);
            self.score.insert(rule.word(), held);
        }
    }
}
