//! What sessions share, found in a first look at all of them.

use forkcast_sim::service::Entry;
use forkcast_sim::time::Instant;

use super::session::{self, Place};
use super::{Foreseen, Options};
use crate::input::Inputs;
use crate::rebuild::forecast::{Observation, Shared};
use crate::side_by_side::in_turn;
use crate::transcript::{Item, Session};

/// What sessions share, in two looks at each: who used which hidden prefix when, and with that what it shows of them.
pub(super) fn shared(inputs: &Inputs, options: &Options) -> Shared {
    let uses = look(inputs, &|session, at| session::uses(session, at, options));
    look(inputs, &|session, at| session::observe(session, at, &uses, options))
}

/// Replays sessions one at a time, for an examination of each; each knows what the others show.
#[derive(Debug)]
pub struct SessionReplays {
    options: Options,
    shared: Shared,
}

impl SessionReplays {
    /// The sessions of `inputs`.
    pub fn new(inputs: &Inputs, options: Options) -> Self {
        let shared = shared(inputs, &options);
        Self { options, shared }
    }

    /// What the forecast says of each request of the session `at`, as [`super::foresee`].
    pub fn foresee(&self, at: usize, found: &Session) -> Vec<Foreseen> {
        session::foresee_among(found, at, &self.shared, &self.options)
    }

    /// The entries of the session `at`: its requests without copies, in order of time.
    pub fn entries(&self, at: usize, found: &Session) -> Vec<Entry> {
        let place = Place { index: at, number: at, timed: is_timed(found) };
        session::replay(found, place, &self.shared, &self.options).entries
    }
}

/// What a session shows, with its number and the instant of each observation.
type Look<'a> = &'a (dyn Fn(&Session, usize) -> Vec<(u32, Instant, Observation)> + Sync);

fn look(inputs: &Inputs, observe: Look<'_>) -> Shared {
    let mut seen = Shared::default();
    let work = |at: usize| {
        // One that cannot be read back shows nothing; the replay says so.
        let session = inputs.sessions.lend(at).and_then(Result::ok)?;
        Some(observe(&session, at))
    };
    in_turn(inputs.sessions.items(), &work, &mut |own| {
        own.into_iter().flatten().for_each(|(number, at, observation)| seen.note(number, at, observation));
    });
    seen.sorted()
}

/// Every request has an instant.
pub(super) fn is_timed(session: &Session) -> bool {
    let mut answers = session.agents.iter().flat_map(|agent| &agent.thread.items).filter_map(Item::answer);
    answers.all(|answer| answer.sent_at.or(answer.first_at).is_some())
}

#[cfg(test)]
mod tests {
    use super::{Options, session};
    use crate::input::{InputFormat, Inputs};
    use crate::rebuild::forecast::{Observation, Shared};

    #[test]
    fn uses_without_a_forecast_are_those_of_a_forecast() {
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/claude-code.jsonl");
        let (inputs, options) = (Inputs::read(&[fixture], InputFormat::Auto).unwrap(), Options::default());
        for (at, found) in inputs.sessions.all().iter().enumerate() {
            let uses = session::uses(found, at, &options);
            let mut observed = session::observe(found, at, &Shared::default(), &options);
            observed.retain(|(_, _, observation)| matches!(observation, Observation::Use(..)));
            assert!(uses.len() > 2);
            assert_eq!(format!("{uses:?}"), format!("{observed:?}"));
        }
    }
}
