//! Nothing is read before it is written and readable, or after it expires.

use std::collections::BTreeMap;

use crate::cache::{LifetimeClock, Rules, VisibleFrom};
use crate::simulation::{Lookup, Observer};
use crate::time::{Duration, Instant};
use crate::wire::{Index, NodeId, Prefixes, Ttl};

/// Writes at a prefix.
#[derive(Clone, Copy, Debug)]
struct CacheWrite {
    /// Last use, by a write or a read of this entry.
    used_at: Instant,
    /// The longest lifetime it was written with.
    ttl: Ttl,
}

/// Keeps its own record: a read needs an entry that is readable by then and was used within its lifetime, either itself
/// or through a longer entry that begins with it.
#[derive(Debug)]
pub struct Reads {
    checks_first_byte: bool,
    grace: Option<Duration>,
    written: Index<NodeId, CacheWrite>,
    nodes: Vec<NodeId>,
    /// Writes of requests whose answers have not begun.
    in_flight: BTreeMap<usize, (Instant, Vec<(NodeId, Ttl)>)>,
}

impl Reads {
    /// The law under `rules`. If lifetimes begin at the end of an answer, expiry is not checked, because observers do
    /// not see that moment.
    pub fn new(rules: &Rules) -> Self {
        let starts_with_request = rules.lifetime_clock == LifetimeClock::RequestStart;
        Self {
            checks_first_byte: rules.visible_from != VisibleFrom::RequestStart,
            grace: starts_with_request.then_some(rules.slack),
            written: Index::default(),
            nodes: Vec::new(),
            in_flight: BTreeMap::new(),
        }
    }

    fn check(&self, seen: &Lookup<'_>, hit: NodeId) -> Result<(), String> {
        let Some(entry) = self.written.get(&hit) else {
            return Err(format!(
                "request {} read a prefix that was never written, or whose answer had not begun",
                seen.line
            ));
        };
        let Some(grace) = self.grace else { return Ok(()) };
        let alive = |entry: &CacheWrite| seen.at <= entry.used_at + entry.ttl.duration() + grace;
        if alive(entry) || self.is_kept_alive(&seen.wire.prefixes, hit, alive) {
            return Ok(());
        }
        Err(format!("request {} read a prefix that had expired", seen.line))
    }

    /// Whether a longer entry was used in time. Called only for reads that look too late.
    fn is_kept_alive(&self, prefixes: &Prefixes, hit: NodeId, alive: impl Fn(&CacheWrite) -> bool) -> bool {
        let begins_with_hit = |node: &NodeId| {
            let mut at = Some(*node);
            while let Some(node) = at.filter(|node| prefixes.depth(*node) > prefixes.depth(hit)) {
                at = prefixes.parent(node);
            }
            at == Some(hit)
        };
        self.nodes.iter().any(|node| self.written.get(node).is_some_and(&alive) && begins_with_hit(node))
    }

    fn put(&mut self, node: NodeId, used_at: Instant, ttl: Ttl) {
        if self.written.get(&node).is_none() {
            self.nodes.push(node);
        }
        let entry = self.written.get_or_insert_with(node, || CacheWrite { used_at, ttl });
        entry.used_at = entry.used_at.max(used_at);
        entry.ttl = entry.ttl.max(ttl);
    }
}

impl Observer for Reads {
    fn name(&self) -> &'static str {
        "reads"
    }

    fn served(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        let outcome = seen.outcome;
        if let Some(hit) = outcome.hit.filter(|_| outcome.read_tokens > 0) {
            self.check(seen, hit)?;
            if let Some(entry) = self.written.get_mut(&hit) {
                entry.used_at = seen.at;
            }
        }
        // By blocks, not tokens: blocks without tokens (recorded sizes have some) can be written too.
        let prefixes = &seen.wire.prefixes;
        let read = outcome.hit.map_or(0, |hit| prefixes.depth(hit));
        let is_unread = |node: NodeId| prefixes.depth(node) > read;
        let markers = seen.request.markers.iter().filter(|marker| is_unread(marker.node));
        let wrote: Vec<(NodeId, Ttl)> = markers.map(|marker| (marker.node, marker.ttl)).collect();
        if self.checks_first_byte {
            self.in_flight.insert(seen.line, (seen.at, wrote));
        } else {
            wrote.into_iter().for_each(|(node, ttl)| self.put(node, seen.at, ttl));
        }
        Ok(())
    }

    fn kept(&mut self, node: NodeId, ttl: Ttl, at: Instant) {
        self.put(node, at, ttl);
    }

    fn first_byte(&mut self, line: usize, _at: Instant) -> Result<(), String> {
        if let Some((at, wrote)) = self.in_flight.remove(&line) {
            wrote.into_iter().for_each(|(node, ttl)| self.put(node, at, ttl));
        }
        Ok(())
    }
}
