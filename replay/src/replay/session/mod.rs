//! One session of a transcript through the cache: forecast, explanation, bill.
//!
//! Two readings run side by side. The *forecast* knows of a request its total and its lifetime alone, and learns from its
//! usage afterwards. The *explanation* knows what was read, too: where that falls short of what the chain had left, something
//! changed, and the sign (or the provider's own diagnosis) that shows it gives the cause. What-ifs run on the
//! explanation, so that a change of content stays one whatever the lifetime.

mod counting;
mod forecasting;
mod line;
mod prompt;
mod run;
mod shortfall;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::number;

use super::{Options, Replay};
use crate::rebuild::forecast::{Observation, Shared};
use crate::transcript::Session;

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

/// What a session shows to others of its user; `shared` is what is known so far.
pub(super) fn observe(
    session: &Session,
    index: usize,
    shared: &Shared,
    options: &Options,
) -> Vec<(u32, Instant, Observation)> {
    let number = number(index);
    let rules = forecasting::rules_for(options.rules, session);
    forecasting::observe(session, number, shared, rules, options.left_out)
}

/// Replays one session, with lines and chains of its own numbers.
pub(super) fn replay(session: &Session, place: Place, shared: &Shared, options: &Options) -> Replay {
    run::SessionReplay::new(session, place, shared, options).finish()
}
