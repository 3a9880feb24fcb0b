//! The score card: of each check whether it passed, on what evidence, and what would mend it.

use std::collections::BTreeMap;
use std::fmt;

use super::check::{CHECKS, Check};

/// Pieces of evidence that are kept for each check; the others are counted.
const EVIDENCE_MAX: usize = 8;

/// Where something was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The chain.
    pub chain: String,
    /// The request, counted from zero among all.
    pub request: usize,
    /// What it was compared with.
    pub older: Option<usize>,
    /// JSON path in the request's body; empty where the request as a whole is meant.
    pub path: String,
    /// What was seen there, in words without content.
    pub found: String,
}

/// What is known of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The check.
    pub check: Check,
    /// Whether it passed; `None` where the input cannot tell.
    pub passed: Option<bool>,
    /// How often it was applied.
    pub applied: usize,
    /// How often it failed.
    pub failed: usize,
    /// Why the input cannot tell, or could not everywhere.
    pub untold: Option<&'static str>,
    /// The first failures.
    pub evidence: Vec<Evidence>,
    /// What is worth knowing and harmless: spellings, blocks outside the prompt's identity.
    pub notes: Vec<Evidence>,
}

/// The score card of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Forks in the input.
    pub forks: usize,
    /// Requests in the input.
    pub requests: usize,
    /// Every check, in their order.
    pub rows: Vec<Row>,
}

impl Card {
    pub(super) fn new() -> Self {
        let row = |check| Row {
            check,
            passed: None,
            applied: 0,
            failed: 0,
            untold: None,
            evidence: Vec::new(),
            notes: Vec::new(),
        };
        Self { forks: 0, requests: 0, rows: CHECKS.map(row).to_vec() }
    }

    /// The row of a check.
    pub fn row(&self, check: Check) -> &Row {
        &self.rows[check as usize]
    }

    /// Of each check, by its word, whether it passed; `None` where the input cannot tell.
    pub fn score(&self) -> BTreeMap<&'static str, Option<bool>> {
        self.rows.iter().map(|row| (row.check.word(), row.passed)).collect()
    }

    /// No check failed.
    pub fn passes(&self) -> bool {
        self.rows.iter().all(|row| row.passed != Some(false))
    }

    /// Every check could be applied, and passed.
    pub fn is_whole(&self) -> bool {
        self.rows.iter().all(|row| row.passed == Some(true))
    }

    pub(super) fn pass(&mut self, check: Check) {
        self.row_mut(check).applied += 1;
    }

    pub(super) fn fail(&mut self, check: Check, evidence: Evidence) {
        let row = self.row_mut(check);
        row.applied += 1;
        row.failed += 1;
        keep(&mut row.evidence, evidence);
    }

    /// Passed where there is nothing to be seen, else failed with all of it.
    pub(super) fn judge(&mut self, check: Check, found: Vec<Evidence>) {
        let row = self.row_mut(check);
        row.applied += 1;
        row.failed += usize::from(!found.is_empty());
        for evidence in found {
            keep(&mut row.evidence, evidence);
        }
    }

    pub(super) fn untold(&mut self, check: Check, why: &'static str) {
        self.row_mut(check).untold.get_or_insert(why);
    }

    pub(super) fn note(&mut self, check: Check, evidence: Evidence) {
        keep(&mut self.row_mut(check).notes, evidence);
    }

    /// Fills in the verdicts. A check that was never applied tells nothing, and says why.
    pub(super) fn finished(mut self) -> Self {
        let none = if self.forks == 0 { NO_FORK } else { NEVER_APPLIED };
        for row in &mut self.rows {
            row.passed = (row.applied > 0).then_some(row.failed == 0);
            if row.passed.is_none() {
                row.untold.get_or_insert(none);
            }
        }
        self
    }

    fn row_mut(&mut self, check: Check) -> &mut Row {
        &mut self.rows[check as usize]
    }
}

const NO_FORK: &str = "no fork is in the input";
const NEVER_APPLIED: &str = "nothing in the input could be put through it";

fn keep(list: &mut Vec<Evidence>, evidence: Evidence) {
    if list.len() < EVIDENCE_MAX && !list.contains(&evidence) {
        list.push(evidence);
    }
}

impl Row {
    /// The verdict as one word.
    pub const fn verdict(&self) -> &'static str {
        match self.passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "not told",
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {} of `{}`", self.request, self.chain)?;
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {}", self.found)
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} forks in {} requests", self.forks, self.requests)?;
        for row in &self.rows {
            writeln!(f, "{:<9} {:<18}  {}", row.verdict(), row.check.word(), row.check.sentence())?;
            if let Some(why) = row.untold {
                writeln!(f, "          not told: {why}")?;
            }
            for evidence in &row.evidence {
                writeln!(f, "          {evidence}")?;
            }
            for note in &row.notes {
                writeln!(f, "          harmless: {note}")?;
            }
            if row.passed == Some(false) {
                writeln!(f, "          → {}", row.check.suggestion())?;
            }
        }
        Ok(())
    }
}
