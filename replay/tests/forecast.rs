//! Forecast and explanation of recorded sessions, compared with the provider's reports.
//!
//! `cargo test -p forkcast-replay forecast:: -- --nocapture` prints the tables.

use std::collections::BTreeMap;
use std::path::Path;

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::rebuild::profile::{HABITS, RuleSet};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;
use forkcast_sim::service::{Compared, Entry};
use forkcast_sim::wire::Usage;

use crate::places::data;

mod ablation;
mod diagnosis;
mod laws;
mod residual;

/// Sources of which the rules were written on some.
const SOURCES: [&str; 8] = [
    "cc-entireio-cli",
    "cc-packmind-context-evaluator",
    "cc-oh-my-posh",
    "cc-marot-spotter",
    "cc-agentv",
    "cc-entire-git-sync",
    "cc-entire-skills",
    "cc-entire-auth-go",
];

/// Misses that were foreseen, that came, and both.
#[derive(Clone, Copy, Default)]
struct Misses {
    foreseen: u64,
    came: u64,
    both: u64,
}

impl Misses {
    fn add(&mut self, compared: &Compared) {
        let (came, foreseen) = (compared.missed(), compared.foresees_miss());
        self.foreseen += u64::from(foreseen);
        self.came += u64::from(came);
        self.both += u64::from(foreseen && came);
    }
}

/// One way of predicting, measured.
#[derive(Default)]
struct Measure {
    comparable: u64,
    same_verdict: u64,
    /// Requests that fell short by exactly the last write.
    unready: u64,
    recorded: Usage,
    predicted: Usage,
    recorded_cost: i128,
    predicted_cost: i128,
    /// Sum of the absolute errors of requests.
    absolute_error: i128,
    misses: Misses,
    sessions: BTreeMap<(usize, usize), (i128, i128)>,
}

impl Measure {
    fn add(&mut self, session: (usize, usize), compared: &Compared, before: Option<Usage>) {
        let (recorded, predicted) = (input_cost(&compared.recorded_usage), input_cost(&compared.predicted_usage));
        self.comparable += 1;
        self.same_verdict += u64::from(compared.recorded == compared.predicted);
        self.recorded += compared.recorded_usage;
        self.predicted += compared.predicted_usage;
        self.recorded_cost += recorded;
        self.predicted_cost += predicted;
        self.absolute_error += (recorded - predicted).abs();
        let sums = self.sessions.entry(session).or_default();
        *sums = (sums.0 + recorded, sums.1 + predicted);
        self.misses.add(compared);
        let Some(before) = before else { return };
        let read = compared.recorded_usage.cache_read_input_tokens;
        let written = before.cache_creation_input_tokens();
        self.unready += u64::from(written > 64 && read == before.cache_read_input_tokens);
    }

    fn verdict(&self) -> f64 {
        self.same_verdict as f64 / self.comparable as f64
    }

    /// The same without requests that fell short by exactly the last write.
    fn verdict_when_ready(&self) -> f64 {
        self.same_verdict as f64 / (self.comparable - self.unready) as f64
    }

    fn hit_rate_points(&self) -> f64 {
        100.0 * (self.predicted.hit_rate().unwrap_or(0.0) - self.recorded.hit_rate().unwrap_or(0.0))
    }

    fn cost_error(&self) -> f64 {
        self.predicted_cost as f64 / self.recorded_cost as f64 - 1.0
    }

    fn absolute(&self) -> f64 {
        self.absolute_error as f64 / self.recorded_cost as f64
    }

    fn precision(&self) -> f64 {
        self.misses.both as f64 / self.misses.foreseen as f64
    }

    fn recall(&self) -> f64 {
        self.misses.both as f64 / self.misses.came as f64
    }

    fn within(&self, share: f64) -> f64 {
        let close = |(recorded, predicted): &&(i128, i128)| (*predicted as f64 / *recorded as f64 - 1.0).abs() <= share;
        self.sessions.values().filter(close).count() as f64 / self.sessions.len() as f64
    }

    fn heading() {
        let columns = ["n", "verdict", "ready", "points", "cost", "abs", "3 %", "precision", "recall", "misses"];
        println!("{:<38}{}", "", columns.map(|column| format!("{column:>10}")).concat());
    }

