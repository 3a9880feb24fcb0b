//! A recorded session beside its simulation, request by request.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::pricing::Money;
use forkcast_sim::service::{PriceFacts, RecordedUsage, Tariff, Verdict};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;

use super::otherwise::Otherwise;
use super::{Cast, Take};
use crate::format::expect::Ends;
use crate::run::{Request, Run};

/// A recorded request and the simulated one that got its answer; one of the two may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The recorded one.
    pub take: Option<&'a Take>,
    /// The simulated one: its index among the run's requests.
    pub request: Option<usize>,
    /// Tokens that the recorded request before it left in the cache: its reads and writes.
    pub expected_tokens: Option<u64>,
}

/// An answer that comes this much later or earlier departs from the recording.
pub const LATE_SECS: f64 = 20.0;

/// Why a simulation leaves its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Departure {
    /// A request has no answer in the recording.
    Unrecorded,
    /// A recorded answer was never asked for.
    NotAsked,
    /// An answer came this late or early.
    Late,
}

/// Both sides of a session.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The run.
    pub run: &'a Run,
    /// Requests in order of time, the recorded instant first.
    pub pairs: Vec<Pair<'a>>,
}

/// How far the simulation is from the recording, request by request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Requests with a usage on both sides.
    pub requests: u64,
    /// Those with the same verdict.
    pub same_verdict: u64,
    /// Sum of the absolute differences of their input.
    pub input_tokens: u64,
    /// Sum of the absolute differences of their reads.
    pub read_tokens: u64,
    /// Sum of the absolute differences of the cost of their input, as far as it is known.
    pub input_cost: Option<Money>,
}

/// How far runtime and `replay` are from the recording, over the requests that both foresee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forecasts {
    /// Requests that both foresee.
    pub requests: u64,
    /// Those with the recorded verdict, by the runtime.
    pub runtime_same_verdict: u64,
    /// Sum of the absolute differences of reads, by the runtime.
    pub runtime_read_tokens: u64,
    /// Those with the recorded verdict, by `replay`.
    pub replay_same_verdict: u64,
    /// Sum of the absolute differences of reads, by `replay`.
    pub replay_read_tokens: u64,
}

/// Sums of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Requests.
    pub requests: u64,
    /// Their usage.
    pub usage: Usage,
    /// The cost of their input, as far as it is known.
    pub input_cost: Option<Money>,
    /// The cost of input and output.
    pub cost: Option<Money>,
    /// When the last answer ended.
    pub ended_at: Instant,
}

/// A play of a session whose agents are built otherwise.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What is built otherwise.
    pub otherwise: Otherwise,
    /// Its sums.
    pub side: Side,
    /// Recorded answers that it does not ask for.
    pub left_out: u64,
    /// Requests of the main agent whose answer is not recorded.
    pub unknown: u64,
    /// How the run ended.
    pub ends: Ends,
}

impl Variant {
    /// The sums of `run`, which played the session of `recorded` otherwise; `cast` is what it played.
    pub fn new(otherwise: Otherwise, recorded: &Cast, cast: &Cast, run: &Run) -> Self {
        let comparison = Comparison::new(cast, run);
        let asked = comparison.pairs.iter().filter(|pair| pair.take.is_some() && pair.request.is_some()).count();
        let unknown = comparison.pairs.iter().filter(|pair| pair.take.is_none() && comparison.is_of_main(pair)).count();
        Self {
            otherwise,
            side: comparison.simulated(),
            left_out: recorded.takes.len().saturating_sub(asked) as u64,
            unknown: unknown as u64,
            ends: run.ends,
        }
    }
}

/// What one request is billed for.
struct Billed<'a> {
    model: &'a str,
    usage: Usage,
    /// What the recorded answer reported of its price.
    answer: Option<&'a RecordedUsage>,
    ended_at: Option<Instant>,
}

