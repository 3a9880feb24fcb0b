//! What a session's requests might have been: every request goes to the what-ifs and to the clairvoyant bound too.

use forkcast_sim::cache::Rules;
use forkcast_sim::service::{Entry, Times};
use forkcast_sim::wire::{NodeId, Prefixes};

use crate::rebuild::{Dispatch, DispatchMarker, MarkerRole};
use crate::replay::Options;
use crate::what_if::{Bound, BoundPings, Columns, WhatIf};

/// See the module.
pub(super) struct Hypotheticals<'a> {
    columns: Columns<'a>,
    /// The place of each column among all what-ifs.
    places: Vec<usize>,
    bound: Bound,
    /// The line of each request that enters a bill.
    lines: Vec<usize>,
}

impl<'a> Hypotheticals<'a> {
    pub fn new(rules: &Rules, options: &'a Options) -> Self {
        let cached = options.what_if.iter().enumerate().filter(|(_, what_if)| what_if.is_cached());
        let (places, cached): (Vec<usize>, Vec<WhatIf>) = cached.map(|(at, what_if)| (at, what_if.clone())).unzip();
        Self {
            columns: Columns::new(&cached, rules, &options.book),
            places,
            bound: Bound::new(rules, BoundPings::None),
            lines: Vec::new(),
        }
    }

    /// Somebody unseen had written the prefix `node` of `sent`, which the caches did not know: an extension of the entry at
    /// `floor`, or, without one, a whole prefix that was there already. It was paid elsewhere.
    pub fn warm(&mut self, sent: &Dispatch<'_>, node: NodeId, floor: Option<NodeId>) {
        if let Some(floor) = floor {
            self.columns.extend(sent, floor, node);
            self.bound.extend();
            return;
        }
        let own = [DispatchMarker::new(node, sent.ttl, MarkerRole::Other)];
        let tokens = sent.sizes.tokens_at(node);
        self.serve_both(&Dispatch {
            end: node,
            markers: &own,
            total_tokens: tokens,
            minimum_tokens: 0,
            times: Times::at_once(sent.times.at),
            output_tokens: 0,
            hidden: true,
            ..*sent
        });
    }

    /// Serves a request; `line` is its line where it has one.
    pub fn serve(&mut self, sent: &Dispatch<'_>, line: Option<usize>) {
        self.lines.extend(line);
        self.serve_both(&Dispatch { hidden: line.is_none(), ..*sent });
    }

    /// Serves a request whose sizes differ for the bound.
    pub fn serve_apart(&mut self, sent: &Dispatch<'_>, bound: &Dispatch<'_>, line: usize) {
        self.lines.push(line);
        self.columns.serve(sent);
        self.bound.serve(bound);
    }

    fn serve_both(&mut self, sent: &Dispatch<'_>) {
        self.columns.serve(sent);
        self.bound.serve(sent);
    }

    /// Writes the findings into the requests' entries, all of an engine, over what is known without a cache.
    pub fn finish(self, prefixes: &Prefixes, entries: &mut [Entry]) {
        let first_line = entries.first().map_or(0, |entry| entry.line.index);
        let found = self.columns.finish(prefixes).into_iter().zip(self.bound.finish());
        for (line, (hypotheticals, bound)) in self.lines.into_iter().zip(found) {
            let entry = &mut entries[line - first_line];
            for (at, found) in self.places.iter().zip(hypotheticals) {
                entry.hypotheticals[*at] = found;
            }
            entry.lower_bound = bound.cost;
        }
    }
}
