//! The fork conformance suite, for captures of any harness.
//!
//! A chain's first request that continues another chain's request is a fork, and is compared with that request. The
//! card reports for each check whether it passed, on what evidence, and how to fix a failure; if an input cannot show
//! something, the card says so.
//!
//! * [`Check`]: the checks and their stable words. [`Card`]: their results.
//! * [`Suite`]: takes requests in the order in which they were sent.

mod card;
mod check;
mod launch;
mod pair;
mod prompt;
mod reach;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use card::{Card, Evidence, Row};
pub use check::{CHECKS, Check};
use launch::{Launch, Timing};
use pair::{Capture, Pair};

use super::identity::{Identity, Kinship, Recent, Whose};
use super::{Facts, Sent};
use crate::cache::Rules;
use crate::diagnosis::compare;
use crate::time::Duration;
use crate::wire::{BodyError, ChainId, Request, Ttl, Wire};

/// Applies the checks to requests.
#[derive(Debug)]
pub struct Suite {
    wire: Wire,
    record: Record,
}

/// Memory of the requests.
#[derive(Debug)]
struct Record {
    rules: Rules,
    identity: Identity<Arc<Capture>>,
    chains: BTreeMap<ChainId, ParentHarm>,
    /// Forks by the request that they continue.
    launched: BTreeMap<usize, Vec<Timing>>,
    card: Card,
}

/// The effect of forks on a chain that they continue.
#[derive(Debug, Default)]
struct ParentHarm {
    /// What the last request lost of the previous one.
    harm: Vec<Evidence>,
    /// Requests that were forked and have not been compared with a next request yet.
    forked: BTreeSet<usize>,
}

impl Suite {
    /// A suite under the rules of a cache.
    pub fn new(rules: Rules) -> Self {
        let record = Record {
            rules,
            identity: Identity::default(),
            chains: BTreeMap::new(),
            launched: BTreeMap::new(),
            card: Card::new(),
        };
        Self { wire: Wire::new(rules.forms), record }
    }

    /// Takes a body in the order in which it was sent.
    ///
    /// # Errors
    /// When the body is no request of the Messages API; nothing of it is kept then.
    pub fn take(&mut self, sent: &Sent<'_>) -> Result<(), BodyError> {
        let mut request = self.wire.read_by(sent.maker, sent.body, sent.facts.scope, sent.model_outside)?;
        sent.breakpoints.apply(&mut request);
        self.record.take(&self.wire, request, Some(sent.body), &sent.facts);
        Ok(())
    }

    /// Takes a request that the caller has read into a wire of its own, the same for all. Without a body, checks of
    /// content that a recording leaves out do not apply.
    pub fn watch(&mut self, wire: &Wire, request: Request, body: Option<&[u8]>, facts: &Facts<'_>) {
        self.record.take(wire, request, body, facts);
    }

    /// The card.
    pub fn card(self) -> Card {
        self.record.card.finished()
    }
}

impl Record {
    fn take(&mut self, wire: &Wire, request: Request, body: Option<&[u8]>, facts: &Facts<'_>) {
        let request = Arc::new(request);
        let capture = |sender| Arc::new(Capture::new(sender, Arc::clone(&request), body, facts));
        let whose = self.identity.take(wire, &request, facts, capture);
        self.card.requests += 1;
        let Some(taken) = self.identity.recent(whose.lane.chain).map(|recent| Arc::clone(&recent.last)) else { return };
        let chain = self.chains.entry(whose.lane.chain).or_default();
        match whose.previous.as_ref().filter(|_| !whose.lane.first) {
            Some(last) => {
                chain.harm = pair::harm(wire, &self.rules, last, &taken);
                if chain.forked.remove(&last.sender.index) {
                    self.card.judge(Check::ParentUnharmed, chain.harm.clone());
                }
            }
            None => self.begin(wire, &taken, whose),
        }
    }

    /// A chain's first request.
    fn begin(&mut self, wire: &Wire, taken: &Capture, whose: Whose<Arc<Capture>>) {
        let Kinship::Fork { parent, until, sibling, eldest } = whose.kinship else { return };
        let comparison = compare(wire, &parent.request, &taken.request);
        let sibling = sibling.map(|sibling| {
            let comparison = compare(wire, &sibling.first.request, &taken.request);
            (sibling, comparison)
        });
        let eldest = eldest.map(|(eldest, own_from)| (compare(wire, &eldest.request, &taken.request), own_from));
        let pair = Pair { wire, base: &parent, fork: taken, until, comparison: &comparison, sibling, eldest };
        self.fork(&pair);
    }

    fn fork(&mut self, pair: &Pair<'_>) {
        self.card.forks += 1;
        prompt::check(pair, &mut self.card);
        self.card.judge(Check::CacheKey, pair.cache_key());
        reach::check(pair, &self.rules, &mut self.card);
        self.launch(pair);
        self.unharmed(pair);
    }

    fn launch(&mut self, pair: &Pair<'_>) {
        let own = pair.fork.timing();
        let parents = self.identity.recent(pair.base.sender.chain).into_iter().flat_map(Recent::iter);
        // What the parent wrote before the request that the fork continues is only the beginning of that request.
        let reaches = |asked: &Timing| asked.request >= pair.base.sender.index;
        let mut writers: Vec<Timing> =
            parents.map(|taken| taken.timing()).filter(reaches).chain([pair.base.timing()]).collect();
        let siblings = self.launched.entry(pair.base.sender.index).or_default();
        writers.extend(siblings.iter().copied());
        siblings.push(own);
        match launch::judge(&own, &writers, lifetime(&pair.base.request)) {
            Launch::Fine => self.card.pass(Check::LaunchTiming),
            Launch::TooEarly(found) => self.card.fail(Check::LaunchTiming, pair.evidence(String::new(), found)),
            Launch::Unknown(why) => self.card.unknown(Check::LaunchTiming, why),
        }
    }

    /// Judges the parent's next request when it arrives, or now if it was sent before the fork.
    fn unharmed(&mut self, pair: &Pair<'_>) {
        const NO_NEXT: &str = "no parent sent a request after its forks";
        self.card.unknown(Check::ParentUnharmed, NO_NEXT);
        let parent = &pair.base.sender;
        let Some(recent) = self.identity.recent(parent.chain) else { return };
        let Some(chain) = self.chains.get_mut(&parent.chain) else { return };
        if recent.last.sender.index == parent.index {
            chain.forked.insert(parent.index);
        } else if recent.before.as_ref().is_some_and(|before| before.sender.index == parent.index) {
            self.card.judge(Check::ParentUnharmed, chain.harm.clone());
        }
    }
}

/// The lifetime of a request's last write.
fn lifetime(request: &Request) -> Duration {
    request.markers.last().map_or(Ttl::FiveMinutes, |marker| marker.ttl).duration()
}
