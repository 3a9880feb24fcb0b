//! What requests repeat and do not read, and what it costs.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagnosis::{Billing, BlockBeginning, Cause, ChangeSite, Subject};
use crate::guard::finding::{Finding, Loss, Rule, percent};
use crate::pricing::{Category, Money, Rates, grouped};
use crate::wire::{Level, Maker, NodeId, Wire, shared_nodes};

/// Requests that repeat history before it counts: after a single one the write may cost more than the reads save.
const REPETITIONS_MIN: usize = 2;

/// Tokens that count if a single request repeats them.
const REPEATED_ONCE_MIN: u64 = 5_000;

/// Tokens of a first request that other chains began with too, from which on it counts that none of them is read.
pub(in crate::guard) const BEGINNING_TOKENS_MIN: u64 = 1_024;

/// Least share of the repeated tokens, in thousandths, that no breakpoint covers.
const UNCOVERED_PER_MILLE_MIN: u64 = 50;

/// The prefixes that a chain's requests repeat.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeated {
    /// All input tokens.
    input_tokens: u64,
    /// How many of them repeat the previous request's prefix.
    tokens: u64,
    /// How many of these no breakpoint of the previous request covered and no entry of an earlier one lets be read, by how they
    /// are billed.
    uncovered: BTreeMap<Category, u64>,
    /// Requests with such tokens.
    pub requests: usize,
    /// What they cost more than reads, less what it costs to write instead of send what is new.
    cost: Money,
    /// A model has no price.
    is_unpriced: bool,
    last: Option<Last>,
    /// Its reads are recorded.
    is_measured: bool,
}

/// The latest request with such tokens, and the last block that it repeats.
#[derive(Clone, Debug)]
struct Last {
    request: usize,
    older: usize,
    level: Level,
    path: String,
    /// How many bytes of that block it repeats; `None` for all.
    bytes: Option<u64>,
    provider: Option<Maker>,
}

/// The beginning of a block that an earlier prompt had at the same place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Index of the block.
    pub at: usize,
    /// Canonical bytes of the block up to the first difference.
    bytes: u64,
    tokens: u64,
    /// It is the whole block of the earlier prompt.
    is_grown: bool,
}

/// The blocks that a request repeats, and what it repeats of the next one.
#[derive(Clone, Debug)]
pub(super) struct Repetition {
    pub blocks: Range<usize>,
    pub part: Option<Part>,
}

/// A request and the one before it in its chain.
#[derive(Clone, Copy)]
pub(in crate::guard) struct Turn<'a> {
    /// The request.
    pub taken: &'a Subject,
    /// The one before; `None` for a chain's first.
    pub previous: Option<&'a Subject>,
    /// Blocks that it reads if no entry expires.
    pub blocks_read: usize,
    /// Prices.
    pub rates: Option<&'a Rates>,
    /// A change in it breaks a prefix, and its price is that of what it would repeat.
    pub is_broken: bool,
    /// Its usage is recorded.
    pub is_measured: bool,
    /// It is one of a test in which no body carried a breakpoint so far, and those that it has are assumed.
    pub is_implied: bool,
}

impl Turn<'_> {
    /// The beginning of the first block that differs, if that is the one of the request before with more at its end: a history or
    /// a log in one text.
    pub(super) fn grown(&self, wire: &Wire) -> Option<Part> {
        let previous = self.previous.filter(|_| !self.is_broken)?;
        let [old, new] = [previous, self.taken].map(|subject| &subject.request.nodes);
        let at = shared_nodes(old, new);
        Part::of(wire, old, self.taken, at).filter(|part| part.is_grown)
    }
}

impl Part {
    /// What the block of `taken` at `at` has in common with that of the prompt `old`, if that is enough for a prefix.
    pub fn of(wire: &Wire, old: &[NodeId], taken: &Subject, at: usize) -> Option<Self> {
        let [older, newer] = [old, &taken.request.nodes].map(|nodes| wire.prefixes.block(*nodes.get(at)?));
        let beginning = BlockBeginning::of(&wire.blocks, older?, newer?)?;
        let tokens = beginning.tokens(taken.tokens(at));
        let BlockBeginning { bytes, is_grown, .. } = beginning;
        (tokens >= BEGINNING_TOKENS_MIN).then_some(Self { at, bytes, tokens, is_grown })
    }

