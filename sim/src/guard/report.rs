//! The results: of one request, and of all.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Finding, Noted, Rule, Violation};
use super::rules::Rules;
use crate::pricing::Money;
use crate::wire::{ChainId, Usage};

/// What is known of a request once it is taken.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its position among all that were taken, from 0.
    pub request: usize,
    /// Its chain.
    pub chain: ChainId,
    /// Name of its chain: the input's, or its scope and a number.
    pub chain_name: String,
    /// It is its chain's first.
    pub first: bool,
    /// What changed, in prompt order.
    pub findings: Vec<Finding>,
    /// What is no fault.
    pub notes: Vec<Noted>,
    /// What the provider refuses the request for, where no finding says it and the rules forbid it.
    pub refused: Option<String>,
    /// What the cache makes of it at its instant. Output as recorded, else none.
    pub expected: Usage,
    /// What that costs; `None` for a model without a price.
    pub cost: Option<Money>,
}

/// All that was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many chains there were.
    pub chains: usize,
    /// How many requests were taken.
    pub requests: usize,
    /// What changed, in order of the requests: the first [`LISTED_MAX`] that the rules forbid, and as many others.
    pub findings: Vec<Finding>,
    /// What is no fault, in order of the requests: the first [`LISTED_MAX`].
    pub notes: Vec<Noted>,
    /// What is not listed, because so much was.
    pub unlisted: Unlisted,
    /// Figures outside their budget, and chains of which the provider refuses requests.
    pub violations: Vec<Violation>,
    /// Each rule that was checked, and whether it held.
    pub score: BTreeMap<&'static str, bool>,
    /// What may make the result less sure than it looks.
    pub warnings: Vec<String>,
    /// How many of the findings listed the rules forbid.
    forbidden: usize,
}

/// Findings and notes of one sort that a report lists; further ones are counted, so that what a check holds does not grow
/// with what it finds. One takes about a kilobyte, most of it the bytes around the difference.
pub const LISTED_MAX: usize = 10_000;

/// What a report counts without listing it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlisted {
    /// Findings.
    pub findings: usize,
    /// How many of these the rules forbid.
    pub forbidden: usize,
    /// Tokens lost by those that are forbidden, requests without a modelled cache left out.
    pub tokens_lost: u64,
    /// What that costs, models without a price left out.
    pub cost: Money,
    /// Notes.
    pub notes: usize,
    /// Rules that a forbidden one breaks.
    broken: BTreeSet<Rule>,
}

impl Unlisted {
    /// In a sentence; `None` where all is listed.
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
            self.unlisted.tokens_lost += finding.tokens_lost().unwrap_or(0);
            self.unlisted.cost += finding.cost().unwrap_or_default();
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

    /// Adds what another check found under the same rules. `number` gives its requests the numbers that they have here.
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
        self.violations.extend(part.violations);
        for (rule, held) in part.score {
            self.score.entry(rule).and_modify(|all| *all &= held).or_insert(held);
        }
        for warning in part.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Writes the score card anew from what was found.
    pub fn set_score(&mut self, rules: &Rules) {
        for rule in Rule::ALL.into_iter().filter(|rule| rules.checks(*rule)) {
            let held = !self.failing(rules).any(|finding| finding.rule == rule)
                && !self.unlisted.broken.contains(&rule)
                && self.violations.iter().all(|violation| violation.rule != rule);
            self.score.insert(rule.word(), held);
        }
    }
}
