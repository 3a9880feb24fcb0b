//! The interval beside the forecast, and what misses without a sign add to it.

use std::collections::BTreeMap;
use std::path::Path;

use forkcast_replay::rebuild::forecast::INTERVAL_PER_MILLE;
use forkcast_replay::replay::{Options, replay};
use forkcast_sim::service::input_cost;

use super::{SOURCES, data, inputs};

/// What each session of a source cost, as a part of its forecast, less one; in order.
fn errors(source: &str, data: &Path) -> Vec<f64> {
    let mut sessions: BTreeMap<usize, (i128, i128)> = BTreeMap::new();
    for entry in &replay(&inputs(source, data), &Options::default()).entries {
        let Ok(compared) = &entry.comparison else { continue };
        let sums = sessions.entry(entry.line.session).or_default();
        sums.0 += input_cost(&compared.recorded_usage);
        sums.1 += input_cost(&compared.predicted_usage);
    }
    let error = |(recorded, predicted): &(i128, i128)| *recorded as f64 / *predicted as f64 - 1.0;
    let mut errors: Vec<f64> = sessions.values().map(error).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// The ends of the middle nine tenths.
fn interval(errors: &[f64]) -> (f64, f64) {
    let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
    (at(0.05), at(0.95))
}

fn inside(errors: &[f64], (low, high): (f64, f64)) -> usize {
    errors.iter().filter(|error| (low..=high).contains(*error)).count()
}

#[test]
fn nine_of_ten_sessions_are_in_an_interval_that_was_measured_on_other_sources() {
    let Some(data) = data() else { return };
    let all = SOURCES.map(|source| errors(source, &data));
    let (low, high) = INTERVAL_PER_MILLE;
    let built_in = (low as f64 / 1_000.0, high as f64 / 1_000.0);
    let mut counts = [0; 3];
    for (at, errors) in all.iter().enumerate() {
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        let mut others: Vec<f64> = others.flat_map(|(_, errors)| errors.clone()).collect();
        others.sort_by(f64::total_cmp);
        let range = interval(&others);
        let own = [errors.len(), inside(errors, range), inside(errors, built_in)];
        println!(
            "{:<32} {:>3} sessions, {:>3} in {:+.3}..{:+.3} of the others, {:>3} in the built-in interval",
            SOURCES[at], own[0], own[1], range.0, range.1, own[2],
        );
        counts = [counts[0] + own[0], counts[1] + own[1], counts[2] + own[2]];
    }
    for (name, inside) in [("left out", counts[1]), ("built in", counts[2])] {
        let share = inside as f64 / counts[0] as f64;
        println!("{name}: {share:.3} of {} sessions", counts[0]);
        assert!((0.87..=0.93).contains(&share), "{name}: {share}");
    }
}