impl<'a> Comparison<'a> {
    /// Compares `run`, which played `cast`.
    pub fn new(cast: &'a Cast, run: &'a Run) -> Self {
        let mut given: BTreeMap<(&str, u32), Option<&str>> = BTreeMap::new();
        for utterance in &run.utterances {
            given.insert((&utterance.agent, utterance.turn), utterance.reply.as_deref());
        }
        let takes: BTreeMap<&str, &Take> = cast.takes.iter().map(|take| (&*take.reply, take)).collect();
        let expected = expected(cast);
        let pair = |take: Option<&'a Take>, request| Pair {
            take,
            request,
            expected_tokens: take.and_then(|take| expected.get(&*take.reply)).copied(),
        };
        let mut played = BTreeSet::new();
        let mut pairs = Vec::new();
        let last: BTreeMap<(usize, u32), usize> =
            run.requests.iter().enumerate().map(|(at, request)| ((request.agent, request.turn), at)).collect();
        for (at, request) in run.requests.iter().enumerate() {
            // A request that was given up or refused is followed by another one of the same turn.
            let is_answered = last.get(&(request.agent, request.turn)) == Some(&at);
            if !is_answered || request.usage().total_input_tokens() == 0 {
                continue;
            }
            let agent = &run.agents[request.agent];
            let reply = given.get(&(&*agent.id, request.turn)).copied().flatten();
            let take = reply.and_then(|reply| takes.get(reply).copied());
            if let Some(take) = take {
                played.insert(&*take.reply);
            }
            pairs.push(pair(take, Some(at)));
        }
        let missed = cast.takes.iter().filter(|take| !played.contains(&*take.reply));
        pairs.extend(missed.map(|take| pair(Some(take), None)));
        let when = |pair: &Pair<'_>| {
            let simulated = pair.request.and_then(|at| run.requests[at].line.at);
            pair.take.map(|take| take.sent_at).or(simulated)
        };
        pairs.sort_by_key(when);
        Self { run, pairs }
    }

    /// The simulated request of a pair.
    pub fn request(&self, pair: &Pair<'_>) -> Option<&Request> {
        self.run.requests.get(pair.request?)
    }

    /// How far the answer of a pair came from its recorded instant, in seconds; later is positive.
    pub fn delay_secs(&self, pair: &Pair<'_>) -> Option<f64> {
        let recorded = pair.take?.ended_at;
        let simulated = self.request(pair)?.ended_at?;
        Some((simulated.0 as f64 - recorded.0 as f64) / 1e9)
    }

    /// How much of what its agent's previous request left was read, as recorded.
    pub fn recorded_verdict(&self, pair: &Pair<'_>) -> Option<Verdict> {
        let usage = pair.take?.usage?;
        Some(Verdict::of(usage.cache_read_input_tokens, pair.expected_tokens))
    }

    /// The cost of the input of a pair, as recorded.
    pub fn recorded_cost(&self, pair: &Pair<'_>) -> Option<Money> {
        let take = pair.take?;
        self.input_cost(&take.model, &take.usage?, take.answer.as_ref())
    }

    /// The same as simulated, at the tier and speed that were recorded.
    pub fn simulated_cost(&self, pair: &Pair<'_>) -> Option<Money> {
        let request = self.request(pair)?;
        let answer = pair.take.and_then(|take| take.answer.as_ref());
        self.input_cost(&request.line.model, &request.usage(), answer)
    }

    /// Sums of the absolute differences of pairs with a usage on both sides.
    pub fn errors(&self) -> Errors {
        let mut errors = Errors::default();
        for pair in self.pairs.iter().filter(|pair| self.is_comparable(pair)) {
            let Some((usage, request)) = pair.take.and_then(|take| take.usage).zip(self.request(pair)) else {
                continue;
            };
            let simulated = request.usage();
            errors.requests += 1;
            errors.same_verdict += u64::from(self.recorded_verdict(pair) == Some(request.verdict));
            errors.input_tokens += usage.total_input_tokens().abs_diff(simulated.total_input_tokens());
            errors.read_tokens += usage.cache_read_input_tokens.abs_diff(simulated.cache_read_input_tokens);
            let costs = self.recorded_cost(pair).zip(self.simulated_cost(pair));
            let off = costs.map(|(one, other)| if one < other { other - one } else { one - other });
            errors.input_cost = added(errors.input_cost, off);
        }
        errors
    }

    /// The forecast by the runtime beside that of `replay`.
    pub fn forecasts(&self) -> Forecasts {
        let mut sums = Forecasts::default();
        for pair in self.pairs.iter().filter(|pair| self.is_comparable(pair)) {
            let recorded = pair.take.and_then(|take| Some((take.usage?.cache_read_input_tokens, take.foreseen_read?)));
            let Some(((recorded, foreseen), request)) = recorded.zip(self.request(pair)) else { continue };
            let verdict = self.recorded_verdict(pair);
            sums.requests += 1;
            sums.runtime_same_verdict += u64::from(verdict == Some(request.verdict));
            sums.replay_same_verdict += u64::from(verdict == Some(Verdict::of(foreseen, pair.expected_tokens)));
            sums.runtime_read_tokens += recorded.abs_diff(request.usage().cache_read_input_tokens);
            sums.replay_read_tokens += recorded.abs_diff(foreseen);
        }
        sums
    }

    /// Whether both sides of a pair have a usage, so that their sums are comparable.
    fn is_comparable(&self, pair: &Pair<'_>) -> bool {
        pair.take.is_some_and(|take| take.usage.is_some() && !take.copied)
    }

    /// The sum of the recorded side. Its outputs are those of the simulation, which has estimates where only the beginning of
    /// a stream was recorded.
    pub fn recorded(&self) -> Side {
        let takes = self.pairs.iter().filter(|pair| self.is_comparable(pair)).filter_map(|pair| pair.take);
        self.side(takes.filter_map(|take| {
            Some(Billed {
                model: &take.model,
                usage: Usage { output_tokens: take.output_tokens, ..take.usage? },
                answer: take.answer.as_ref(),
                ended_at: Some(take.ended_at),
            })
        }))
    }

    /// The sum of the simulated side: requests that are recorded, and those that are not.
    pub fn simulated(&self) -> Side {
        // Without any usage there is nothing to compare with, and all that was played counts.
        let is_measured = self.pairs.iter().any(|pair| self.is_comparable(pair));
        let counts = |take: &Take| (take.usage.is_some() || !is_measured) && !take.copied;
        let played = self.pairs.iter().filter(|pair| pair.take.is_none_or(counts));
        let of_recorded_agents = played.filter(|pair| pair.take.is_some() || self.is_of_main(pair));
        let billed = of_recorded_agents.filter_map(|pair| {
            let request = self.request(pair)?;
            Some(Billed {
                model: &request.line.model,
                usage: request.usage(),
                answer: pair.take.and_then(|take| take.answer.as_ref()),
                ended_at: request.ended_at,
            })
        });
        self.side(billed.filter(|billed| billed.usage.total_input_tokens() > 0))
    }

    fn is_of_main(&self, pair: &Pair<'_>) -> bool {
        self.request(pair).is_some_and(|request| request.agent == 0)
    }

    fn side<'m>(&self, all: impl Iterator<Item = Billed<'m>>) -> Side {
        let mut side = Side::default();
        for billed in all {
            side.requests += 1;
            side.usage += billed.usage;
            side.ended_at = billed.ended_at.map_or(side.ended_at, |at| at.max(side.ended_at));
            side.input_cost = added(side.input_cost, self.input_cost(billed.model, &billed.usage, billed.answer));
            side.cost = added(side.cost, self.cost(billed.model, &billed.usage, billed.answer));
        }
        side
    }

    /// The cost of this input, at the tier and speed of `answer`.
    pub fn input_cost(&self, model: &str, usage: &Usage, answer: Option<&RecordedUsage>) -> Option<Money> {
        self.cost(model, &Usage { output_tokens: 0, ..*usage }, answer)
    }

    fn cost(&self, model: &str, usage: &Usage, answer: Option<&RecordedUsage>) -> Option<Money> {
        let tariff = Tariff { book: &self.run.book, date: self.run.scenario.prices };
        let unknown = RecordedUsage::default();
        tariff.quote(&PriceFacts::answered(model, answer.unwrap_or(&unknown), None), usage).total(usage)
    }

    /// The first place where the simulation leaves the recording by more than `secs` seconds or by a request.
    pub fn departure(&self, secs: f64) -> Option<(Departure, &Pair<'a>)> {
        self.pairs.iter().find_map(|pair| {
            let departure = match (pair.take, pair.request) {
                (None, Some(_)) if !self.is_of_main(pair) => return None,
                (None, _) => Departure::Unrecorded,
                (Some(_), None) => Departure::NotAsked,
                (Some(_), Some(_)) if self.delay_secs(pair).is_some_and(|delay| delay.abs() > secs) => Departure::Late,
                (Some(_), Some(_)) => return None,
            };
            Some((departure, pair))
        })
    }
}

/// The sum of what is known.
fn added(sum: Option<Money>, part: Option<Money>) -> Option<Money> {
    sum.zip(part).map(|(sum, part)| sum + part).or(sum).or(part)
}

/// What the request before each take left in the cache, by the take's reply: that of its agent.
fn expected(cast: &Cast) -> BTreeMap<&str, u64> {
    let mut left: BTreeMap<&str, u64> = BTreeMap::new();
    let mut expected = BTreeMap::new();
    for take in &cast.takes {
        expected.extend(left.get(&*take.agent).map(|tokens| (&*take.reply, *tokens)));
        if let Some(usage) = take.usage {
            left.insert(&take.agent, usage.cache_read_input_tokens + usage.cache_creation_input_tokens());
        }
    }
    expected
}

/// An instant of a session in seconds.
pub fn secs(at: Instant) -> f64 {
    at.0 as f64 / 1e9
}
