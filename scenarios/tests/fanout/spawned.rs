//! Named agents against a second, slow emulator that shares no code with the runtime, the cache and the bill: a list of
//! entries, a list of agents, and the earliest request first.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_scenarios::fanout::{Cell, Spawn, play};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::cache::{PRESETS, minimum_tokens};
use forkcast_sim::pricing::{Category, ModelKey, PriceBook, Terms};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::{Ttl, model};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

/// All placements but the one that marks a part of a turn, whose size no cell declares.
const PLACEMENTS: [Placement; 7] = [
    Placement::None,
    Placement::System,
    Placement::Shared,
    Placement::Tail,
    Placement::Both,
    Placement::TailPrevious,
    Placement::Client2026,
];

const MODELS: [&str; 4] = ["claude-opus-5-5", "claude-opus-4-8", "claude-haiku-4-5", "claude-fable-5-1"];

/// Sums over all agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    read: u64,
    written: u64,
    fresh: u64,
    picousd: i128,
    makespan_ns: u64,
}

/// An agent: requests sent, and when it sends the next one.
struct Agent {
    sent: u64,
    next: Option<u64>,
}

struct Twin<'a> {
    cell: &'a Cell,
    spawn: Spawn,
    /// When an entry can be read, by the agent whose prefix it is (none for what all share) and its length.
    entries: BTreeMap<(Option<usize>, u64), u64>,
    agents: Vec<Agent>,
    /// First bytes of first requests.
    first_bytes: Vec<Option<u64>>,
    /// When agents ended.
    ends: Vec<Option<u64>>,
    sums: Sums,
}

impl Twin<'_> {
    fn head(&self) -> u64 {
        self.spawn.system + self.spawn.tools
    }

    /// Tokens that the first `turns` turns added.
    fn grown(&self, turns: u64) -> u64 {
        let gathering = u64::from(self.spawn.gathering_turns);
        let gathered = |turn: u64| {
            let rest = u64::from(turn < self.spawn.gathered % gathering);
            self.spawn.gathered / gathering + rest
        };
        (0..turns).map(|turn| if turn < gathering { gathered(turn) } else { self.cell.growth }).sum()
    }

    fn length(&self, turn: u64) -> u64 {
        self.head() + self.spawn.brief + self.grown(turn)
    }

    /// Lengths of the marked prefixes.
    fn marks(&self, turn: u64) -> Vec<u64> {
        let is_last = self.cell.leaves_last && turn + 1 == self.cell.requests();
        let before = (turn > 0).then(|| self.length(turn - 1));
        let tail = if is_last { before } else { Some(self.length(turn)) };
        let head = Some(self.head());
        let marks = match (self.cell.placement, turn) {
            (Placement::None, _) => [None, None],
            (Placement::Shared, 0) => [head, None],
            (Placement::Both, 0) => [head, if is_last { None } else { tail }],
            (Placement::System, 0) => [head, None],
            (Placement::System | Placement::Client2026, _) => [head, tail],
            (Placement::TailPrevious, _) => [before, tail],
            _ => [None, tail],
        };
        let least = minimum_tokens(model::resolve(&self.cell.model).map(|resolved| resolved.id));
        marks.into_iter().flatten().filter(|length| *length >= least).collect()
    }

    /// Sends the next request of an agent; returns when its first byte arrives, and its end.
    fn send(&mut self, agent: usize, now: u64) -> (u64, u64) {
        let turn = self.agents[agent].sent;
        let marks = self.marks(turn);
        let marked = marks.iter().copied().max().unwrap_or(0);
        let is_mine = |(key, from): &(&(Option<usize>, u64), &u64)| {
            key.0.is_none_or(|owner| owner == agent) && key.1 <= marked && **from <= now
        };
        let read = self.entries.iter().filter(is_mine).map(|((_, length), _)| *length).max().unwrap_or(0);
        let (written, fresh) = (marked - read, self.length(turn) - marked);
        let first_byte = now + self.cell.pace.first_byte(read, written, fresh).0;
        for mark in marks {
            let owner = (mark > self.head()).then_some(agent);
            self.entries.entry((owner, mark)).or_insert(first_byte);
        }
        self.bill(read, written, fresh);
        (first_byte, first_byte + self.cell.pace.streaming(self.cell.output).0)
    }

    fn bill(&mut self, read: u64, written: u64, fresh: u64) {
        let book = PriceBook::built_in();
        let rates = book.rates(&ModelKey::from(&*self.cell.model), &Terms::default()).unwrap();
        let price = |category: Category, tokens: u64| {
            let rate = rates.per_token(category);
            assert_eq!(rate.denominator, 1, "list prices are whole");
            rate.numerator * i128::from(tokens)
        };
        let write = if self.cell.ttl == Ttl::OneHour { Category::Write1h } else { Category::Write5m };
        self.sums.read += read;
        self.sums.written += written;
        self.sums.fresh += fresh;
        self.sums.picousd += price(Category::Read, read)
            + price(write, written)
            + price(Category::Input, fresh)
            + price(Category::Output, self.cell.output);
    }

    /// When a waiting agent may start.
    fn start(&self, agent: usize) -> Option<u64> {
        let latest = |of: std::ops::Range<usize>| {
            let all: Option<Vec<u64>> = of.map(|other| self.first_bytes[other]).collect();
            all.map(|all| all.into_iter().max().unwrap_or(0))
        };
        match self.cell.launch {
            LaunchPolicy::Burst => Some(0),
            LaunchPolicy::Primed if agent == 0 => Some(0),
            LaunchPolicy::Primed => self.first_bytes[0],
            LaunchPolicy::Serial if agent == 0 => Some(0),
            LaunchPolicy::Serial => self.ends[agent - 1],
            LaunchPolicy::Stagger(span) => Some(span.0 * agent as u64),
            LaunchPolicy::Waves(size) => {
                let wave = agent / size as usize;
                if wave == 0 { Some(0) } else { latest((wave - 1) * size as usize..wave * size as usize) }
            }
        }
    }

    fn run(mut self) -> Sums {
        loop {
            for agent in 0..self.agents.len() {
                if self.agents[agent].sent == 0 && self.agents[agent].next.is_none() {
                    self.agents[agent].next = self.start(agent);
                }
            }
            let ready = self.agents.iter().enumerate().filter_map(|(at, agent)| Some((agent.next?, at))).min();
            let Some((now, agent)) = ready else { return self.sums };
            let (first_byte, end) = self.send(agent, now);
            if self.agents[agent].sent == 0 {
                self.first_bytes[agent] = Some(first_byte);
            }
            self.agents[agent].sent += 1;
            let is_over = self.agents[agent].sent == self.cell.requests();
            self.agents[agent].next = (!is_over).then_some(end);
            self.ends[agent] = is_over.then_some(end);
            self.sums.makespan_ns = self.sums.makespan_ns.max(end);
        }
    }
}