    /// What it costs to write it instead of sending it as plain input.
    fn written(&self, billed: &Billing, rates: &Rates) -> Money {
        match billed.category(self.at) {
            Category::Input => rates.difference(Category::Input, Category::Write5m, self.tokens),
            _ => Money::ZERO,
        }
    }
}

impl Repeated {
    /// Takes a request of a model that caches prefixes of `minimum_tokens`.
    pub fn take(&mut self, turn: &Turn<'_>, minimum_tokens: u64, grown: Option<Part>) {
        let Turn { taken, previous, blocks_read, rates, is_measured, is_implied, .. } = *turn;
        self.is_measured |= is_measured;
        self.input_tokens += taken.total_tokens();
        let is_judged = taken.refusal.is_none() && taken.request.has_modelled_cache();
        let billed = if is_implied { Billing::default() } else { taken.billing() };
        if is_judged {
            let rates = rates.filter(|_| taken.total_tokens() >= minimum_tokens);
            self.write_new(taken, previous, &billed, rates);
        }
        let Some(previous) = previous.filter(|previous| is_judged && previous.refusal.is_none()) else { return };
        let end = shared_nodes(&previous.request.nodes, &taken.request.nodes);
        let before = end.checked_sub(1).map_or(0, |last| taken.cumulative[last]);
        let repeated_tokens = before + grown.map_or(0, |part| part.tokens);
        // The input does not show which breakpoints were sent; these are assumed.
        if previous.request.markers_sent == 0 && !previous.request.markers.is_empty() && !is_implied {
            return;
        }
        self.tokens += repeated_tokens;
        let covered = if is_implied { 0 } else { previous.covered().max(blocks_read).min(end) };
        if (covered == end && grown.is_none()) || repeated_tokens < minimum_tokens {
            return;
        }
        self.overpay(taken, previous.number, &Repetition { blocks: covered..end, part: grown }, &billed, rates);
        // Of a block that has grown only the end would be written.
        if let Some((part, rates)) = grown.zip(rates.filter(|_| taken.total_tokens() >= minimum_tokens)) {
            self.cost -= part.written(&billed, rates);
        }
    }

    /// Takes the first request of a chain, of a model that caches prefixes of `minimum_tokens`: `older` is that of another one
    /// which begins alike.
    pub fn begin(&mut self, turn: &Turn<'_>, older: usize, minimum_tokens: u64, repetition: &Repetition) {
        let Turn { taken, blocks_read, rates, .. } = *turn;
        let billed = taken.billing();
        let Repetition { blocks, part } = repetition;
        let end = blocks.end;
        let in_part = part.map_or(0, |part| part.tokens);
        let tokens = |range: Range<usize>| range.map(|at| taken.tokens(at)).sum::<u64>() + in_part;
        self.input_tokens += taken.total_tokens();
        self.tokens += tokens(0..end);
        if tokens(0..end) < minimum_tokens || tokens(blocks_read.min(end)..end) < BEGINNING_TOKENS_MIN {
            return;
        }
        let unread = Repetition { blocks: blocks_read.min(end)..end, ..*repetition };
        if let Some(rates) = rates.filter(|_| self.requests == 0) {
            self.write(taken, unread.blocks.clone(), &billed, rates);
            self.cost += part.map_or(Money::ZERO, |part| part.written(&billed, rates));
        }
        self.overpay(taken, older, &unread, &billed, rates);
    }

