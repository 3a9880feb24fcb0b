//! One what-if of one session: a cache of its own, fed with the same requests.

use forkcast_sim::cache::{EntryState, Rules};
use forkcast_sim::pricing::{Money, PriceBook, Rates};
use forkcast_sim::service::Delivery;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Marker, NodeId, Prefixes, Usage};

use super::breakpoints::Placer;
use super::compaction::{Compaction, Purpose};
use super::other_model::OtherModel;
use super::pings::{Pings, Spent};
use super::pricing::Pricing;
use super::spec::WhatIf;
use super::{Basis, Hypothetical};
use crate::rebuild::{Dispatch, DispatchMarker, MarkerRole};

/// See the module.
pub(super) struct Variant<'a> {
    other_model: Option<OtherModel>,
    compaction: Option<Compaction>,
    cache: VariantCache,
    pricing: Pricing<'a>,
}

impl<'a> Variant<'a> {
    /// `what_if` asks for one lifetime, not for the best one. `rules` hold where it names none.
    pub fn new(what_if: &WhatIf, rules: &Rules, book: &'a PriceBook) -> Self {
        Self {
            other_model: what_if.model.map(OtherModel::new),
            compaction: what_if.compact_at.map(Compaction::new),
            cache: VariantCache::new(what_if, what_if.cache.unwrap_or(*rules)),
            pricing: Pricing::new(what_if, book),
        }
    }

    /// Serves one request; requests come in order of time.
    pub fn serve(&mut self, sent: &Dispatch<'_>) {
        let Self { other_model, compaction, cache, pricing } = self;
        let mut serve = |sent: &Dispatch<'_>| match compaction {
            Some(compaction) => compaction.convert(sent, |purpose, sent| match purpose {
                Purpose::Request => cache.serve(sent, pricing.of(sent).as_ref()),
                Purpose::Summary => cache.summarise(sent, pricing.of(sent).as_ref()),
                Purpose::Nothing => cache.leave_out(sent, pricing.of(sent).as_ref()),
            }),
            None => cache.serve(sent, pricing.of(sent).as_ref()),
        };
        match other_model {
            Some(other_model) => other_model.convert(sent, serve),
            None => serve(sent),
        }
    }

    /// A hidden request has extended the entry at `floor` to `node`, a prefix of `sent`, which comes next. If that entry has
    /// expired here, the hidden request would have been a full one with an unknown bill: it is left out.
    pub fn extend(&mut self, sent: &Dispatch<'_>, floor: NodeId, node: NodeId) {
        let Self { other_model, compaction, cache, .. } = self;
        let mut extend = |sent: &Dispatch<'_>, [floor, node]: [NodeId; 2]| match compaction {
            Some(compaction) => {
                compaction.extend(sent, [floor, node], |sent, floor, node| cache.extend(sent, floor, node));
            }
            None => cache.extend(sent, floor, node),
        };
        match other_model {
            Some(other_model) => {
                let nodes = [floor, node].map(|node| other_model.node(sent.prefixes, node));
                other_model.convert(sent, |sent| extend(sent, nodes));
            }
            None => extend(sent, [floor, node]),
        }
    }

    /// What each request that enters a bill would have been, in step with them. `prefixes` is the session's arena.
    pub fn finish(mut self, prefixes: &Prefixes) -> Vec<Hypothetical> {
        let of_model = self.other_model.as_ref().map_or(prefixes, OtherModel::prefixes);
        self.cache.finish(self.compaction.as_ref().map_or(of_model, Compaction::prefixes));
        self.cache.rows
    }
}

/// A cache with everything that acts on it.
struct VariantCache {
    rules: Rules,
    no_cache: bool,
    delivery: Delivery,
    placement: Placer,
    pings: Option<Pings>,
    markers: Vec<Marker>,
    rows: Vec<Hypothetical>,
    /// Summaries that are billed with the next request.
    summaries: Spent,
}

