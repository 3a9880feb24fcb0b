//! One session of a transcript through the cache: forecast, explanation, bill.
//!
//! Two interpretations run in parallel. The *forecast* knows only the total and the lifetime of a request, and learns from its
//! usage afterwards. The *explanation* also knows the recorded read: if that is less than the chain had left, something changed, and
//! its sign (or the provider's own diagnosis) gives the cause. What-ifs run on the explanation, so that a change of content
//! remains one under any lifetime.

mod counting;
mod forecasting;
mod line;
mod prompt;
mod run;
mod shortfall;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::number;

use super::{Foreseen, Options, Replay};
use crate::rebuild::forecast::{Observation, Shared};
use crate::transcript::Session;

/// The place of a session in the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Index among [`crate::input::Inputs::sessions`].
    pub index: usize,
    /// The index in its lines, which continues that of all files.
    pub number: usize,
    /// Its requests have instants.
    pub timed: bool,
}

/// What a session shows to others of its user; `shared` is the state so far.
pub(super) fn observe(
    session: &Session,
    index: usize,
    shared: &Shared,
    options: &Options,
) -> Vec<(u32, Instant, Observation)> {
    forecasting::observe(session, number(index), shared, options, &mut |_, _| {})
}

/// The uses of hidden prefixes that a session shows to others of its user.
pub(super) fn uses(session: &Session, index: usize, options: &Options) -> Vec<(u32, Instant, Observation)> {
    forecasting::uses(session, number(index), options)
}

/// What the forecast says of each request of a session alone.
pub(super) fn foresee(session: &Session, options: &Options) -> Vec<Foreseen> {
    let mut own = Shared::default();
    for (number, at, observation) in observe(session, 0, &Shared::default(), options) {
        own.note(number, at, observation);
    }
    foresee_among(session, 0, &own.sorted(), options)
}

/// The same with what all sessions show, of which this one is number `index`.
pub(super) fn foresee_among(session: &Session, index: usize, shared: &Shared, options: &Options) -> Vec<Foreseen> {
    let mut foreseen = Vec::new();
    forecasting::observe(session, number(index), shared, options, &mut |ask, decision| {
        foreseen.push(Foreseen { agent: ask.agent, item: ask.item, decision });
    });
    foreseen
}

/// Replays one session, with lines and chains of its own numbers.
pub(super) fn replay(session: &Session, place: Place, shared: &Shared, options: &Options) -> Replay {
    run::SessionReplay::new(session, place, shared, options).finish()
}
