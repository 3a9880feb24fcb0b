//! One what-if of one session: a cache of its own, fed with the same requests.

use std::collections::BTreeMap;

use forkcast_sim::cache::{EntryState, Marked, Prompt, PromptCache, Rules, Ticket};
use forkcast_sim::pricing::{Date, ModelKey, PriceBook, Rates, Terms};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::ModelId;
use forkcast_sim::wire::{Level, Marker, NodeId, Place, Prefixes, Usage};

use super::Hypothetical;
use super::breakpoints::Placement;
use super::pings::{Pings, Spent};
use super::retold::Retold;
use super::spec::WhatIf;
use crate::rebuild::{MarkerRole, Sent, SentMarker};

/// See the module.
pub(super) struct Variant<'a> {
    retold: Option<Retold>,
    world: World,
    pricing: Pricing<'a>,
}

impl<'a> Variant<'a> {
    /// `what_if` asks for one lifetime, not for the best one. `rules` hold where it names none.
    pub fn new(what_if: &WhatIf, rules: &Rules, book: &'a PriceBook) -> Self {
        Self {
            retold: what_if.model.map(Retold::new),
            world: World::new(what_if, what_if.cache.unwrap_or(*rules)),
            pricing: Pricing { book, model: what_if.model, date: what_if.prices },
        }
    }

    /// Serves one request; requests come in order of time.
    pub fn serve(&mut self, sent: &Sent<'_>) {
        let (world, pricing) = (&mut self.world, &self.pricing);
        match &mut self.retold {
            Some(retold) => retold.tell(sent, |sent| world.serve(sent, pricing.rates(sent).as_ref())),
            None => world.serve(sent, pricing.rates(sent).as_ref()),
        }
    }

    /// A hidden request has extended the entry at `floor` to `node`, a prefix of `sent`, which comes next. Where that entry
    /// is gone here, the hidden request would have been a full one, whose bill nobody knows: it is left out.
    pub fn extend(&mut self, sent: &Sent<'_>, floor: NodeId, node: NodeId) {
        let world = &mut self.world;
        match &mut self.retold {
            Some(retold) => {
                let [floor, node] = [floor, node].map(|node| retold.node(sent.prefixes, node));
                retold.tell(sent, |sent| world.extend(sent, floor, node));
            }
            None => world.extend(sent, floor, node),
        }
    }

    /// What each request that enters a bill would have been, in step with them. `prefixes` is the session's arena.
    pub fn finish(mut self, prefixes: &Prefixes) -> Vec<Hypothetical> {
        self.world.finish(self.retold.as_ref().map_or(prefixes, Retold::prefixes));
        self.world.rows
    }
}

/// Which prices hold.
struct Pricing<'a> {
    book: &'a PriceBook,
    model: Option<ModelId>,
    date: Option<Date>,
}

impl Pricing<'_> {
    fn rates(&self, sent: &Sent<'_>) -> Option<Rates> {
        if self.model.is_none() && self.date.is_none() {
            return sent.rates.copied();
        }
        let key = self.model.map_or_else(|| ModelKey::from(sent.model), ModelKey::from);
        let date = self.date.or(sent.terms.date);
        let terms = Terms { date, prompt_tokens: sent.total_tokens, ..sent.terms };
        self.book.rates(&key, &terms).ok()
    }
}

/// A cache with everything that acts on it.
struct World {
    rules: Rules,
    no_cache: bool,
    cache: Marked,
    answers: BTreeMap<(Instant, Ticket), Instant>,
    placement: Placement,
    pings: Option<Pings>,
    markers: Vec<Marker>,
    rows: Vec<Hypothetical>,
}

impl World {
    fn new(what_if: &WhatIf, rules: Rules) -> Self {
        Self {
            rules,
            no_cache: what_if.no_cache,
            cache: Marked::new(rules, 0),
            answers: BTreeMap::new(),
            placement: Placement::new(what_if.breakpoints, what_if.ttl),
            pings: what_if.keepalive.map(Pings::new),
            markers: Vec::new(),
            rows: Vec::new(),
        }
    }

