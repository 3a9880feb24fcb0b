//! Writes that were never read: their price above plain input bought nothing.

use std::collections::BTreeMap;

use super::entry::Entry;
use crate::ledger::UnreadWrites;
use crate::pricing::{Category, Money, Rates};
use crate::wire::{Marker, NodeId, Prefixes, Sizes, number};

/// The writes of a ledger's lines, at the prices of each, until it is known which of them were read.
#[derive(Clone, Debug, Default)]
pub struct Premiums {
    writes: UnreadWrites,
    /// The first line.
    first: usize,
    /// The different prices, in order of appearance: there are a few of them, for models, lengths, tiers and hours.
    prices: Vec<Rates>,
    /// The prices of each line from the first one on, by their place. A line without rates has no premium: without a
    /// price, or its unread writes are unknown.
    rates: Vec<Option<u32>>,
}

/// Tokens that were written and never read, by line: for five minutes and for an hour.
#[derive(Debug)]
pub struct Unread(BTreeMap<usize, (u64, u64)>);

impl Premiums {
    /// Follows the lines from `first` on.
    pub fn from_line(first: usize) -> Self {
        Self { first, ..Self::default() }
    }

    /// Sets the prices of the line's writes.
    pub fn price(&mut self, line: usize, rates: Rates) {
        debug_assert!(self.rates.len() <= line - self.first, "lines are priced in their order");
        self.rates.resize(line - self.first, None);
        let known = self.prices.iter().rposition(|known| *known == rates);
        let place = known.unwrap_or_else(|| {
            self.prices.push(rates);
            self.prices.len() - 1
        });
        self.rates.push(Some(number(place)));
    }

    /// The prices of a line.
    pub fn rates(&self, line: usize) -> Option<&Rates> {
        let place = (*self.rates.get(line - self.first)?)?;
        self.prices.get(place as usize)
    }

    /// The prefix `hit` was read.
    pub fn read(&mut self, prefixes: &Prefixes, hit: NodeId) {
        self.writes.read(prefixes, hit);
    }

    /// A prompt that ends at `end` was sent and `hit` of it was read; entries after that may be lost.
    pub fn lose(&mut self, prefixes: &Prefixes, end: NodeId, hit: Option<NodeId>, is_lost: impl Fn(NodeId) -> bool) {
        self.writes.lose(prefixes, end, hit, is_lost);
    }

    /// A line wrote up to `markers`, each with the tokens billed for its stretch.
    pub fn wrote(&mut self, prefixes: &Prefixes, line: usize, markers: &[(Marker, u64)]) {
        self.writes.wrote(prefixes, line, markers);
    }

    /// The writes that nothing has read, at the end of the stream.
    pub fn unread(&self) -> Unread {
        Unread(self.writes.unread())
    }

    /// Fills in what each line paid for nothing.
    pub fn settle(&self, unread: &Unread, entries: &mut [Entry]) {
        for Entry { line, .. } in entries {
            let (five_minutes, one_hour) = unread.0.get(&line.index).copied().unwrap_or_default();
            line.unread_writes = self.rates(line.index).map(|rates| premium(rates, five_minutes, one_hour));
        }
    }
}

/// Cost of written tokens above plain input, never negative.
fn premium(rates: &Rates, five_minutes: u64, one_hour: u64) -> Money {
    let premium = rates.difference(Category::Write5m, Category::Input, five_minutes)
        + rates.difference(Category::Write1h, Category::Input, one_hour);
    premium.max(Money::default())
}

/// The stretch that each of `markers` writes after the read prefix, in tokens.
pub fn stretches(markers: impl IntoIterator<Item = Marker>, sizes: &dyn Sizes, read_tokens: u64) -> Vec<(Marker, u64)> {
    let mut from = read_tokens;
    let mut stretch = |marker: Marker| {
        let end = sizes.tokens_at(marker.node).max(from);
        let tokens = end - from;
        from = end;
        (marker, tokens)
    };
    markers.into_iter().map(&mut stretch).collect()
}
