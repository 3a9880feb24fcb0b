//! What sessions share, found in a first look at all of them.

use super::Options;
use super::session;
use crate::input::Inputs;
use crate::rebuild::forecast::{Observation, Shared};
use crate::side_by_side::in_turn;
use crate::transcript::{Item, Session};

/// What sessions share, in two looks at each: who used which hidden prefix when, and with that what it shows of them.
pub(super) fn shared(inputs: &Inputs, options: &Options) -> Shared {
    let look = |known: &Shared, wanted: fn(&Observation) -> bool| {
        let mut seen = Shared::default();
        let observe = |at: usize| {
            // One that cannot be read back shows nothing; the replay says so.
            let session = inputs.sessions.load(at).and_then(Result::ok)?;
            Some(session::observe(&session, at, known, options))
        };
        in_turn(inputs.sessions.items(), &observe, &mut |own| {
            let own = own.into_iter().flatten().filter(|(_, _, observation)| wanted(observation));
            own.for_each(|(number, at, observation)| seen.note(number, at, observation));
        });
        seen.sorted()
    };
    let uses = look(&Shared::default(), |observation| matches!(observation, Observation::Use(..)));
    look(&uses, |_| true)
}

/// Every request has an instant.
pub(super) fn is_timed(session: &Session) -> bool {
    let mut answers = session.agents.iter().flat_map(|agent| &agent.thread.items).filter_map(Item::answer);
    answers.all(|answer| answer.sent_at.or(answer.first_at).is_some())
}
