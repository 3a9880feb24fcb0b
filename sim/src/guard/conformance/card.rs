//! The score card: for each check whether it passed, on what evidence, and how to fix a failure.

use std::fmt;

use super::check::{CHECKS, Check};

/// Most pieces of evidence kept for each check; the others are counted.
const EVIDENCE_MAX: usize = 8;

/// A place in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The chain.
    pub chain: String,
    /// The request, counted from zero among all.
    pub request: usize,
    /// The request that it was compared with.
    pub older: Option<usize>,
    /// JSON path in the request's body; empty for the request as a whole.
    pub path: String,
    /// The finding there, in words without content.
    pub found: String,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The check.
    pub check: Check,
    /// Whether it passed; `None` if the input does not show it.
    pub passed: Option<bool>,
    /// How often it was applied.
    pub applied: usize,
    /// How often it failed.
    pub failed: usize,
    /// Why the input does not show it, or not everywhere.
    pub why_unknown: Option<&'static str>,
    /// The first failures.
    pub evidence: Vec<Evidence>,
    /// Harmless observations: spellings, blocks outside the prompt's identity.
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
            why_unknown: None,
            evidence: Vec::new(),
            notes: Vec::new(),
        };
        Self { forks: 0, requests: 0, rows: CHECKS.map(row).to_vec() }
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

    /// Passes without evidence, else fails with all of it.
    pub(super) fn judge(&mut self, check: Check, found: Vec<Evidence>) {
        let row = self.row_mut(check);
        row.applied += 1;
        row.failed += usize::from(!found.is_empty());
        for evidence in found {
            keep(&mut row.evidence, evidence);
        }
    }

    pub(super) fn unknown(&mut self, check: Check, why: &'static str) {
        self.row_mut(check).why_unknown.get_or_insert(why);
    }

    pub(super) fn note(&mut self, check: Check, evidence: Evidence) {
        keep(&mut self.row_mut(check).notes, evidence);
    }

    /// Fills in the verdicts. A check that was never applied has no verdict, and says why.
    pub(super) fn finished(mut self) -> Self {
        let none = if self.forks == 0 { NO_FORK } else { NEVER_APPLIED };
        for row in &mut self.rows {
            row.passed = (row.applied > 0).then_some(row.failed == 0);
            if row.passed.is_none() {
                row.why_unknown.get_or_insert(none);
            }
        }
        self
    }

    fn row_mut(&mut self, check: Check) -> &mut Row {
        &mut self.rows[check as usize]
    }
}

const NO_FORK: &str = "there is no fork in the input";
const NEVER_APPLIED: &str = "it did not apply to anything in the input";

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
            None => "unknown",
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
            if let Some(why) = row.why_unknown {
                writeln!(f, "          unknown: {why}")?;
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
