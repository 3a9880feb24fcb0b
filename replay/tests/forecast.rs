//! Forecast and explanation of recorded sessions, compared with the provider's reports.
//!
//! `cargo test -p forkcast-replay forecast:: -- --nocapture` prints the tables.

use std::collections::BTreeMap;
use std::path::Path;

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Bill, Category, Money};
use forkcast_sim::service::Entry;
use forkcast_sim::wire::Usage;

use crate::places::data;

mod ablation;
mod diagnosis;
mod laws;
mod residual;

const SOURCES: [&str; 5] =
    ["cc-entireio-cli", "cc-packmind-context-evaluator", "cc-oh-my-posh", "cc-marot-spotter", "cc-agentv"];

/// One way of predicting, measured.
#[derive(Default)]
struct Measure {
    comparable: u64,
    same_verdict: u64,
    recorded: Usage,
    predicted: Usage,
    recorded_cost: i128,
    predicted_cost: i128,
    sessions: BTreeMap<usize, (i128, i128)>,
}

impl Measure {
    fn add(&mut self, session: usize, verdicts: bool, usages: (Usage, Usage), costs: (i128, i128)) {
        self.comparable += 1;
        self.same_verdict += u64::from(verdicts);
        self.recorded += usages.0;
        self.predicted += usages.1;
        self.recorded_cost += costs.0;
        self.predicted_cost += costs.1;
        let sums = self.sessions.entry(session).or_default();
        *sums = (sums.0 + costs.0, sums.1 + costs.1);
    }

    fn verdict(&self) -> f64 {
        self.same_verdict as f64 / self.comparable as f64
    }

    fn hit_rate_points(&self) -> f64 {
        100.0 * (self.predicted.hit_rate().unwrap_or(0.0) - self.recorded.hit_rate().unwrap_or(0.0))
    }

    fn cost_error(&self) -> f64 {
        self.predicted_cost as f64 / self.recorded_cost as f64 - 1.0
    }

    fn within(&self, share: f64) -> f64 {
        let close = |(recorded, predicted): &&(i128, i128)| (*predicted as f64 / *recorded as f64 - 1.0).abs() <= share;
        self.sessions.values().filter(close).count() as f64 / self.sessions.len() as f64
    }

    fn row(&self, name: &str) {
        println!(
            "{name:<32} {:>6}  {:>6.2} %  {:>+6.2}  {:>+6.2} %  {:>5.1} %  {:>5.1} %",
            self.comparable,
            100.0 * self.verdict(),
            self.hit_rate_points(),
            100.0 * self.cost_error(),
            100.0 * self.within(0.03),
            100.0 * self.within(0.10),
        );
    }
}

fn input_cost(bill: &Bill) -> i128 {
    let lines = bill.lines.iter().filter(|line| line.category != Category::Output);
    lines.map(|line| line.cost).sum::<Money>().picousd()
}

fn inputs(source: &str, data: &Path) -> Inputs {
    Inputs::read(&[data.join(source)], InputFormat::Auto).unwrap()
}

fn read(source: &str, data: &Path) -> Replay {
    replay(&inputs(source, data), &Options::default())
}

fn measure(result: &Replay, into: &mut Measure) {
    for Entry { line, comparison, .. } in &result.entries {
        let Ok(compared) = comparison else { continue };
        let costs = costs(line);
        let usages = (compared.recorded_usage, compared.predicted_usage);
        into.add(line.session, compared.recorded == compared.predicted, usages, costs);
    }
}

fn costs(line: &Line) -> (i128, i128) {
    let recorded = line.charge.bill.as_ref().map_or(0, input_cost);
    (recorded, line.predicted_bill.as_ref().map_or(0, input_cost))
}

#[test]
fn the_forecast_agrees_with_recorded_sessions() {
    let Some(data) = data() else { return };
    println!("{:<32} {:>6}  {:>8}  {:>6}  {:>8}  {:>7}  {:>7}", "", "n", "verdict", "points", "cost", "3 %", "10 %");
    let mut all = Measure::default();
    for (number, source) in SOURCES.iter().enumerate() {
        let result = read(source, &data);
        let mut own = Measure::default();
        measure(&result, &mut own);
        own.row(source);
        let mut result = result;
        result.entries.iter_mut().for_each(|entry| entry.line.session += number * 10_000);
        measure(&result, &mut all);
    }
    all.row("all");
    assert!(all.verdict() >= 0.994, "verdict");
    assert!(all.hit_rate_points().abs() <= 0.25, "hit rate");
    assert!(all.cost_error().abs() <= 0.025, "input cost");
    assert!(all.within(0.03) >= 0.80, "sessions within 3 %");
}

#[test]
fn shortfalls_have_causes() {
    let Some(data) = data() else { return };
    let mut by_cause: BTreeMap<Cause, (u64, u64, i128)> = BTreeMap::new();
    for source in SOURCES {
        let result = read(source, &data);
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
    assert!(unexplained as f64 <= 0.10 * whole as f64, "more than a tenth of the money is unexplained");
}
