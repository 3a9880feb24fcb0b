//! Where agents meet the cache: the only room that sees both branches.
//!
//! * [`run()`] plays a [`Setup`] from the first [`Act`] of its user until nothing is left to do.
//! * [`Provider`] is the model that agents call: a script, with a cache, a clock and a bill.
//! * [`Service`] serves one request: arena, sizes, cache, explanation, bill, its [`Entry`].
//! * [`Drafts`] are the requests as they were sent, if they are kept.
//! * [`Traffic`] is what passes between agents and provider, if it is kept.
//! * [`Pace`] is how long that takes, [`RateLimits`] how many requests and tokens a provider accepts per minute.
//! * [`Log`] takes the events of agents, with a digest over them.
//! * [`Alarm`] ends a run that cannot continue.
//! * [`Observer`] sees everything that happens on both sides; laws are observers.

mod alarm;
mod briefs;
mod drafts;
mod last_requests;
pub mod limits;
mod log;
mod pace;
mod provider;
mod roster;
mod run;
mod service;
mod setup;
mod sizes;
mod stems;
mod stream;
mod traffic;
mod unseen;
mod user;

pub use alarm::{Alarm, Cause};
pub use drafts::Drafts;
pub use limits::RateLimits;
pub use log::{Log, Logged};
pub use pace::Pace;
pub use provider::{Outage, Provider};
pub use roster::{Agent, AskedBy};
pub use run::{Failed, Failure, Finished, Play, Record, prepare, run};
pub use service::{AnswerEnd, OpenRequest, Service};
pub use setup::Setup;
pub use sizes::{Recount, Sizing};
pub use traffic::{Passage, Traffic};
pub use user::{Act, Does, Idle};

use crate::agent;
use crate::cache::Outcome;
use crate::ledger::Line;
use crate::service::Entry;
use crate::time::Instant;
use crate::wire::{Draft, NodeId, Request, Ttl, Wire};

/// Sees everything that happens and changes nothing.
pub trait Observer {
    /// Its name, for reports.
    fn name(&self) -> &'static str;

    /// An agent's event.
    ///
    /// # Errors
    /// The violation, if there is one: the run ends there.
    fn event(&mut self, _at: Instant, _event: &agent::Event) -> Result<(), String> {
        Ok(())
    }

    /// A request was looked up.
    ///
    /// # Errors
    /// The violation, if there is one: the run ends there.
    fn served(&mut self, _seen: &Lookup<'_>) -> Result<(), String> {
        Ok(())
    }

    /// A request that no agent sent keeps the prefix `node` in the cache: it can be read from `at` on.
    fn kept(&mut self, _node: NodeId, _ttl: Ttl, _at: Instant) {}

    /// The writes of a request are readable from `at` on.
    ///
    /// # Errors
    /// The violation, if there is one: the run ends there.
    fn first_byte(&mut self, _line: usize, _at: Instant) -> Result<(), String> {
        Ok(())
    }

    /// The session ended by itself; its tasks still exist.
    ///
    /// # Errors
    /// The remains, if there are any.
    fn closed(&mut self, _session: &agent::Session) -> Result<(), String> {
        Ok(())
    }

    /// The run is over; `entries` is its ledger.
    ///
    /// # Errors
    /// The missing part, if there is one.
    fn end(&mut self, _at: Instant, _entries: &[Entry]) -> Result<(), String> {
        Ok(())
    }
}

/// A request that was looked up, as observers see it.
#[derive(Clone, Copy)]
pub struct Lookup<'a> {
    /// Its line in the ledger.
    pub line: usize,
    /// When.
    pub at: Instant,
    /// The agent that sent it.
    pub agent: &'a str,
    /// The request that was sent.
    pub draft: &'a Draft,
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The prompt that the cache was asked for.
    pub request: &'a Request,
    /// Tokens of each of its prefixes.
    pub cumulative: &'a [u64],
    /// Result of the look-up.
    pub outcome: &'a Outcome,
    /// The ledger's line.
    pub ledger: &'a Line,
}
