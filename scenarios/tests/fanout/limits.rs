//! Fan-outs under limits of rate.

use std::rc::Rc;

use forkcast_scenarios::fanout::trial::trial;
use forkcast_scenarios::fanout::{Assumption, Cell, Trial};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::pricing::PriceBook;

fn played(cell: &Cell) -> Trial {
    trial(cell, &Rc::new(PriceBook::built_in())).unwrap()
}

#[test]
fn a_limit_on_requests_makes_waves_of_a_burst_and_those_that_come_late_read_what_the_first_wrote() {
    let burst = Cell { placement: Placement::Both, ..Cell::default() };
    let (free, limited) = (played(&burst), played(&Cell { rpm: Some(4), ..burst }));
    assert_eq!((free.outcome.over_limits, free.outcome.unanswered), (0, 0));
    // Four of the five are taken at once; the bucket has one more every 15 s, and the parent wants to go on too.
    assert!(limited.outcome.over_limits > 1 && limited.outcome.unanswered == 0, "{:?}", limited.outcome);
    assert!(limited.outcome.makespan.as_millis() >= 15_000, "{:?}", limited.outcome.makespan);
    let read = |row: &Trial| row.outcome.usage.cache_read_input_tokens;
    assert!(read(&limited) > read(&free) && limited.outcome.cost < free.outcome.cost);
    assert!(limited.outcome.cost >= limited.bound);
    assert!(free.formula.is_ok());
    assert_eq!(limited.formula, Err(Assumption::RateLimits));
}

#[test]
fn what_warm_forks_read_does_not_count_and_cold_forks_over_the_limit_are_never_answered() {
    let cell = Cell { placement: Placement::Both, itpm: Some(40_000), ..Cell::default() };
    let warm = played(&cell);
    assert_eq!((warm.outcome.over_limits, warm.outcome.requests), (0, 5));
    let cold = played(&Cell { is_cold: true, ..cell });
    assert_eq!((cold.outcome.requests, cold.outcome.unanswered), (0, 5));
    // `clients.md` 1: eleven tries of each child, and of the parent behind its calls and when it hears of the children.
    assert_eq!(cold.outcome.over_limits, 7 * 11);
    assert_eq!(cold.bound, None, "it is about whole fan-outs");
}

#[test]
fn a_limit_of_nothing_is_refused() {
    let cell = Cell { rpm: Some(0), ..Cell::default() };
    assert!(cell.check().unwrap_err().to_string().contains("`--rpm`"));
}
