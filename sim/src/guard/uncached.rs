//! Chains that repeat a history which no breakpoint covers: nothing breaks in them, and they pay for it again with every
//! request. And chains that are too short to be cached at all.

use std::collections::BTreeMap;
use std::ops::Range;

use super::finding::{Finding, Loss, Rule, percent};
use super::identity::Lane;
use crate::diagnosis::{Billing, Cause, ChangeSite, Subject};
use crate::outside::quoted;
use crate::pricing::{Category, Money, Rates, grouped};
use crate::wire::{ChainId, Level, Maker, Wire, shared_nodes};

/// Requests that repeat history before it counts: after a single one the write may cost more than the reads save.
const REPETITIONS_MIN: usize = 2;

/// Tokens that count if a single request repeats them.
const REPEATED_ONCE_MIN: u64 = 5_000;

/// The minimum of most Claude models (`cache/minimum.rs`): of a prefix as long as this, another model would read. It counts if it
/// is also half as long as its own model's minimum, so that more content in the prefix is no idle advice.
const CACHED_ELSEWHERE_MIN: u64 = 1_024;

/// Tokens of a first request that other chains began with too, from which on it counts that none of them is read.
const BEGINNING_TOKENS_MIN: u64 = 1_024;

/// Least share of the repeated tokens, in thousandths, that no breakpoint covers.
const UNCOVERED_PER_MILLE_MIN: u64 = 50;

/// What helps if prompts are short.
const IN_TESTS: &str = " If they are those of a test, `in_tests` checks them all the same.";

/// What each chain had in the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Uncached {
    chains: BTreeMap<ChainId, Kept>,
    /// What first requests repeat of other chains, by the digest of their first block.
    beginnings: BTreeMap<[u8; 32], Beginning>,
}

/// Chains that begin alike.
#[derive(Clone, Debug)]
struct Beginning {
    /// Name of the latest.
    name: String,
    /// The first request of the first of them.
    first: usize,
    repeated: Repeated,
}

/// The breakpoints of a chain's requests.
#[derive(Clone, Debug, Default)]
struct Kept {
    name: String,
    requests: usize,
    /// The longest prefix before a breakpoint, and the shortest that its model caches, in tokens.
    longest: Option<(u64, u64)>,
    /// A prefix was long enough, or a recorded usage shows what the provider kept.
    cached: bool,
    /// A body carries a breakpoint, or the provider needs none.
    marked: bool,
    repeated: Repeated,
    /// The same for a model that caches short prefixes too.
    elsewhere: Repeated,
}

/// The prefixes that a chain's requests repeat.
#[derive(Clone, Debug, Default)]
struct Repeated {
    /// All input tokens.
    input_tokens: u64,
    /// How many of them repeat the previous request's prefix.
    tokens: u64,
    /// How many of these no breakpoint of the previous request covered and no entry of an earlier one lets be read, by how they
    /// are billed.
    uncovered: BTreeMap<Category, u64>,
    /// Requests with such tokens.
    requests: usize,
    /// What they cost more than reads, less what it costs to write instead of send what is new.
    cost: Money,
    /// A model has no price.
    is_unpriced: bool,
    last: Option<Last>,
    /// A recorded usage shows what was read.
    is_measured: bool,
}

/// The latest request with such tokens, and the last block that it repeats.
#[derive(Clone, Debug)]
struct Last {
    request: usize,
    older: usize,
    level: Level,
    path: String,
    provider: Option<Maker>,
}

/// A request and the one before it in its chain.
#[derive(Clone, Copy)]
pub(super) struct Turn<'a> {
    /// The request.
    pub taken: &'a Subject,
    /// The one before; `None` for a chain's first.
    pub previous: Option<&'a Subject>,
    /// Blocks that it reads if no entry expires.
    pub blocks_read: usize,
    /// Prices.
    pub rates: Option<&'a Rates>,
    /// Its usage is recorded.
    pub is_measured: bool,
    /// It is one of a test in which no body carried a breakpoint so far, and those that it has are assumed.
    pub is_implied: bool,
}

