//! The published example as a fan-out (`economics.md` 3.7).

use std::rc::Rc;

use forkcast_scenarios::fanout::{Cell, closed, play};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::cache::PRESETS;
use forkcast_sim::pricing::PriceBook;

#[test]
fn econ_07_econ_09_runs_and_formula_reproduce_the_published_table() {
    use LaunchPolicy::{Burst, Primed};
    // A model with reads at a tenth and writes at five quarters of its input price.
    let book = Rc::new(PriceBook::built_in());
    let table = [
        (Placement::Shared, [304_125, 81_025, 39_625, 28_125]),
        (Placement::Tail, [304_375, 304_375, 39_875, 39_875]),
        (Placement::Both, [304_375, 81_275, 39_875, 28_375]),
    ];
    let columns = [(true, Burst), (true, Primed), (false, Burst), (false, Primed)];
    for rules in PRESETS {
        for (placement, row) in table {
            for ((is_cold, launch), expected) in columns.into_iter().zip(row) {
                let model = "claude-opus-4-8".into();
                let cell = Cell { placement, is_cold, launch, rules, model, ..Cell::default() };
                let outcome = play(&cell, &book).unwrap();
                assert_eq!(outcome.equivalents_millionths, Some(expected * 1_000_000), "{cell:?}");
                assert_eq!(
                    closed::usage(&cell, &book).unwrap().total_input_tokens(),
                    outcome.usage.total_input_tokens()
                );
            }
        }
    }
}

#[test]
fn econ_08_children_two_to_five_cost_5050_and_5100_if_the_directive_is_written() {
    let book = Rc::new(PriceBook::built_in());
    for (placement, each) in [(Placement::Shared, 5_050), (Placement::Both, 5_100)] {
        let of = |children| {
            let (model, launch) = ("claude-opus-4-8".into(), LaunchPolicy::Primed);
            let cell = Cell { children, placement, launch, model, ..Cell::default() };
            play(&cell, &book).unwrap().equivalents_millionths.unwrap()
        };
        assert_eq!(of(5) - of(1), 4 * each * 1_000_000);
    }
}