    /// These blocks of a request could be read, and are not.
    fn overpay(
        &mut self,
        taken: &Subject,
        older: usize,
        Repetition { blocks, part }: &Repetition,
        billed: &Billing,
        rates: Option<&Rates>,
    ) {
        let last = part.map_or(blocks.end, |part| part.at + 1);
        let Some(place) = taken.request.places[..last].iter().rfind(|place| !place.keys) else { return };
        let whole = blocks.clone().map(|at| (at, taken.tokens(at)));
        for (at, tokens) in whole.chain(part.map(|part| (part.at, part.tokens))) {
            let category = billed.category(at);
            *self.uncovered.entry(category).or_default() += tokens;
            self.cost += rates.map_or(Money::ZERO, |rates| rates.difference(category, Category::Read, tokens));
        }
        self.is_unpriced |= rates.is_none();
        self.requests += 1;
        self.last = Some(Last {
            request: taken.number,
            older,
            level: place.level,
            path: taken.request.path(*place),
            bytes: part.map(|part| part.bytes),
            provider: Maker::diagnosing(&taken.request),
        });
    }

    /// Subtracts what a breakpoint at the end would cost: new text is plain input now and would be written.
    fn write_new(&mut self, taken: &Subject, previous: Option<&Subject>, billed: &Billing, rates: Option<&Rates>) {
        let from = previous.map_or(0, |previous| shared_nodes(&previous.request.nodes, &taken.request.nodes));
        if let Some(rates) = rates {
            self.write(taken, from..taken.request.nodes.len(), billed, rates);
        }
    }

    /// These blocks are plain input and would be written.
    fn write(&mut self, taken: &Subject, blocks: Range<usize>, billed: &Billing, rates: &Rates) {
        for at in blocks.filter(|at| billed.category(*at) == Category::Input) {
            self.cost += rates.difference(Category::Input, Category::Write5m, taken.tokens(at));
        }
    }

    fn uncovered_tokens(&self) -> u64 {
        self.uncovered.values().sum()
    }

    pub fn is_costly(&self) -> bool {
        !self.is_measured
            && (self.requests >= REPETITIONS_MIN || self.is_costly_at_once())
            && self.uncovered_tokens() * 1_000 >= self.tokens * UNCOVERED_PER_MILLE_MIN
    }

    /// Even a single repetition costs more than it would have cost to write what it repeats.
    fn is_costly_at_once(&self) -> bool {
        self.requests == 1 && self.cost > Money::ZERO && self.uncovered_tokens() >= REPEATED_ONCE_MIN
    }

    /// Which share of the input is read, and which could be.
    pub fn rates(&self) -> String {
        let share = |tokens: u64| percent(tokens * 1_000 / self.input_tokens.max(1));
        format!(
            "{} of all input is read, {} could be",
            share(self.tokens - self.uncovered_tokens()),
            share(self.tokens)
        )
    }

    /// The finding for a chain, if that is costly; `name` makes its name of "2 requests repeat".
    pub fn finding(&self, chain: &str, cause: Cause, name: impl FnOnce(&str) -> String) -> Option<Finding> {
        let Last { request, older, level, path, bytes, provider } = self.last.clone().filter(|_| self.is_costly())?;
        let uncovered_tokens = self.uncovered_tokens();
        let name = name(&match self.requests {
            1 => "1 request repeats".to_owned(),
            requests => format!("{requests} requests repeat"),
        });
        let name = match bytes {
            Some(bytes) => format!("{name}; it ends at byte {} of the block", grouped(bytes)),
            None => name,
        };
        let most = self.uncovered.iter().max_by_key(|(_, tokens)| **tokens);
        let billed_as = most.map_or(Category::Input, |(category, _)| *category);
        let requests = self.requests as u64;
        let loss = Loss {
            tokens: uncovered_tokens,
            is_upper_bound: false,
            billed_as,
            cost: (!self.is_unpriced).then_some(self.cost),
            requests,
        };
        Some(Finding {
            rule: Rule::Breakpoints,
            chain: chain.to_owned(),
            request,
            older: Some(older),
            with_sibling: false,
            site: ChangeSite { offset_in_block: bytes, ..ChangeSite::new(cause, level, path, name) },
            provider,
            breaks_prefix: true,
            loss: Some(loss),
            windows: None,
            strip: Vec::new(),
        })
    }
}
