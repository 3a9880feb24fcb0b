//! One session of a transcript through the cache: forecast, explanation, bill.
//!
//! Two readings run side by side. The *forecast* knows of a request its total and its lifetime alone, and learns from its
//! usage afterwards. The *explanation* knows what was read, too: where that falls short of what the chain had left, something
//! changed, and the sign (or the provider's own diagnosis) that shows it gives the cause. What-ifs run on the
//! explanation, so that a change of content stays one whatever the lifetime.

mod agent;
pub(crate) mod ask;
mod counted;
mod explained;
mod forecasting;
mod line;
pub(crate) mod prompt;
mod run;

use std::sync::Arc;

use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::Money;
use forkcast_sim::time::Instant;

use super::{Asked, CountedSize, Options};
use crate::agreement::{Compared, NotComparable};
use crate::exchange::Origin;
use crate::rebuild::forecast::{Observation, Shared};
use crate::transcript::Session;
use crate::what_if::Hypothetical;

/// Where a session stands in the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Index among [`crate::input::Inputs::sessions`].
    pub index: usize,
    /// Index that lines carry: behind those of all files.
    pub number: usize,
    /// Its requests have instants.
    pub timed: bool,
}

/// The ledger of one session, all in step.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub lines: Vec<Line>,
    pub comparisons: Vec<Result<Compared, NotComparable>>,
    pub origins: Vec<Origin>,
    pub asked: Vec<Asked>,
    pub evidence: Vec<Option<Evidence>>,
    pub counted: Vec<Option<CountedSize>>,
    pub residuals: Vec<Option<(Money, Money)>>,
    pub hypotheticals: Vec<Vec<Hypothetical>>,
    pub lower_bounds: Vec<Option<Money>>,
    /// Names of the cache rules used.
    pub rules: Vec<&'static str>,
    /// Models without a price.
    pub unpriced: Vec<String>,
    /// How many chains there are: one for each agent.
    pub chains: usize,
}

/// The line of a transcript that shows why a request missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The file.
    pub file: Arc<str>,
    /// The line, counted from one.
    pub line: u32,
    /// What it shows, for people.
    pub shows: &'static str,
}

/// What a session shows to others of its user; `shared` is what is known so far.
pub(super) fn observe(
    session: &Session,
    index: usize,
    shared: &Shared,
    options: &Options,
) -> Vec<(u32, Instant, Observation)> {
    let number = u32::try_from(index).unwrap_or(u32::MAX);
    let rules = forecasting::rules_for(options.rules, session);
    forecasting::observe(session, number, shared, rules, options.left_out)
}

/// Replays one session.
pub(super) fn replay(session: &Session, place: Place, shared: &Shared, options: &Options) -> Ledger {
    run::Run::new(session, place, shared, options).finish()
}