impl Uncached {
    /// Takes a request; `is_beginning` if it is the first of its chain and nothing else is found of it.
    pub fn take(&mut self, wire: &Wire, turn: &Turn<'_>, lane: &Lane, is_beginning: bool) {
        let Turn { taken, is_measured, is_implied, .. } = *turn;
        let kept = self.chains.entry(lane.chain).or_insert_with(|| Kept { name: lane.name.clone(), ..Kept::default() });
        kept.requests += 1;
        kept.marked |= !is_implied;
        kept.cached |= is_measured || taken.refusal.is_some() || taken.covered() > 0;
        let covered = taken.marked().into_iter().map(|(at, _)| taken.cumulative[at]).max();
        let covered = covered.map(|tokens| (tokens, taken.minimum_tokens));
        kept.longest = kept.longest.max(covered);
        kept.repeated.take(turn, taken.minimum_tokens);
        // What is cached is long enough.
        if !kept.cached {
            kept.elsewhere.take(turn, (taken.minimum_tokens / 2).max(CACHED_ELSEWHERE_MIN).min(taken.minimum_tokens));
        }
        if is_beginning {
            self.begin(wire, turn, lane);
        }
    }

    fn begin(&mut self, wire: &Wire, turn: &Turn<'_>, lane: &Lane) {
        let Turn { taken, .. } = *turn;
        let is_judged = taken.refusal.is_none() && taken.request.has_modelled_cache();
        let first = taken.request.nodes.first().filter(|_| is_judged && !turn.is_measured && !turn.is_implied);
        let Some(block) = first.and_then(|first| wire.prefixes.block(*first)) else { return };
        let new = || Beginning { name: String::new(), first: taken.number, repeated: Repeated::default() };
        let beginning = self.beginnings.entry(*wire.blocks.digest(block).as_bytes()).or_insert_with(new);
        beginning.name.clone_from(&lane.name);
        beginning.repeated.begin(turn, beginning.first);
    }

    /// One finding for each chain that repeats what it could read.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let chains = self.chains.values().filter_map(|kept| kept.unmarked().or_else(|| kept.too_short()));
        chains.chain(self.beginnings.values().filter_map(Beginning::finding))
    }

    /// The warning in words. A single request has nothing to keep.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let silent = || self.chains.values().filter(|kept| !kept.cached && kept.requests > 1);
        let of_tests =
            self.chains.values().filter(|kept| !kept.marked && kept.requests > 1 && !kept.repeated.is_costly());
        let assumed = told(of_tests, |_| {
            "carry no cache breakpoint, so the provider caches nothing of them and reads 0 % of their input. This check assumed \
             breakpoints after the system prompt and at the end."
                .to_owned()
        });
        let unmarked = told(silent().filter(|kept| kept.longest.is_none() && !kept.repeated.is_costly()), |_| {
            format!(
                "carry no cache breakpoint, so nothing of them is cached and no change can break a prefix.{IN_TESTS}"
            )
        });
        let is_short = |kept: &&Kept| kept.longest.is_some() && kept.too_short().is_none();
        let short = told(silent().filter(is_short), |kept| {
            let (tokens, minimum) = kept.longest.unwrap_or_default();
            format!(
                "have their last breakpoint after {} tokens or fewer, and their model caches nothing below {}, so no change \
                 can break a prefix.{IN_TESTS}",
                grouped(tokens),
                grouped(minimum)
            )
        });
        assumed.into_iter().chain(unmarked).chain(short)
    }
}

impl Beginning {
    /// No breakpoint covers what agents have in common. It is noted only: each of them may be the only one of its day.
    fn finding(&self) -> Option<Finding> {
        let found = self.repeated.finding(&self.name, Cause::NoBreakpoint, |_| {
            let agents = self.repeated.requests;
            format!("no breakpoint at the end of what {agents} agents repeat of others in their first requests")
        })?;
        Some(Finding { rule: Rule::Siblings, with_sibling: true, ..found })
    }
}

impl Kept {
    /// No breakpoint covers what its requests repeat.
    fn unmarked(&self) -> Option<Finding> {
        self.repeated.finding(&self.name, Cause::NoBreakpoint, |repeat| {
            format!("no breakpoint at the end of what {repeat}: {}", self.repeated.rates())
        })
    }

    /// Its breakpoints end prefixes that its model does not cache, and that most models cache.
    fn too_short(&self) -> Option<Finding> {
        let (tokens, minimum) = self.longest.filter(|_| !self.cached && self.marked)?;
        self.elsewhere.finding(&self.name, Cause::BelowMinimum, |repeat| {
            let (tokens, minimum) = (grouped(tokens), grouped(minimum));
            format!(
                "{repeat} at most {tokens} tokens before a breakpoint, and the model caches nothing below {minimum}"
            )
        })
    }
}

