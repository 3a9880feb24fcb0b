//! Blocks that share their future uses, and the cheapest way to have them in the cache when they are used.
//!
//! A timeline is a list of uses, newest first. A stretch of blocks joins it with the number of its uses: the newest so
//! many. The cheapest way is found backwards over the uses once for all of them, since at each use their futures are
//! the same; then tokens are led forward in three heaps, by what the cache holds of them.

use forkcast_sim::pricing::{Category, Rates};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{Ttl, Usage};

/// Lifetimes, and whether pings may bridge what they do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub slack: Duration,
    pub pings: bool,
}

/// A request, as far as blocks are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub at: Instant,
    pub prices: Prices,
    /// Somebody unseen has written what is new in it.
    pub warm: bool,
}

/// Prices of one token in 10⁻¹² USD, scaled so that fractions count; they decide, they do not bill.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prices {
    input: i128,
    write: [i128; 2],
    read: i128,
}

const SCALE: i128 = 1 << 20;

impl Prices {
    /// A request that enters no bill, or whose model has no price, is free.
    pub fn new(rates: Option<&Rates>) -> Self {
        let Some(rates) = rates else { return Self::default() };
        let price = |category| {
            let rate = rates.per_token(category);
            rate.numerator.saturating_mul(SCALE) / rate.denominator.max(1)
        };
        Self {
            input: price(Category::Input),
            write: [price(Category::Write5m), price(Category::Write1h)],
            read: price(Category::Read),
        }
    }
}

/// What the cache holds of a block: nothing, or an entry of one of the two lifetimes.
const STATES: usize = 3;
const NOTHING: usize = 0;
const LONGEST: usize = 2;
const LIFETIMES: [Ttl; 2] = [Ttl::FiveMinutes, Ttl::OneHour];

/// The fate of a block at a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Read,
    Input,
    /// Written for one of [`LIFETIMES`].
    Write(usize),
}

impl Act {
    const fn leaves(self, state: usize) -> usize {
        match self {
            Self::Read | Self::Input => state,
            Self::Write(lifetime) => lifetime + 1,
        }
    }
}

/// How a block comes from one use to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Passage {
    /// Pings between the uses; each reads the block.
    pings: u32,
    /// What the cache holds of it then.
    state: usize,
}

/// One use as the cheapest way has it.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// By what the cache holds when the use comes.
    acts: [Act; STATES],
    /// By what the cache held after the use before.
    passages: [Passage; STATES],
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    /// Numbers of uses, newest first.
    uses: Vec<u32>,
    joins: Vec<(usize, u64)>,
}

impl Timeline {
    /// Blocks that one request alone has used so far.
    pub fn of(number: u32) -> Self {
        Self { uses: vec![number], joins: Vec::new() }
    }

    /// Blocks of this many tokens have all uses that are known so far.
    pub fn join(&mut self, tokens: u64) {
        if tokens > 0 && !self.uses.is_empty() {
            self.joins.push((self.uses.len(), tokens));
        }
    }

    /// The timeline of the blocks before a fork. The timelines after it are joined if all but one ended before that one began;
    /// otherwise they end here (in `ended`), and a new one begins with the uses of all.
    pub fn merge(mut parts: Vec<Self>, ended: &mut Vec<Self>) -> Self {
        parts.retain(|part| !part.uses.is_empty());
        parts.sort_by_key(|part| part.uses.last().copied());
        let Some(mut last) = parts.pop() else { return Self::default() };
        let began = last.uses.last().copied();
        let mut others: Vec<u32> = parts.iter().flat_map(|part| part.uses.iter().copied()).collect();
        others.sort_unstable_by(|a, b| b.cmp(a));
        if others.first().copied() < began {
            last.uses.extend(others);
        } else {
            let mut uses = last.uses.clone();
            uses.extend(others);
            uses.sort_unstable_by(|a, b| b.cmp(a));
            parts.push(std::mem::replace(&mut last, Self { uses, joins: Vec::new() }));
        }
        ended.extend(parts.into_iter().filter(|part| !part.joins.is_empty()));
        last
    }

