//! A request with everything that is known before the cache is used.

use std::rc::Rc;

use forkcast_sim::cache::{Outcome, Prompt, Rules};
use forkcast_sim::diagnosis::Subject;
use forkcast_sim::guard::{Facts, Identity, Whose};
use forkcast_sim::service::{Grounds, SizedRequest};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{NodeId, PathSizes, Pins, Prefixes, Request, Usage, Wire};

use super::predecessor::Predecessor;
use crate::exchange::Exchange;

/// A request read and sized.
pub(super) struct SizedPrompt {
    /// The request, with its sizes for the cache.
    pub subject: Rc<Subject>,
    /// The same with billed sizes, if they differ.
    billed: Option<Box<Subject>>,
    pub total_tokens: u64,
    /// Its sender, and the request that it continues.
    pub whose: Whose<Predecessor>,
}

/// The sources of a request's sizes.
pub(super) struct SizeBasis<'a> {
    pub exchange: &'a Exchange,
    /// Sizes that earlier requests showed.
    pub pins: &'a Pins,
    /// Counted tokens of each prefix, if they decide.
    pub counted: Option<Vec<u64>>,
}

impl SizedPrompt {
    /// Sizes a request: with counted sizes if they decide, else with declared ones, else with those that earlier requests showed
    /// and its own recorded total; without one, see [`Pins::sizes`].
    pub fn new(
        request: Request,
        wire: &Wire,
        basis: SizeBasis<'_>,
        identity: &mut Identity<Predecessor>,
        facts: &Facts<'_>,
        rules: &Rules,
    ) -> Self {
        let SizeBasis { exchange, pins, counted } = basis;
        let recorded = exchange.usage.map(|recorded| recorded.usage.total_input_tokens());
        let pinned = pins.sizes(&request, wire, exchange.sizes.as_deref(), recorded);
        let total_tokens = if counted.is_some() { None } else { recorded };
        let is_known = recorded.is_some() || exchange.sizes.is_some();
        let (cumulative, billed) = match counted {
            Some(counted) => (counted, is_known.then_some(pinned)),
            None => (pinned, None),
        };
        let subject = Rc::new(Subject::new(identity.requests(), request, cumulative, rules));
        let billed = billed.map(|cumulative| Box::new(Subject { cumulative, ..Subject::clone(&subject) }));
        let whose = identity.take(wire, &subject.request, facts, |sender| Predecessor::new(subject.clone(), sender));
        Self { total_tokens: total_tokens.unwrap_or_else(|| subject.total_tokens()), subject, billed, whose }
    }

    /// The request with billed sizes, as recorded: the bill is explained with these, whatever the sizes for the cache.
    pub fn billed(&self) -> &Subject {
        self.billed.as_deref().unwrap_or(&self.subject)
    }

    /// A predicted read in billed tokens.
    pub fn billed_read(&self, predicted: &Outcome) -> u64 {
        let billed = self.billed.as_deref().zip(predicted.hit).and_then(|(billed, hit)| {
            let at = billed.request.nodes.iter().position(|node| *node == hit)?;
            billed.cumulative.get(at).copied()
        });
        billed.unwrap_or(predicted.read_tokens)
    }

    /// The sizes for the cache.
    pub fn sizes<'a>(&'a self, prefixes: &'a Prefixes) -> PathSizes<'a> {
        self.subject.sizes(prefixes)
    }

    fn prompt<'a>(&'a self, prefixes: &'a Prefixes, sizes: &'a PathSizes<'a>) -> Prompt<'a> {
        Prompt { total_tokens: self.total_tokens, ..self.subject.prompt(prefixes, sizes) }
    }

    /// The request for the engine.
    pub fn asked<'a>(
        &'a self,
        wire: &'a Wire,
        sizes: &'a PathSizes<'a>,
        recorded: Option<Usage>,
        at: Instant,
    ) -> SizedRequest<'a> {
        let previous = self.whose.previous.as_ref().map(Predecessor::previous);
        SizedRequest {
            grounds: Some(Grounds {
                wire,
                request: self.billed(),
                previous,
                chain: Some(self.whose.lane.chain),
                parent: self.whose.parent(),
            }),
            recorded,
            ..SizedRequest::new(self.prompt(&wire.prefixes, sizes), at)
        }
    }

    /// The provider read tokens that no earlier request of the scope had sent: there was nothing to read, or the read reached the
    /// last breakpoint (nothing was written) and that is after everything sent before.
    pub fn read_never_sent(&self, usage: &Usage) -> bool {
        if usage.cache_read_input_tokens == 0 {
            return false;
        }
        let all_read = usage.cache_creation_input_tokens() == 0;
        let last = self.subject.request.markers.last().map(|marker| marker.node);
        let last_known =
            last.is_some_and(|last| self.subject.request.nodes[..self.subject.request.known].contains(&last));
        self.subject.request.known == 0 || (all_read && !last_known)
    }

    /// The provider read an entry that no request of the scope can have left: none of its prefixes was marked lately, or the
    /// read reached the last breakpoint (nothing was written) and that one was not. Somebody else wrote it: an earlier run
    /// of the same test, or one that is not recorded.
    pub fn read_of_others(&self, usage: &Usage, marked_lately: impl Fn(NodeId) -> bool) -> bool {
        if usage.cache_read_input_tokens == 0 {
            return false;
        }
        let all_read = usage.cache_creation_input_tokens() == 0;
        let request = &self.subject.request;
        let is_last_marked = request.markers.last().is_some_and(|marker| marked_lately(marker.node));
        (all_read && !is_last_marked) || !request.nodes.iter().any(|node| marked_lately(*node))
    }

    /// The nearest known sizes around `hit` on the path: the longest prefix that is not longer and the shortest that is
    /// not shorter.
    pub fn known_around(&self, hit: NodeId, pins: &Pins) -> (u64, u64) {
        let Some(at) = self.subject.request.nodes.iter().position(|node| *node == hit) else {
            debug_assert!(false, "what is read is a prefix of the request");
            return (0, self.total_tokens);
        };
        let known = |nodes: &[NodeId]| -> Vec<u64> {
            nodes.iter().filter_map(|node| pins.get(*node)).filter(|size| *size <= self.total_tokens).collect()
        };
        let shorter = known(&self.subject.request.nodes[..=at]);
        let longer = known(&self.subject.request.nodes[at..]);
        (shorter.into_iter().max().unwrap_or(0), longer.into_iter().min().unwrap_or(self.total_tokens))
    }
}
