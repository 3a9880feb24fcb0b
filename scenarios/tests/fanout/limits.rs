//! Fan-outs under rate limits.

use std::rc::Rc;

use forkcast_scenarios::fanout::trial::trial;
use forkcast_scenarios::fanout::{Assumption, Cell, Trial};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::pricing::PriceBook;

fn played(cell: &Cell) -> Trial {
    trial(cell, &Rc::new(PriceBook::built_in())).unwrap()
}

#[test]
fn a_request_limit_turns_a_burst_into_waves_and_later_children_read_the_first_ones_writes() {
    let burst = Cell { placement: Placement::Both, ..Cell::default() };
    let (free, limited) = (played(&burst), played(&Cell { rpm: Some(4), ..burst }));
    assert_eq!((free.outcome.over_limits, free.outcome.unanswered), (0, 0));
    // Four of the five are accepted at once; the bucket refills one every 15 s, and the parent wants to continue too.
    assert!(limited.outcome.over_limits > 1 && limited.outcome.unanswered == 0, "{:?}", limited.outcome);
    assert!(limited.outcome.makespan.as_millis() >= 15_000, "{:?}", limited.outcome.makespan);
    let read = |row: &Trial| row.outcome.usage.cache_read_input_tokens;
    assert!(read(&limited) > read(&free) && limited.outcome.cost < free.outcome.cost);
    assert!(limited.outcome.cost >= limited.outcome.bound);
    assert_eq!(free.outcome.assumption, None);
    assert_eq!(limited.outcome.assumption, Some(Assumption::RateLimits));
}

#[test]
fn cache_reads_do_not_count_against_the_limit_and_cold_forks_above_it_are_never_answered() {
    let cell = Cell { placement: Placement::Both, itpm: Some(40_000), ..Cell::default() };
    let warm = played(&cell);
    assert_eq!((warm.outcome.over_limits, warm.outcome.requests), (0, 5));
    let cold = played(&Cell { is_cold: true, ..cell });
    assert_eq!((cold.outcome.requests, cold.outcome.unanswered), (0, 5));
    // `clients.md` 1: eleven attempts of each child, and of the parent after its calls and when the children are
    // reported.
    assert_eq!(cold.outcome.over_limits, 7 * 11);
    assert_eq!(cold.outcome.bound, None, "the bound applies to whole fan-outs");
}

#[test]
fn a_limit_of_zero_is_refused() {
    let cell = Cell { rpm: Some(0), ..Cell::default() };
    assert!(cell.check().unwrap_err().to_string().contains("`--rpm`"));
}