    /// Adds to each request's share what the blocks of this timeline cost there.
    pub fn settle(&self, uses: &[Use], policy: Policy, shares: &mut [Usage]) {
        let steps = self.steps(uses, policy);
        let mut joins = self.joins.iter().rev().peekable();
        let mut heaps = [0_u64; STATES];
        for (at, number) in self.uses.iter().enumerate().rev() {
            let mut arrived = [0_u64; STATES];
            for (state, tokens) in heaps.into_iter().enumerate().filter(|(_, tokens)| *tokens > 0) {
                let passage = steps[at].passages[state];
                arrived[passage.state] += tokens;
                if let Some(before) = self.uses.get(at + 1) {
                    shares[*before as usize].cache_read_input_tokens += tokens * u64::from(passage.pings);
                }
            }
            while let Some((_, tokens)) = joins.next_if(|(count, _)| *count == at + 1) {
                // They may have been written for the longer lifetime.
                arrived[if uses[*number as usize].warm { LONGEST } else { NOTHING }] += tokens;
            }
            heaps = [0; STATES];
            for (state, tokens) in arrived.into_iter().enumerate().filter(|(_, tokens)| *tokens > 0) {
                let act = steps[at].acts[state];
                heaps[act.leaves(state)] += tokens;
                let share = &mut shares[*number as usize];
                *match act {
                    Act::Read => &mut share.cache_read_input_tokens,
                    Act::Input => &mut share.input_tokens,
                    Act::Write(0) => &mut share.ephemeral_5m_input_tokens,
                    Act::Write(_) => &mut share.ephemeral_1h_input_tokens,
                } += tokens;
            }
        }
    }

    /// The cheapest way, in step with the uses.
    fn steps(&self, uses: &[Use], policy: Policy) -> Vec<Step> {
        // What one token costs after the use at hand, by what the cache then holds of it.
        let mut future = [0_i128; STATES];
        let mut steps = Vec::with_capacity(self.uses.len());
        for (at, number) in self.uses.iter().enumerate() {
            let this = uses[*number as usize];
            let (acts, costs) = cheapest(&this.prices, &future);
            let mut step = Step { acts, passages: [Passage::default(); STATES] };
            if let Some(before) = self.uses.get(at + 1).map(|before| uses[*before as usize]) {
                let gap = this.at.since(before.at);
                for (state, (passage, cost)) in step.passages.iter_mut().zip(&mut future).enumerate() {
                    (*passage, *cost) = pass(state, gap, before.prices.read, &costs, policy);
                }
            }
            steps.push(step);
        }
        steps
    }
}

/// The cheapest act at a use, by what the cache holds of a block, and what it costs from there on.
fn cheapest(prices: &Prices, future: &[i128; STATES]) -> ([Act; STATES], [i128; STATES]) {
    let mut acts = [Act::Input; STATES];
    let mut costs = [0; STATES];
    for state in 0..STATES {
        let read = (state != NOTHING).then_some((Act::Read, prices.read));
        let others = [(Act::Input, prices.input), (Act::Write(0), prices.write[0]), (Act::Write(1), prices.write[1])];
        let all = read.into_iter().chain(others).map(|(act, price)| (price + future[act.leaves(state)], act));
        if let Some((cost, act)) = all.min_by_key(|(cost, _)| *cost) {
            (costs[state], acts[state]) = (cost, act);
        }
    }
    (acts, costs)
}

/// What becomes of an entry over a gap, and what the block costs from there on.
fn pass(state: usize, gap: Duration, read: i128, costs: &[i128; STATES], policy: Policy) -> (Passage, i128) {
    let lost = (Passage::default(), costs[NOTHING]);
    let Some(lifetime) = state.checked_sub(1).and_then(|at| LIFETIMES.get(at)) else { return lost };
    let lifetime = lifetime.duration() + policy.slack;
    let kept = |pings: u32| (Passage { pings, state }, costs[state] + read * i128::from(pings));
    if gap <= lifetime {
        return kept(0);
    }
    let pings = u32::try_from(gap.0.div_ceil(lifetime.0.max(1)) - 1).unwrap_or(u32::MAX);
    let kept = kept(pings);
    if policy.pings && kept.1 < lost.1 { kept } else { lost }
}
