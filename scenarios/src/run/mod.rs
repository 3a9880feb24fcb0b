//! A run of a scenario and its results: agents as a tree, requests with their bills, events, laws.
//!
//! * `play`: runs the scenario through the simulation.
//! * [`agent`]: the agents; [`fork`]: data of those that are forks.
//! * [`request`]: every request with its ledger line.
//! * [`mod@remedy`]: policies that would have made it cheaper.

pub mod agent;
pub mod fork;
mod play;
pub mod remedy;
pub mod request;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use forkcast_sim::ledger::Line;
use forkcast_sim::model::scripted::Utterance;
use forkcast_sim::pricing::{Money, PriceBook};
use forkcast_sim::simulation::{Logged, Passage, Recount};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;
use forkcast_sim::wire::model::{Model, Tokenizer, resolve};

pub use agent::Agent;
pub use fork::Fork;
pub use play::{Options, Progress, Voices, play, play_script, play_watched};
pub use request::Request;

use crate::format::Scenario;
use crate::format::expect::Ends;
use crate::load;

/// The results of a scenario.
///
/// ```
/// use forkcast_scenarios::catalog;
/// use forkcast_scenarios::run::{Options, play};
///
/// let scenario = catalog::find("forks/fan-out").unwrap().read(&[])?;
/// let run = play(scenario, &Options::default());
/// assert!(run.agents.len() > 1 && run.totals().cost.is_some());
/// # Ok::<(), forkcast_scenarios::format::problem::Problems>(())
/// ```
#[derive(Debug)]
pub struct Run {
    /// The scenario.
    pub scenario: Scenario,
    /// How it was run.
    pub options: Options,
    /// Whether the scenario has everything that the run needs, so that it can be played again.
    pub is_repeatable: bool,
    /// The prices.
    pub book: Rc<PriceBook>,
    /// Digest over (instant, event).
    pub digest: u128,
    /// How it ended.
    pub ends: Ends,
    /// Why it did not finish.
    pub message: Option<String>,
    /// When it ended.
    pub makespan: Instant,
    /// All agents, parents before children.
    pub agents: Vec<Agent>,
    /// All requests, in sending order.
    pub requests: Vec<Request>,
    /// All events, in order.
    pub events: Vec<Logged>,
    /// All calls with their answers, in sending order, if they were kept.
    pub traffic: Vec<Passage>,
    /// The replies that were given, in order.
    pub utterances: Vec<Utterance>,
    /// User acts without a target, and what they looked for.
    pub idle: BTreeMap<usize, String>,
    /// The laws, and whether each held.
    pub laws: Vec<(&'static str, bool)>,
}

/// Sums over requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Number of requests.
    pub requests: u64,
    /// Their usage.
    pub usage: Usage,
    /// Their bill; `None` if none of them has a price.
    pub cost: Option<Money>,
    /// The cost of the same tokens without a cache.
    pub cost_without_cache: Option<Money>,
    /// The cost if each request had found an empty cache: read tokens are written instead.
    pub cost_cold: Option<Money>,
}

impl Run {
    /// Sums over all requests.
    pub fn totals(&self) -> Sums {
        Sums::of(self.requests.iter())
    }

    /// The number of requests that are longer than the window of their model: a provider would refuse them.
    pub fn beyond_window(&self) -> usize {
        let is_beyond = |line: &Line| {
            let window = resolve(&line.model).and_then(|resolved| resolved.id.row().window_tokens);
            line.billed().zip(window).is_some_and(|(usage, window)| usage.total_input_tokens() > window)
        };
        self.requests.iter().filter(|request| is_beyond(&request.line)).count()
    }

    /// Recounts the sizes of the requests' blocks.
    pub fn recount(&self) -> Recount {
        load::recount(&self.scenario)
    }

    /// Sums over the requests of each agent, in one pass.
    pub fn sums_of_agents(&self) -> Vec<Sums> {
        let mut requests: Vec<Vec<&Request>> = vec![Vec::new(); self.agents.len()];
        self.requests.iter().for_each(|request| requests[request.agent].push(request));
        requests.into_iter().map(|requests| Sums::of(requests.into_iter())).collect()
    }

    /// Parts of the prompt whose tokens the scenario declares.
    pub fn declared(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        self.scenario.prompt.sizes.unwrap_or_default().declared()
    }

    /// The tokenizers of the requested models.
    pub fn tokenizers(&self) -> BTreeSet<Tokenizer> {
        let models: BTreeSet<&str> = self.requests.iter().map(|request| request.line.model.as_str()).collect();
        models.into_iter().map(|model| Tokenizer::of(Model::resolve(model), model)).collect()
    }

    /// Models without a price, in order.
    pub fn unpriced(&self) -> BTreeSet<&str> {
        let lines = self.requests.iter().map(|request| &request.line);
        lines
            .filter(|line| line.billed().is_some() && line.charge.bill.is_none())
            .map(|line| line.model.as_str())
            .collect()
    }

    /// Whether every law held.
    pub fn laws_held(&self) -> bool {
        self.laws.iter().all(|(_, held)| *held)
    }

    /// Agents that `name` means: an id, a type, `type#2`, or a given name.
    pub fn agents_called<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (usize, &'a Agent)> {
        self.agents.iter().enumerate().filter(move |(_, agent)| agent.is_called(name))
    }
}

impl Sums {
    /// Sums over the given requests.
    pub fn of<'a>(requests: impl Iterator<Item = &'a Request>) -> Self {
        requests.fold(Self::default(), |mut sums, request| {
            sums.requests += 1;
            sums.usage += request.usage();
            sums.cost = added(sums.cost, request.cost());
            sums.cost_without_cache = added(sums.cost_without_cache, request.cost_without_cache);
            sums.cost_cold = added(sums.cost_cold, request.cost_cold);
            sums
        })
    }
}

fn added(sum: Option<Money>, part: Option<Money>) -> Option<Money> {
    match (sum, part) {
        (None, part) => part,
        (sum, None) => sum,
        (Some(sum), Some(part)) => Some(sum + part),
    }
}