impl VariantCache {
    fn new(what_if: &WhatIf, rules: Rules) -> Self {
        Self {
            rules,
            no_cache: what_if.no_cache,
            delivery: Delivery::new(&rules, 0),
            placement: Placer::new(what_if.breakpoints, what_if.ttl),
            pings: what_if.keepalive.map(Pings::new),
            markers: Vec::new(),
            rows: Vec::new(),
            summaries: Spent::default(),
        }
    }

    fn serve(&mut self, sent: &Dispatch<'_>, rates: Option<&Rates>) {
        let usage = self.answer(sent);
        let row = (!sent.hidden).then_some(self.rows.len());
        if let Some(row) = row {
            let cost = rates.map(|rates| rates.bill(&usage, &sent.quote.fees).total);
            self.rows.push(Hypothetical { usage, cost, basis: Basis::Cache });
            let spent = std::mem::take(&mut self.summaries);
            self.bill(row, spent);
        }
        if let Some(pings) = &mut self.pings {
            pings.follow(sent, &self.markers, rates, row);
        }
    }

    /// Serves a request that the client adds.
    fn summarise(&mut self, sent: &Dispatch<'_>, rates: Option<&Rates>) {
        let usage = self.answer(sent);
        self.summaries.usage += usage;
        self.summaries.cost += rates.map_or(Money::ZERO, |rates| rates.bill(&usage, &[]).total);
    }

    /// A request of the session that is not sent: its line is empty, and costs what nothing costs.
    fn leave_out(&mut self, sent: &Dispatch<'_>, rates: Option<&Rates>) {
        if !sent.hidden {
            let cost = rates.map(|_| Money::ZERO);
            self.rows.push(Hypothetical { cost, ..Hypothetical::default() });
        }
    }

    fn answer(&mut self, sent: &Dispatch<'_>) -> Usage {
        self.advance(sent.prefixes, sent.times.at);
        if let Some((row, spent)) = self.pings.as_mut().and_then(|pings| pings.stop(sent.agent)) {
            self.bill(row, spent);
        }
        self.placement.place(sent, &self.rules, &mut self.markers);
        if self.no_cache {
            self.markers.clear();
        }
        let outcome = self.delivery.serve(&sent.prompt(&self.markers), &sent.times);
        Usage { output_tokens: sent.output_tokens, ..outcome.usage() }
    }

    fn extend(&mut self, sent: &Dispatch<'_>, floor: NodeId, node: NodeId) {
        self.advance(sent.prefixes, sent.times.at);
        if self.no_cache || self.delivery.cache().state(sent.prefixes, floor, sent.times.at) != EntryState::Live {
            return;
        }
        let markers = [DispatchMarker::new(node, sent.ttl, MarkerRole::Other)];
        self.placement.place(&Dispatch { markers: &markers, hidden: true, ..*sent }, &self.rules, &mut self.markers);
        self.delivery.serve_at_once(&sent.prompt(&self.markers), sent.times.at);
    }

    /// Lets everything happen that happens before a request at `until`: answers begin, pings go out.
    fn advance(&mut self, prefixes: &Prefixes, until: Instant) {
        if let Some(pings) = &mut self.pings {
            while let Some(ping) = pings.next().filter(|at| *at < until) {
                self.delivery.deliver_until(prefixes, ping);
                pings.send(prefixes, &mut self.delivery);
            }
        }
        self.delivery.deliver_until(prefixes, until);
    }

    /// Adds what was spent beside a request to its row.
    fn bill(&mut self, row: usize, spent: Spent) {
        if let Some(row) = self.rows.get_mut(row) {
            row.usage += spent.usage;
            row.cost = row.cost.map(|cost| cost + spent.cost);
        }
    }

    /// After the last request, the remaining pings of the main agent are wasted.
    fn finish(&mut self, prefixes: &Prefixes) {
        while let Some(next) = self.pings.as_ref().filter(|pings| pings.is_waiting()).and_then(Pings::next) {
            self.advance(prefixes, Instant(next.0.saturating_add(1)));
        }
        if let Some((row, spent)) = self.pings.as_mut().and_then(|pings| pings.stop(0)) {
            self.bill(row, spent);
        }
    }
}
