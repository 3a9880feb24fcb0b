//! A cache and the lanes of all agents of a session in it: one reading of what happened.

use std::collections::BTreeMap;

use forkcast_sim::cache::{EntryState, Marked, Outcome, Prompt, PromptCache, Rules, Ticket};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Level, Marker, NodeId, Place, Prefixes};

use super::lane::Lane;
use super::sent::Sent;

/// See the module.
#[derive(Debug)]
pub struct World {
    /// The cache.
    pub cache: Marked,
    /// Each agent's path.
    pub lanes: Vec<Lane>,
    answers: BTreeMap<(Instant, Ticket), Instant>,
}

impl World {
    /// An empty cache and empty lanes below `root`.
    pub fn new(rules: Rules, agents: usize, root: NodeId) -> Self {
        Self { cache: Marked::new(rules, 0), lanes: vec![Lane::new(root); agents], answers: BTreeMap::new() }
    }

    /// Tells the cache of every answer that began by `at`.
    pub fn deliver_until(&mut self, prefixes: &Prefixes, at: Instant) {
        while let Some(entry) = self.answers.first_entry() {
            if entry.key().0 > at {
                return;
            }
            let ((first_byte_at, ticket), ended_at) = entry.remove_entry();
            self.cache.first_byte(prefixes, ticket, first_byte_at);
            self.cache.ended(prefixes, ticket, ended_at);
        }
    }

    /// What the cache would give.
    pub fn peek(&self, sent: &Sent<'_>) -> Outcome {
        with_prompt(sent, |prompt| self.cache.peek(prompt, sent.at))
    }

    /// Last use and lifetime of the entry at a prefix, alive or not.
    pub fn state(&self, prefixes: &Prefixes, node: NodeId, at: Instant) -> EntryState {
        self.cache.state(prefixes, node, at)
    }

    /// Somebody unseen keeps an entry at `node` alive: it can be read from now on.
    pub fn warm(&mut self, sent: &Sent<'_>, node: NodeId) {
        let place = Place { level: Level::Messages, item: 0, part: 0, keys: false };
        let marker = Marker { node, ttl: sent.ttl, place, automatic: false };
        let prompt = Prompt {
            prefixes: sent.prefixes,
            markers: &[marker],
            sizes: sent.sizes,
            total_tokens: sent.total_tokens,
            minimum_tokens: 0,
        };
        let (ticket, _) = self.cache.look_up(&prompt, sent.at);
        self.cache.ended(sent.prefixes, ticket, sent.at);
    }

    /// Lets the request act on the cache.
    pub fn serve(&mut self, sent: &Sent<'_>) -> Outcome {
        self.deliver_until(sent.prefixes, sent.at);
        let (ticket, outcome) = with_prompt(sent, |prompt| self.cache.look_up(prompt, sent.at));
        self.answers.insert((sent.first_byte_at, ticket), sent.ended_at);
        outcome
    }
}

fn with_prompt<T>(sent: &Sent<'_>, ask: impl FnOnce(&Prompt<'_>) -> T) -> T {
    let markers: Vec<_> = sent.markers.iter().map(|sent| sent.marker).collect();
    ask(&Prompt {
        prefixes: sent.prefixes,
        markers: &markers,
        sizes: sent.sizes,
        total_tokens: sent.total_tokens,
        minimum_tokens: sent.minimum_tokens,
    })
}
