//! A request with everything that is known before the cache is asked.

use forkcast_sim::cache::{Outcome, Prompt, Refusal, Rules, minimum_tokens, refusal};
use forkcast_sim::diagnosis::Subject;
use forkcast_sim::guard::{Facts, Identity, Sender, Whose};
use forkcast_sim::service::{Grounds, SizedRequest};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Marker, NodeId, PathSizes, Pins, Prefixes, Request, Usage, Wire};

use super::predecessor::Predecessor;
use crate::exchange::Exchange;

/// A request read and sized.
pub(super) struct SizedPrompt {
    pub request: Request,
    /// Tokens of each prefix, as the cache is told.
    pub cumulative: Vec<u64>,
    /// Tokens of each prefix in tokens of the bill, where these are others.
    billed: Option<Vec<u64>>,
    pub total_tokens: u64,
    pub minimum_tokens: u64,
    pub refusal: Option<Refusal>,
    /// Whose it is, and what it goes on from.
    pub whose: Whose<Predecessor>,
}

/// What a request is sized by.
pub(super) struct SizeBasis<'a> {
    pub exchange: &'a Exchange,
    /// What earlier requests showed.
    pub pins: &'a Pins,
    /// Tokens of each prefix as a counter has them, where one decides.
    pub counted: Option<Vec<u64>>,
}

impl SizedPrompt {
    /// Sizes a request: by a counter where one decides, else as the input declares, else by what earlier requests showed and
    /// its own recorded total; without one, see [`Pins::sizes`].
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
        let minimum_tokens = minimum_tokens(request.resolved.map(|resolved| resolved.id));
        let refusal = refusal::check(&request, rules).err();
        let known = |sender: Sender| {
            let subject = Subject {
                number: sender.index,
                request: request.clone(),
                cumulative: cumulative.clone(),
                minimum_tokens,
                refusal: refusal.clone(),
            };
            Predecessor::new(subject, sender)
        };
        Self {
            total_tokens: total_tokens.unwrap_or_else(|| cumulative.last().copied().unwrap_or(0)),
            minimum_tokens,
            whose: identity.take(wire, &request, facts, known),
            refusal,
            cumulative,
            billed,
            request,
        }
    }

    /// Tokens of each prefix in tokens of the bill, as recorded sizes are: what was billed is explained in these, whatever
    /// the cache is told.
    pub fn billed(&self) -> &[u64] {
        self.billed.as_deref().unwrap_or(&self.cumulative)
    }

    /// What a predicted read is in tokens of the bill.
    pub fn billed_read(&self, predicted: &Outcome) -> u64 {
        let billed = self.billed.as_deref().zip(predicted.hit).and_then(|(billed, hit)| {
            let at = self.request.nodes.iter().position(|node| *node == hit)?;
            billed.get(at).copied()
        });
        billed.unwrap_or(predicted.read_tokens)
    }

    /// The breakpoints that count.
    pub fn effective(&self, prefixes: &Prefixes) -> Vec<Marker> {
        Prompt::of(prefixes, &self.request, &self.sizes(prefixes), self.total_tokens).effective()
    }

    /// The sizes as the cache is told.
    pub fn sizes<'a>(&'a self, prefixes: &'a Prefixes) -> PathSizes<'a> {
        PathSizes::new(prefixes, &self.request.nodes, &self.cumulative)
    }

    /// The request as the engine is asked.
    pub fn asked<'a>(
        &'a self,
        wire: &'a Wire,
        sizes: &'a PathSizes<'a>,
        recorded: Option<Usage>,
        at: Instant,
    ) -> SizedRequest<'a> {
        let previous = self.whose.previous.as_ref().map(Predecessor::previous);
        SizedRequest {
            grounds: Some(Grounds { wire, request: &self.request, billed: self.billed(), previous }),
            refusal: self.refusal.as_ref(),
            recorded,
            ..SizedRequest::new(Prompt::of(&wire.prefixes, &self.request, sizes, self.total_tokens), at)
        }
    }

    /// The provider read what no earlier request of the scope had sent: there was nothing to read, or the read reached
    /// the last breakpoint (nothing was written behind it) and that lies behind everything sent before.
    pub fn read_never_sent(&self, usage: &Usage) -> bool {
        if usage.cache_read_input_tokens == 0 {
            return false;
        }
        let all_read = usage.cache_creation_input_tokens() == 0;
        let last = self.request.markers.last().map(|marker| marker.node);
        let last_known = last.is_some_and(|last| self.request.nodes[..self.request.known].contains(&last));
        self.request.known == 0 || (all_read && !last_known)
    }

    /// The nearest known sizes around `hit` on the path: the longest prefix that is not longer and the shortest that is
    /// not shorter.
    pub fn known_around(&self, hit: NodeId, pins: &Pins) -> (u64, u64) {
        let Some(at) = self.request.nodes.iter().position(|node| *node == hit) else {
            debug_assert!(false, "what is read is a prefix of the request");
            return (0, self.total_tokens);
        };
        let known = |nodes: &[NodeId]| -> Vec<u64> {
            nodes.iter().filter_map(|node| pins.get(*node)).filter(|size| *size <= self.total_tokens).collect()
        };
        let shorter = known(&self.request.nodes[..=at]);
        let longer = known(&self.request.nodes[at..]);
        (shorter.into_iter().max().unwrap_or(0), longer.into_iter().min().unwrap_or(self.total_tokens))
    }
}