    fn serve(&mut self, sent: &Sent<'_>, rates: Option<&Rates>) {
        self.advance(sent.prefixes, sent.at);
        if let Some((row, spent)) = self.pings.as_mut().and_then(|pings| pings.stop(sent.agent)) {
            self.bill_pings(row, spent);
        }
        self.placement.place(sent, &self.rules, &mut self.markers);
        if self.no_cache {
            self.markers.clear();
        }
        let usage = self.look_up(sent);
        let row = (!sent.hidden).then_some(self.rows.len());
        if row.is_some() {
            let cost = rates.map(|rates| rates.bill(&usage, sent.fees).total);
            self.rows.push(Hypothetical { usage, cost });
        }
        if let Some(pings) = &mut self.pings {
            pings.follow(sent, &self.markers, rates, row);
        }
    }

    fn extend(&mut self, sent: &Sent<'_>, floor: NodeId, node: NodeId) {
        self.advance(sent.prefixes, sent.at);
        if self.no_cache || self.cache.state(sent.prefixes, floor, sent.at) != EntryState::Live {
            return;
        }
        let place = Place { level: Level::Messages, item: 0, part: 0, keys: false };
        let markers =
            [SentMarker { marker: Marker { node, ttl: sent.ttl, place, automatic: false }, role: MarkerRole::Other }];
        self.placement.place(&Sent { markers: &markers, hidden: true, ..*sent }, &self.rules, &mut self.markers);
        let prompt = Prompt {
            prefixes: sent.prefixes,
            markers: &self.markers,
            sizes: sent.sizes,
            total_tokens: sent.total_tokens,
            minimum_tokens: sent.minimum_tokens,
        };
        let (ticket, _) = self.cache.look_up(&prompt, sent.at);
        self.cache.ended(sent.prefixes, ticket, sent.at);
    }

    fn look_up(&mut self, sent: &Sent<'_>) -> Usage {
        let prompt = Prompt {
            prefixes: sent.prefixes,
            markers: &self.markers,
            sizes: sent.sizes,
            total_tokens: sent.total_tokens,
            minimum_tokens: sent.minimum_tokens,
        };
        let (ticket, outcome) = self.cache.look_up(&prompt, sent.at);
        self.answers.insert((sent.first_byte_at, ticket), sent.ended_at);
        Usage { output_tokens: sent.output_tokens, ..outcome.usage() }
    }

    /// Lets everything happen that happens before a request at `until`: answers begin, pings go out.
    fn advance(&mut self, prefixes: &Prefixes, until: Instant) {
        loop {
            let answer = self.answers.keys().next().map(|(at, _)| *at).filter(|at| *at <= until);
            let ping = self.pings.as_ref().and_then(Pings::next).filter(|at| *at < until);
            match (answer, ping) {
                (None, None) => return,
                (Some(answer), ping) if ping.is_none_or(|ping| answer <= ping) => self.deliver(prefixes),
                _ => self.ping(prefixes),
            }
        }
    }

    /// The next answer begins. Its end changes nothing under the rules that exist and is told with it.
    fn deliver(&mut self, prefixes: &Prefixes) {
        let Some(((first_byte_at, ticket), ended_at)) = self.answers.pop_first() else { return };
        self.cache.first_byte(prefixes, ticket, first_byte_at);
        self.cache.ended(prefixes, ticket, ended_at);
    }

    fn ping(&mut self, prefixes: &Prefixes) {
        if let Some(pings) = &mut self.pings {
            pings.send(prefixes, &mut self.cache);
        }
    }

    fn bill_pings(&mut self, row: usize, spent: Spent) {
        if let Some(row) = self.rows.get_mut(row) {
            row.usage += spent.usage;
            row.cost = row.cost.map(|cost| cost + spent.cost);
        }
    }

    /// Nobody asks any more: what the main agent pings now is in vain.
    fn finish(&mut self, prefixes: &Prefixes) {
        while self.pings.as_ref().is_some_and(Pings::is_waiting) {
            let next = self.pings.as_ref().and_then(Pings::next).unwrap_or_default();
            self.advance(prefixes, Instant(next.0.saturating_add(1)));
        }
        if let Some((row, spent)) = self.pings.as_mut().and_then(|pings| pings.stop(0)) {
            self.bill_pings(row, spent);
        }
    }
}
