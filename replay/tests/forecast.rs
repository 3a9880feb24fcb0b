//! Forecast and explanation of recorded sessions, compared with the provider's reports.
//!
//! `cargo test -p forkcast-replay forecast:: -- --nocapture` prints the tables.

use std::collections::BTreeMap;
use std::path::Path;

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::rebuild::profile::{Version, version};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_sim::service::{Compared, Entry, Fidelity, Step, input_cost};
use forkcast_sim::wire::Usage;

use crate::places::data;

mod ablation;
mod causes;
mod diagnosis;
mod laws;
mod others;
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

/// One way of predicting, measured.
#[derive(Clone, Default)]
struct Measure {
    sums: Fidelity,
    /// Recorded and predicted cost of each session.
    sessions: BTreeMap<(usize, usize), (i128, i128)>,
}

impl Measure {
    fn add(&mut self, session: (usize, usize), compared: &Compared, predicted: &Usage) {
        self.sums.add(compared, predicted);
        let sums = self.sessions.entry(session).or_default();
        *sums = (sums.0 + input_cost(&compared.recorded_usage), sums.1 + input_cost(predicted));
    }

    fn within(&self, share: f64) -> f64 {
        let close = |(recorded, predicted): &&(i128, i128)| (*predicted as f64 / *recorded as f64 - 1.0).abs() <= share;
        self.sessions.values().filter(close).count() as f64 / self.sessions.len() as f64
    }

    fn row(&self, name: &str) {
        let sums = &self.sums;
        let percent = |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.2} %", 100.0 * share));
        let cells = [
            sums.requests.to_string(),
            percent(sums.verdict()),
            percent(sums.verdict_when_ready()),
            sums.hit_rate_points().map_or("–".to_owned(), |points| format!("{points:+.2}")),
            percent(sums.cost_error()),
            percent(sums.absolute()),
            percent((!self.sessions.is_empty()).then(|| self.within(0.03))),
            sums.precision().map_or("–".to_owned(), |share| format!("{share:.3}")),
            sums.recall().map_or("–".to_owned(), |share| format!("{share:.3}")),
            sums.came.to_string(),
        ];
        println!("{name:<38}{}", cells.map(|cell| format!("{cell:>10}")).concat());
    }
}

/// The forecast and the naive rule over the same requests: all, by class, by version.
#[derive(Clone, Default)]
struct Table {
    all: [Measure; 2],
    classes: BTreeMap<Step, [Measure; 2]>,
    versions: BTreeMap<&'static str, [Measure; 2]>,
}

impl Table {
    fn heading() {
        let columns = ["n", "verdict", "ready", "points", "cost", "abs", "3 %", "precision", "recall", "misses"];
        println!("{:<38}{}", "", columns.map(|column| format!("{column:>10}")).concat());
    }

    /// Adds the comparable requests of a source.
    fn add(&mut self, result: &Replay, inputs: &Inputs, source: usize) {
        let sessions = inputs.sessions.all();
        for Entry { line, comparison, answer, .. } in &result.entries {
            let (Ok(compared), Some(answer)) = (comparison, answer) else { continue };
            let (step, naive) = (compared.step.unwrap(), compared.naive_usage.unwrap());
            let item = &sessions[answer.session].agents[answer.agent].thread.items[answer.item];
            let band = band(item.answer().and_then(|answer| answer.version.as_deref()));
            let parts = [&mut self.all, self.classes.entry(step).or_default(), self.versions.entry(band).or_default()];
            for [forecast, without_rules] in parts {
                forecast.add((source, line.session), compared, &compared.predicted_usage);
                without_rules.add((source, line.session), compared, &naive);
            }
        }
    }

    fn print(&self, name: &str) {
        let classes = self.classes.iter().map(|(step, pair)| (format!("  {}", step.word()), pair));
        let versions = self.versions.iter().map(|(band, pair)| (format!("  {band}"), pair));
        let versions = versions.filter(|_| self.versions.len() > 1);
        for (name, [forecast, naive]) in std::iter::once((name.to_owned(), &self.all)).chain(classes).chain(versions) {
            forecast.row(&name);
            naive.row(&format!("{:width$}naive", "", width = name.len() - name.trim_start().len() + 2));
        }
    }
}

/// The versions of Claude Code in bands, by their last version.
const BANDS: [(Version, &str); 5] = [
    ((2, 1, 37), "to 2.1.37"),
    ((2, 1, 63), "2.1.38 to 2.1.63"),
    ((2, 1, 111), "2.1.64 to 2.1.111"),
    ((2, 1, 159), "2.1.112 to 2.1.159"),
    ((2, 1, 199), "2.1.160 to 2.1.199"),
];

fn band(spelled: Option<&str>) -> &'static str {
    let Some(of) = spelled.map(version) else { return "no version" };
    BANDS.iter().find(|(last, _)| of <= *last).map_or("from 2.1.200", |(_, name)| *name)
}

fn inputs(source: &str, data: &Path) -> Inputs {
    Inputs::read(&[data.join(source)], InputFormat::Auto).unwrap()
}

#[test]
fn the_forecast_agrees_with_recorded_sessions() {
    let Some(data) = data() else { return };
    Table::heading();
    let mut all = Table::default();
    for (number, source) in SOURCES.iter().enumerate() {
        let inputs = inputs(source, &data);
        let result = replay(&inputs, &Options::default());
        let mut own = Table::default();
        own.add(&result, &inputs, number);
        all.add(&result, &inputs, number);
        own.print(source);
        let [forecast, naive] = own.all.map(|measure| measure.sums.absolute().unwrap());
        assert!(forecast <= naive + 0.005, "{source}: the rules are worse than none");
    }
    all.print("all");
    let [Measure { sums, .. }, _] = &all.all;
    assert!(sums.verdict_when_ready().unwrap() >= 0.994, "verdict");
    assert!(sums.hit_rate_points().unwrap().abs() <= 0.25, "hit rate");
    assert!(sums.absolute().unwrap() <= 0.03, "input cost");
    assert!(all.all[0].within(0.03) >= 0.78, "sessions within 3 %");
    assert!(sums.precision().unwrap() >= 0.95, "foreseen misses that came");
    assert!(sums.recall().unwrap() >= 0.8, "misses that were foreseen");
}
