//! The same requests in a cache with a clock: the expected reads and writes of each, and losses by time alone.

use std::collections::BTreeMap;

use super::sent::Facts;
use crate::cache::{EntryState, Outcome, Prompt, Rules};
use crate::diagnosis::{CacheMoment, Cause, Subject};
use crate::service::{Delivery, STEP, Times};
use crate::time::Instant;
use crate::wire::{Moved, Wire};

/// A cache with a clock for each scope.
#[derive(Clone, Debug)]
pub(super) struct Clockwork {
    rules: Rules,
    scopes: BTreeMap<String, Clock>,
}

/// The cache of a scope, and the instant of its last request.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    now: Option<Instant>,
    delivery: Delivery,
}

/// Expectations for a request.
pub(super) struct Expected {
    /// What it is expected to read and write.
    pub outcome: Outcome,
    /// Why it reads less than it would without time, if it does.
    pub late: Option<Cause>,
}

impl Clockwork {
    pub fn new(rules: Rules) -> Self {
        Self { rules, scopes: BTreeMap::new() }
    }

    /// The clock of the scope of the next request.
    pub fn scope(&mut self, facts: &Facts<'_>) -> &mut Clock {
        let open = || Clock { now: None, delivery: Delivery::new(&self.rules, 0) };
        self.scopes.entry(facts.scope.to_owned()).or_insert_with(open)
    }

    /// The same over a wire to which these prefixes moved.
    pub fn renew(&mut self, old: &Wire, new: &Wire, moved: &Moved) {
        self.scopes.values_mut().for_each(|clock| clock.delivery.renew(&old.prefixes, &new.prefixes, moved));
    }
}

impl Clock {
    /// The cache at `at`, when the request reads as many blocks as recorded.
    pub fn moment(&self, at: Instant, recorded_read: Option<usize>) -> CacheMoment<'_> {
        CacheMoment { cache: self.delivery.cache(), at, recorded_read }
    }

    /// Takes the next request, sent at `at`, which reads `timeless` blocks when time is ignored.
    pub fn take(&mut self, wire: &Wire, taken: &Subject, timeless: usize, facts: &Facts<'_>, at: Instant) -> Expected {
        let total_tokens = facts.total_tokens(taken);
        if taken.refusal.is_some() {
            let outcome = Outcome { input_tokens: total_tokens, ..Outcome::default() };
            return Expected { outcome, late: None };
        }
        let sizes = taken.sizes(&wire.prefixes);
        let prompt = Prompt { total_tokens, ..taken.prompt(&wire.prefixes, &sizes) };
        let end = timeless.checked_sub(1).and_then(|last| taken.request.nodes.get(last));
        let state = end.map(|node| self.delivery.cache().state(&wire.prefixes, *node, at));
        let (ticket, outcome) = self.delivery.look_up(&prompt, at);
        let read = outcome.blocks_read(&wire.prefixes);
        let late = match state {
            Some(EntryState::Expired) if read < timeless => Some(Cause::Expired),
            Some(EntryState::InFlight) if read < timeless => Some(Cause::InFlight),
            _ => None,
        };
        let first_byte_at = facts.first_byte_at.unwrap_or(at).max(at);
        if facts.given_up {
            self.delivery.expect_nothing(ticket, first_byte_at);
        } else if !facts.unanswered {
            self.delivery.expect(ticket, &Times { at, first_byte_at, ended_at: first_byte_at });
        }
        Expected { outcome, late }
    }

    /// Advances the clock to the request's instant and returns it; first bytes until then are delivered.
    pub fn advance(&mut self, wire: &Wire, facts: &Facts<'_>) -> Instant {
        let next = self.now.map_or(Instant::default(), |now| now + STEP);
        let at = facts.at.unwrap_or(next).max(self.now.unwrap_or_default());
        self.now = Some(at);
        self.delivery.deliver_until(&wire.prefixes, at);
        at
    }
}
