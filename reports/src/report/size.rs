//! Counted sizes compared with the bill.

use std::collections::BTreeMap;

use forkcast_replay::calibrate::{Generation, LeftOut, Quality, Residual, built_in_residual};
use forkcast_replay::replay::{Options, SizeSource};
use forkcast_sim::wire::model::Tokenizer;

use super::Recorded;

/// Counted sizes of all requests that count.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Source of the sizes of prefixes.
    pub source: SizeSource,
    /// One for each tokenizer; empty if nothing was counted.
    pub rows: Vec<SizeRow>,
    /// Requests whose count cannot be compared with their bill, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Requests with a body that could not be counted.
    pub uncounted: u64,
}

/// Requests of one tokenizer whose counted and billed tokens are comparable.
#[derive(Clone, Debug)]
pub struct SizeRow {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// How good its count is.
    pub quality: Quality,
    /// Comparable requests.
    pub requests: u64,
    /// Their tokens as counted.
    pub counted_tokens: u64,
    /// Their tokens as billed.
    pub recorded_tokens: u64,
    /// The maximum error of nine of ten of them; `None` if there is none.
    pub p90_error: Option<f64>,
    /// Error of the estimate on the recordings that its factors come from; `None` for exact and for unmeasured counts.
    pub residual: Option<Residual>,
    /// Relative errors of requests, in the order of the ledger.
    errors: Vec<f64>,
}

impl SizeRow {
    fn new(tokenizer: Tokenizer, residual: Option<Residual>) -> Self {
        Self {
            tokenizer,
            quality: Quality::of(tokenizer),
            requests: 0,
            counted_tokens: 0,
            recorded_tokens: 0,
            p90_error: None,
            residual,
            errors: Vec::new(),
        }
    }

    fn add(&mut self, counted_tokens: u64, recorded_tokens: u64) {
        self.requests += 1;
        self.counted_tokens = self.counted_tokens.saturating_add(counted_tokens);
        self.recorded_tokens = self.recorded_tokens.saturating_add(recorded_tokens);
        self.errors.push((counted_tokens as f64 / recorded_tokens.max(1) as f64 - 1.0).abs());
    }

    fn rank(&mut self) {
        self.errors.sort_by(f64::total_cmp);
        self.p90_error =
            (self.errors.len() * 9).div_ceil(10).checked_sub(1).and_then(|at| self.errors.get(at)).copied();
    }

    /// Counted ÷ billed − 1; `None` without comparable requests.
    pub fn error(&self) -> Option<f64> {
        (self.recorded_tokens > 0).then(|| self.counted_tokens as f64 / self.recorded_tokens as f64 - 1.0)
    }
}

impl Sizes {
    pub(super) const fn new(source: SizeSource) -> Self {
        Self { source, rows: Vec::new(), left_out: BTreeMap::new(), uncounted: 0 }
    }

    pub(super) fn take(&mut self, entry: &Recorded<'_>, options: &Options) {
        if self.source == SizeSource::Recorded {
            return;
        }
        let Some(size) = entry.size else {
            self.uncounted += 1;
            return;
        };
        let at = self.rows.iter().position(|row| row.tokenizer == size.tokenizer).unwrap_or_else(|| {
            self.rows.push(SizeRow::new(size.tokenizer, residual(options, size.tokenizer)));
            self.rows.len() - 1
        });
        match (size.left_out, entry.line.recorded) {
            (None, Some(usage)) => self.rows[at].add(size.tokens, usage.total_input_tokens()),
            (why, _) => *self.left_out.entry(why.unwrap_or(LeftOut::NoUsage)).or_default() += 1,
        }
    }

    /// After the last request.
    pub(super) fn sort(&mut self) {
        self.rows.sort_by_key(|row| row.tokenizer);
        self.rows.iter_mut().for_each(SizeRow::rank);
    }
}

/// Error of the factors on the recordings that they were fitted to: this run's, or those of the built-in ones.
fn residual(options: &Options, tokenizer: Tokenizer) -> Option<Residual> {
    let generation = Generation::of(tokenizer)?;
    let fit = options.sizing.calibration.as_ref();
    let own = fit.and_then(|fit| fit.generations.iter().find(|row| row.generation == generation));
    Some(own.map_or_else(|| built_in_residual(generation), |row| row.errors.residual()))
}
