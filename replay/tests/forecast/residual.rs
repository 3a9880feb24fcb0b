//! The range of the forecast: the cost that unforeseeable misses may add.

use forkcast_replay::replay::{Options, replay};
use forkcast_sim::pricing::Money;
use forkcast_sim::service::CostRange;

use super::{Measure, SOURCES, data, inputs, measure};

#[test]
fn the_recorded_cost_is_within_the_range_on_most_sources() {
    let Some(data) = data() else { return };
    let mut inside = 0;
    println!("{:<32} {:>9} {:>9} {:>9}   of the predicted input cost", "", "recorded", "low", "high");
    for source in SOURCES {
        let result = replay(&inputs(source, &data), &Options::default());
        let mut own = Measure::default();
        measure(&result, &mut own);
        let ranges = || result.entries.iter().filter_map(|entry| entry.unforeseen);
        let sum = |end: fn(CostRange) -> Money| ranges().map(end).sum::<Money>().picousd();
        let (low, high) = (sum(|range| range.low), sum(|range| range.high));
        let error = own.recorded_cost - own.predicted_cost;
        let share = |part: i128| 100.0 * part as f64 / own.predicted_cost as f64;
        println!("{source:<32} {:>+7.2} % {:>+7.2} % {:>+7.2} %", share(error), share(low), share(high));
        assert!(0 <= low && low <= high, "{source}");
        inside += u32::from((low..=high).contains(&error));
    }
    assert!(inside >= 3, "inside on {inside} of {} sources", SOURCES.len());
}
