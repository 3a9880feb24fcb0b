//! The range of the forecast: the cost that unforeseeable misses may add.

use forkcast_replay::replay::{Options, replay};
use forkcast_sim::pricing::{Bill, Category, Money};
use forkcast_sim::service::{CostRange, Entry};

use super::{SOURCES, data, inputs};

fn input_cost(bill: &Bill) -> i128 {
    let lines = bill.lines.iter().filter(|line| line.category != Category::Output);
    lines.map(|line| line.cost).sum::<Money>().picousd()
}

/// What the input of a compared request cost, and what was predicted.
fn costs(entry: &Entry) -> Option<(i128, i128)> {
    entry.comparison.as_ref().ok()?;
    let line = &entry.line;
    Some((input_cost(line.charge.bill.as_ref()?), input_cost(line.predicted_bill.as_ref()?)))
}

#[test]
fn the_recorded_cost_is_within_the_range_on_most_sources() {
    let Some(data) = data() else { return };
    let mut inside = 0;
    println!("{:<32} {:>9} {:>9} {:>9}   of the predicted input cost", "", "recorded", "low", "high");
    for source in SOURCES {
        let result = replay(&inputs(source, &data), &Options::default());
        let (recorded, predicted) =
            result.entries.iter().filter_map(costs).fold((0, 0), |sums, (is, was)| (sums.0 + is, sums.1 + was));
        let ranges = || result.entries.iter().filter_map(|entry| entry.unforeseen);
        let sum = |end: fn(CostRange) -> Money| ranges().map(end).sum::<Money>().picousd();
        let (low, high) = (sum(|range| range.low), sum(|range| range.high));
        let error = recorded - predicted;
        let share = |part: i128| 100.0 * part as f64 / predicted as f64;
        println!("{source:<32} {:>+7.2} % {:>+7.2} % {:>+7.2} %", share(error), share(low), share(high));
        assert!(0 <= low && low <= high, "{source}");
        inside += u32::from((low..=high).contains(&error));
    }
    assert!(inside >= 3, "inside on {inside} of {} sources", SOURCES.len());
}
