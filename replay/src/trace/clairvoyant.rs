//! The least that a conversation's prompts could have cost: for every block, and each time that it is sent, the best of not
//! caching it, five minutes and one hour, by somebody who knows what comes.
//!
//! A block is used by every request from the one that first sends it to the last that still begins with it. Sent without a live
//! entry it is plain input, or written for one of the lifetimes; with one it is read, which begins the lifetime anew and keeps its
//! length. Choosing block by block, with nothing to pay for where breakpoints would have to stand, makes this a bound below what
//! any placement of breakpoints reaches. With pings, a gap may be bridged by reads
//! nine tenths of the lifetime apart.

use forkcast_sim::pricing::{Category, Rates};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::{Ttl, Usage};

use super::turns::Path;
use super::{Conversation, Trace};

/// What a token costs, in any unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// As plain input.
    pub input: u64,
    /// Read.
    pub read: u64,
    /// Written for five minutes.
    pub write_5m: u64,
    /// Written for one hour.
    pub write_1h: u64,
}

impl Weights {
    /// Factors of Anthropic's price list in thousandths: 1, 0.1, 1.25 and 2 (prompt-caching page, 2026-09).
    pub const FACTORS: Self = Self { input: 1_000, read: 100, write_5m: 1_250, write_1h: 2_000 };

    /// The prices of a model, in 10⁻¹² USD for a million tokens.
    pub fn of(rates: &Rates) -> Self {
        let price = |category| u64::try_from(rates.line(category, 1_000_000).picousd()).unwrap_or(u64::MAX >> 16);
        Self {
            input: price(Category::Input),
            read: price(Category::Read),
            write_5m: price(Category::Write5m),
            write_1h: price(Category::Write1h),
        }
    }

    /// What a prompt of this usage costs; output is left out.
    pub fn cost(&self, usage: &Usage) -> u128 {
        let part = |weight: u64, tokens: u64| u128::from(weight) * u128::from(tokens);
        part(self.input, usage.input_tokens)
            + part(self.read, usage.cache_read_input_tokens)
            + part(self.write_5m, usage.ephemeral_5m_input_tokens)
            + part(self.write_1h, usage.ephemeral_1h_input_tokens)
    }

    /// What a block costs that is not read, and lives so long.
    const fn fresh(&self, state: State) -> u64 {
        match state {
            State::Plain => self.input,
            State::Lives(Ttl::FiveMinutes) => self.write_5m,
            State::Lives(Ttl::OneHour) => self.write_1h,
        }
    }
}

/// What became of a block when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is not in the cache.
    Plain,
    /// It is, for so long.
    Lives(Ttl),
}

const STATES: [State; 3] = [State::Plain, State::Lives(Ttl::FiveMinutes), State::Lives(Ttl::OneHour)];

/// One way to come to a state.
#[derive(Clone, Copy, Debug)]
struct Step {
    cost: u64,
    /// Index of the state before it.
    from: usize,
    /// The block was read, after so many pings; otherwise it was sent anew.
    read_after: Option<u64>,
}

/// The usage of each request that gives the least cost, pings counted with the request before them.
pub fn usages(trace: &Trace, conversation: &Conversation, weights: Weights, with_pings: bool) -> Vec<Usage> {
    let requests = &conversation.requests;
    let gaps: Vec<Duration> = requests.windows(2).map(|pair| pair[1].at.since(pair[0].at)).collect();
    let mut bound = Bound { weights, with_pings, gaps, usages: vec![Usage::default(); requests.len()] };
    let mut path = Path::default();
    // First use and last block of each run of blocks of the latest prompt.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        bound.close(&mut open, request.kept, at, &path);
        path.step(trace, request);
        if !request.added.is_empty() {
            open.push((at, request.blocks()));
        }
        // What no block tells is never seen again.
        let left = request.input_tokens.saturating_sub(path.tokens(request.blocks()));
        bound.usages[at].input_tokens = bound.usages[at].input_tokens.saturating_add(left);
    }
    bound.close(&mut open, 0, requests.len(), &path);
    bound.usages
}

struct Bound {
    weights: Weights,
    with_pings: bool,
    gaps: Vec<Duration>,
    usages: Vec<Usage>,
}

impl Bound {
    /// Blocks from `kept` on were used for the last time before request `end`.
    fn close(&mut self, open: &mut Vec<(usize, usize)>, kept: usize, end: usize, path: &Path) {
        while let Some((first, last)) = open.pop() {
            let start = open.last().map_or(0, |(_, last)| *last);
            if last <= kept {
                open.push((first, last));
                return;
            }
            self.settle(first, end, path.tokens(last).saturating_sub(path.tokens(start.max(kept))));
            if start < kept {
                open.push((first, kept));
                return;
            }
        }
    }

    /// Finds the best for `tokens` that the requests from `first` to before `end` sent.
    fn settle(&mut self, first: usize, end: usize, tokens: u64) {
        let gaps = self.gaps.get(first..end.saturating_sub(1)).unwrap_or_default();
        let mut steps = vec![STATES.map(|state| Step { cost: self.weights.fresh(state), from: 0, read_after: None })];
        for gap in gaps {
            let before = steps[steps.len() - 1];
            steps.push(std::array::from_fn(|state| self.step(&before, state, *gap)));
        }
        let mut state = cheapest(&steps[steps.len() - 1]);
        for (use_at, choices) in steps.iter().enumerate().rev() {
            let step = choices[state];
            self.bill(first + use_at, STATES[state], step.read_after, tokens);
            state = step.from;
        }
    }

    fn step(&self, before: &[Step; 3], state: usize, gap: Duration) -> Step {
        let best = cheapest(before);
        let fresh = before[best].cost.saturating_add(self.weights.fresh(STATES[state]));
        let anew = Step { cost: fresh, from: best, read_after: None };
        let Some(pings) = self.pings(STATES[state], gap) else { return anew };
        let reads = self.weights.read.saturating_mul(pings.saturating_add(1));
        let read = Step { cost: before[state].cost.saturating_add(reads), from: state, read_after: Some(pings) };
        if read.cost <= anew.cost { read } else { anew }
    }

    /// How many pings keep a block until the end of `gap`; `None` where it cannot be kept.
    fn pings(&self, state: State, gap: Duration) -> Option<u64> {
        let State::Lives(ttl) = state else { return None };
        let short = gap.0.saturating_sub(ttl.duration().0);
        let apart = ttl.duration().0 / 10 * 9;
        (short == 0 || self.with_pings).then(|| short.div_ceil(apart))
    }

    fn bill(&mut self, at: usize, state: State, read_after: Option<u64>, tokens: u64) {
        let add = |sum: &mut u64, tokens: u64| *sum = sum.saturating_add(tokens);
        let usage = &mut self.usages[at];
        match (read_after, state) {
            (Some(_), _) => add(&mut usage.cache_read_input_tokens, tokens),
            (None, State::Plain) => add(&mut usage.input_tokens, tokens),
            (None, State::Lives(Ttl::FiveMinutes)) => add(&mut usage.ephemeral_5m_input_tokens, tokens),
            (None, State::Lives(Ttl::OneHour)) => add(&mut usage.ephemeral_1h_input_tokens, tokens),
        }
        if let Some(before) = at.checked_sub(1).and_then(|before| self.usages.get_mut(before)) {
            add(&mut before.cache_read_input_tokens, tokens.saturating_mul(read_after.unwrap_or(0)));
        }
    }
}

fn cheapest(steps: &[Step; 3]) -> usize {
    (0..3).min_by_key(|state| steps[*state].cost).unwrap_or(0)
}