fn twin(cell: &Cell) -> Sums {
    let agents = (0..cell.children).map(|_| Agent { sent: 0, next: None }).collect();
    let nothing = vec![None; cell.children as usize];
    let spawn = cell.spawn.unwrap();
    Twin {
        cell,
        spawn,
        entries: BTreeMap::new(),
        agents,
        first_bytes: nothing.clone(),
        ends: nothing,
        sums: Sums::default(),
    }
    .run()
}

fn launches() -> impl Strategy<Value = LaunchPolicy> {
    prop_oneof![
        Just(LaunchPolicy::Burst),
        Just(LaunchPolicy::Primed),
        Just(LaunchPolicy::Serial),
        (1_u64..5_000).prop_map(|ms| LaunchPolicy::Stagger(Duration::from_millis(ms))),
        (1_u32..9).prop_map(LaunchPolicy::Waves),
    ]
}

prop_compose! {
    fn cells()(
        (children, turns) in (1_u32..14, 1_u32..7),
        (system, tools, brief) in (100_u64..4_000, 100_u64..9_000, 1_u64..3_000),
        (gathered, gathering_turns, growth, output) in (0_u64..9_000, 0_u32..5, 1_u64..4_000, 0_u64..500),
        (model, rules, placement) in (select(&MODELS[..]), select(&PRESETS[..]), select(&PLACEMENTS[..])),
        (launch, is_cold, is_hour, leaves_last) in (launches(), any::<bool>(), any::<bool>(), any::<bool>()),
    ) -> Cell {
        let gathered = if gathering_turns == 0 { 0 } else { gathered };
        Cell {
            children, turns, growth, output, rules, placement, launch, is_cold, leaves_last,
            spawn: Some(Spawn { system, tools, brief, gathered, gathering_turns }),
            model: model.into(),
            ttl: if is_hour { Ttl::OneHour } else { Ttl::FiveMinutes },
            ..Cell::default()
        }
    }
}

#[test]
fn spawns_under_every_launch_equal_an_independent_emulator_in_tokens_money_and_makespan() {
    let book = Rc::new(PriceBook::built_in());
    let launched = std::cell::RefCell::new(BTreeMap::<String, u32>::new());
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&cells(), |cell| {
        let outcome = play(&cell, &book).unwrap();
        let usage = outcome.usage;
        let sums = Sums {
            read: usage.cache_read_input_tokens,
            written: usage.cache_creation_input_tokens(),
            fresh: usage.input_tokens,
            picousd: outcome.cost.unwrap().picousd(),
            makespan_ns: outcome.makespan.0,
        };
        prop_assert_eq!(sums, twin(&cell));
        let launch = cell.launch.name();
        *launched.borrow_mut().entry(launch.split('=').next().unwrap().to_owned()).or_default() += 1;
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let launched = launched.into_inner();
    assert!(launched.len() == 5 && launched.values().all(|cells| *cells > 30), "{launched:?}");
}