impl Repeated {
    /// Takes a request of a model that caches prefixes of `minimum_tokens`.
    fn take(&mut self, turn: &Turn<'_>, minimum_tokens: u64) {
        let Turn { taken, previous, blocks_read, rates, is_measured, is_implied } = *turn;
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
        let repeated_tokens = end.checked_sub(1).map_or(0, |last| taken.cumulative[last]);
        // The input does not show which breakpoints were sent; these are assumed.
        if previous.request.markers_sent == 0 && !previous.request.markers.is_empty() && !is_implied {
            return;
        }
        self.tokens += repeated_tokens;
        let covered = if is_implied { 0 } else { previous.covered().max(blocks_read).min(end) };
        if covered == end || repeated_tokens < minimum_tokens {
            return;
        }
        self.overpay(taken, previous.number, covered..end, &billed, rates);
    }

    /// Takes the first request of a chain: `older` is that of another one which begins alike.
    fn begin(&mut self, turn: &Turn<'_>, older: usize) {
        let Turn { taken, blocks_read, rates, .. } = *turn;
        let billed = taken.billing();
        let end = taken.request.known;
        let tokens = |range: Range<usize>| range.map(|at| taken.tokens(at)).sum::<u64>();
        self.input_tokens += taken.total_tokens();
        self.tokens += tokens(0..end);
        if tokens(0..end) < taken.minimum_tokens || tokens(blocks_read.min(end)..end) < BEGINNING_TOKENS_MIN {
            return;
        }
        if let Some(rates) = rates.filter(|_| self.requests == 0) {
            self.write(taken, blocks_read..end, &billed, rates);
        }
        self.overpay(taken, older, blocks_read..end, &billed, rates);
    }

    /// These blocks of a request could be read, and are not.
    fn overpay(
        &mut self,
        taken: &Subject,
        older: usize,
        blocks: Range<usize>,
        billed: &Billing,
        rates: Option<&Rates>,
    ) {
        let Some(place) = taken.request.places[..blocks.end].iter().rfind(|place| !place.keys) else { return };
        for at in blocks {
            let category = billed.category(at);
            let tokens = taken.tokens(at);
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

    fn is_costly(&self) -> bool {
        !self.is_measured
            && (self.requests >= REPETITIONS_MIN || self.is_costly_at_once())
            && self.uncovered_tokens() * 1_000 >= self.tokens * UNCOVERED_PER_MILLE_MIN
    }

    /// Even a single repetition costs more than it would have cost to write what it repeats.
    fn is_costly_at_once(&self) -> bool {
        self.requests == 1 && self.cost > Money::ZERO && self.uncovered_tokens() >= REPEATED_ONCE_MIN
    }

    /// Which share of the input is read, and which could be.
    fn rates(&self) -> String {
        let share = |tokens: u64| percent(tokens * 1_000 / self.input_tokens.max(1));
        format!(
            "{} of all input is read, {} could be",
            share(self.tokens - self.uncovered_tokens()),
            share(self.tokens)
        )
    }

    /// The finding for a chain, if that is costly; `name` makes its name of "2 requests repeat".
    fn finding(&self, chain: &str, cause: Cause, name: impl FnOnce(&str) -> String) -> Option<Finding> {
        let Last { request, older, level, path, provider } = self.last.clone().filter(|_| self.is_costly())?;
        let uncovered_tokens = self.uncovered_tokens();
        let name = name(&match self.requests {
            1 => "1 request repeats".to_owned(),
            requests => format!("{requests} requests repeat"),
        });
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
            site: ChangeSite::new(cause, level, path, name),
            provider,
            breaks_prefix: true,
            loss: Some(loss),
            windows: None,
            strip: Vec::new(),
        })
    }
}

/// One sentence for all chains of one sort.
fn told<'a>(chains: impl Iterator<Item = &'a Kept>, what: impl Fn(&Kept) -> String) -> Option<String> {
    let chains: Vec<&Kept> = chains.collect();
    let longest = chains.iter().max_by_key(|kept| kept.longest)?;
    let requests: usize = chains.iter().map(|kept| kept.requests).sum();
    let whose = match chains.as_slice() {
        [only] => quoted(&only.name),
        [first, more @ ..] => format!("{} and {} more chains", quoted(&first.name), more.len()),
        [] => return None,
    };
    Some(format!("The {requests} requests of {whose} {}", what(longest)))
}