    fn row(&self, name: &str) {
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let cells = [
            self.comparable.to_string(),
            percent(self.verdict()),
            percent(self.verdict_when_ready()),
            format!("{:+.2}", self.hit_rate_points()),
            percent(self.cost_error()),
            percent(self.absolute()),
            percent(self.within(0.03)),
            format!("{:.3}", self.precision()),
            format!("{:.3}", self.recall()),
            self.misses.came.to_string(),
        ];
        println!("{name:<38}{}", cells.map(|cell| format!("{cell:>10}")).concat());
    }
}

/// Cost of the input in hundredths of a token of plain input: the same for all models, as in `observed.md` 4.
fn input_cost(usage: &Usage) -> i128 {
    let parts = [
        (10, usage.cache_read_input_tokens),
        (100, usage.input_tokens),
        (125, usage.ephemeral_5m_input_tokens),
        (200, usage.ephemeral_1h_input_tokens),
    ];
    parts.into_iter().map(|(weight, tokens)| weight * i128::from(tokens)).sum()
}

fn inputs(source: &str, data: &Path) -> Inputs {
    Inputs::read(&[data.join(source)], InputFormat::Auto).unwrap()
}

/// Adds the comparable requests of a source.
fn measure(result: &Replay, source: usize, into: &mut Measure) {
    let mut left: BTreeMap<(usize, Option<usize>), Usage> = BTreeMap::new();
    for Entry { line, comparison, chain, .. } in &result.entries {
        let before = line.recorded.and_then(|usage| left.insert((line.session, *chain), usage));
        let Ok(compared) = comparison else { continue };
        into.add((source, line.session), compared, before);
    }
}

/// Rules without which nothing would be predicted: a sent prefix is read, within its lifetime, by the same model.
const NAIVE: [&str; 3] = ["full", "expired", "model_changed"];

fn naive() -> RuleSet {
    let habits = HABITS.iter().filter(|habit| !NAIVE.contains(&habit.rule.word()));
    habits.fold(RuleSet::default(), |set, habit| set.with(habit.rule))
}

#[test]
fn the_forecast_agrees_with_recorded_sessions() {
    let Some(data) = data() else { return };
    Measure::heading();
    let (mut all, mut without_rules) = (Measure::default(), Measure::default());
    for (number, source) in SOURCES.iter().enumerate() {
        let inputs = inputs(source, &data);
        let with = replay(&inputs, &Options::default());
        let without = replay(&inputs, &Options { left_out: naive(), ..Options::default() });
        let [mut own, mut plain] = [Measure::default(), Measure::default()];
        measure(&with, number, &mut own);
        measure(&without, number, &mut plain);
        own.row(source);
        plain.row("  without rules");
        assert!(own.absolute() <= plain.absolute() + 0.005, "{source}: the rules are worse than none");
        measure(&with, number, &mut all);
        measure(&without, number, &mut without_rules);
    }
    all.row("all");
    without_rules.row("  without rules");
    assert!(all.verdict_when_ready() >= 0.994, "verdict");
    assert!(all.hit_rate_points().abs() <= 0.25, "hit rate");
    assert!(all.absolute() <= 0.03, "input cost");
    assert!(all.within(0.03) >= 0.78, "sessions within 3 %");
    assert!(all.precision() >= 0.95, "foreseen misses that came");
    assert!(all.recall() >= 0.8, "misses that were foreseen");
}

#[test]
fn shortfalls_have_causes() {
    let Some(data) = data() else { return };
    let mut by_cause: BTreeMap<Cause, (u64, u64, i128)> = BTreeMap::new();
    for source in SOURCES {
        let result = replay(&inputs(source, &data), &Options::default());
        for Entry { line, evidence, .. } in &result.entries {
            for cause in &line.charge.causes {
                let sums = by_cause.entry(cause.cause).or_default();
                sums.0 += 1;
                sums.1 += cause.tokens;
                sums.2 += cause.cost.map_or(0, Money::picousd);
                assert!(evidence.is_some(), "a cause without the line that shows it");
            }
        }
    }
    let whole: i128 = by_cause.values().map(|sums| sums.2).sum();
    for (cause, (requests, tokens, cost)) in &by_cause {
        let share = 100.0 * *cost as f64 / whole as f64;
        println!("{:<20} {requests:>6} requests {tokens:>12} tokens {share:>6.2} %", cause.word());
    }
    let unexplained = by_cause.get(&Cause::Unexplained).map_or(0, |sums| sums.2);
    assert!(unexplained as f64 <= 0.08 * whole as f64, "more than 8 % of the money is unexplained");
}
