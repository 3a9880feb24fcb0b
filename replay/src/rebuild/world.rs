//! A cache and the lanes of all agents of a session in it: one reading of what happened.

use forkcast_sim::cache::{EntryState, Outcome, Prompt, Rules};
use forkcast_sim::service::Delivery;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Level, Marker, NodeId, Place, Prefixes};

use super::lane::Lane;
use super::sent::Sent;

/// See the module.
#[derive(Debug)]
pub struct World {
    /// The cache.
    delivery: Delivery,
    /// Each agent's path.
    pub lanes: Vec<Lane>,
}

impl World {
    /// An empty cache and empty lanes below `root`.
    pub fn new(rules: Rules, agents: usize, root: NodeId) -> Self {
        Self { delivery: Delivery::new(&rules, 0), lanes: vec![Lane::new(root); agents] }
    }

    /// Tells the cache of every answer that began by `at`.
    pub fn deliver_until(&mut self, prefixes: &Prefixes, at: Instant) {
        self.delivery.deliver_until(prefixes, at);
    }

    /// What the cache would give.
    pub fn peek(&self, sent: &Sent<'_>) -> Outcome {
        self.delivery.cache().peek(&sent.prompt(&sent.breakpoints()), sent.times.at)
    }

    /// Last use and lifetime of the entry at a prefix, alive or not.
    pub fn state(&self, prefixes: &Prefixes, node: NodeId, at: Instant) -> EntryState {
        self.delivery.cache().state(prefixes, node, at)
    }

    /// Somebody unseen keeps an entry at `node` alive: it can be read from now on.
    pub fn warm(&mut self, sent: &Sent<'_>, node: NodeId) {
        let place = Place { level: Level::Messages, item: 0, part: 0, keys: false };
        let markers = [Marker { node, ttl: sent.ttl, place, automatic: false }];
        self.delivery.serve_at_once(&Prompt { minimum_tokens: 0, ..sent.prompt(&markers) }, sent.times.at);
    }

    /// Lets the request act on the cache.
    pub fn serve(&mut self, sent: &Sent<'_>) -> Outcome {
        self.delivery.serve(&sent.prompt(&sent.breakpoints()), &sent.times)
    }
}
