//! The results: of one request, and of all.

use std::collections::BTreeMap;

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
    /// What changed, in order of the requests.
    pub findings: Vec<Finding>,
    /// What is no fault, in order of the requests.
    pub notes: Vec<Noted>,
    /// Figures outside their budget.
    pub violations: Vec<Violation>,
    /// Each rule that was checked, and whether it held.
    pub score: BTreeMap<&'static str, bool>,
    /// What may make the result less sure than it looks.
    pub warnings: Vec<String>,
}

impl Report {
    /// Whether nothing was found that the rules forbid.
    pub fn passes(&self, rules: &Rules) -> bool {
        self.failing(rules).next().is_none() && self.violations.is_empty()
    }

    /// The findings that the rules forbid.
    pub fn failing<'a>(&'a self, rules: &'a Rules) -> impl Iterator<Item = &'a Finding> {
        self.findings.iter().filter(|finding| rules.forbid(finding))
    }

    /// Writes the score card anew from what was found.
    pub fn set_score(&mut self, rules: &Rules) {
        for rule in Rule::ALL.into_iter().filter(|rule| rules.checks(*rule)) {
            let held = !self.failing(rules).any(|finding| finding.rule == rule)
                && self.violations.iter().all(|violation| violation.rule != rule);
            self.score.insert(rule.word(), held);
        }
    }
}
