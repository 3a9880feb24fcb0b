//! Compares formula and bound with the runtime on random cells.

use std::rc::Rc;

use forkcast_scenarios::fanout::trial::{Trial, trial};
use forkcast_scenarios::fanout::{Cell, bound, closed, play};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy, Profile};
use forkcast_sim::cache::PRESETS;
use forkcast_sim::pricing::{Factor, PriceBook};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::{Ttl, Usage};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

const MODELS: [&str; 5] =
    ["claude-opus-5-5", "claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5", "claude-fable-5-1"];

fn launches() -> impl Strategy<Value = LaunchPolicy> {
    prop_oneof![
        Just(LaunchPolicy::Burst),
        Just(LaunchPolicy::Primed),
        (1_u64..5_000).prop_map(|ms| LaunchPolicy::Stagger(Duration::from_millis(ms))),
        (1_u32..9).prop_map(LaunchPolicy::Waves),
    ]
}

prop_compose! {
    pub fn cells()(
        (children, turns) in (1_u32..14, 1_u32..7),
        (prefix, tail, directive, growth) in (1_u64..120_000, 0_u64..9_000, 1_u64..3_000, 0_u64..4_000),
        (model, rules, placement) in (select(&MODELS[..]), select(&PRESETS[..]), select(&Placement::ALL[..])),
        (launch, is_cold, is_client, is_hour) in (launches(), any::<bool>(), any::<bool>(), any::<bool>()),
    ) -> Cell {
        Cell {
            children, turns, prefix, tail, directive, growth, rules, placement, launch, is_cold,
            model: model.into(),
            profile: if is_client { Profile::Client2026 } else { Profile::Documents },
            ttl: if is_hour { Ttl::OneHour } else { Ttl::FiveMinutes },
            without_window: true,
            ..Cell::default()
        }
    }
}

prop_compose! {
    /// Cells with an ablation, limits, waits, heads of an hour, unmarked last turns, output and a discount, to which the
    /// formula does not apply.
    fn other_cells()(
        cell in cells(),
        (ablation, output, remaining) in (prop::option::of(select(&Ablation::ALL[..])), 0_u64..500, 1_u64..1_000_000),
        (itpm, rpm, waits) in (prop::option::of(150_000_u64..900_000), prop::option::of(1_u64..50), any::<bool>()),
        (split, leaves_last) in (any::<bool>(), any::<bool>()),
    ) -> (Cell, Factor) {
        let waiting = if waits && cell.turns > 1 { cell.children.div_ceil(2) } else { 0 };
        let marks_head = matches!(cell.placement, Placement::System | Placement::Client2026);
        let has_hour_head = split && marks_head && cell.ttl == Ttl::FiveMinutes;
        let ablations = ablation.into_iter().collect();
        (Cell { ablations, output, itpm, rpm, waiting, has_hour_head, leaves_last, ..cell }, Factor::from_millionths(remaining))
    }
}

/// A cell takes about 9 ms on one core; `PROPTEST_CASES=10000` tries as many as were tried when a rule changed.
pub fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3_000)
}

/// `economics.md` 3.4: one child first, both markers, and the last turn left unwritten attain the bound if two children
/// and five minutes make writing worth its price.
#[test]
fn primed_forks_that_leave_the_last_turn_unwritten_attain_the_bound() {
    let book = Rc::new(PriceBook::built_in());
    let held = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: cases() / 20, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&cells(), |cell| {
        let cell = Cell {
            children: cell.children + 1,
            launch: LaunchPolicy::Primed,
            placement: Placement::Both,
            profile: Profile::Documents,
            ttl: Ttl::FiveMinutes,
            ..cell
        };
        if closed::holds(&cell, &book).is_err() {
            return Ok(());
        }
        held.set(held.get() + 1);
        let best = play(&Cell { leaves_last: true, ..cell.clone() }, &book).unwrap().cost;
        prop_assert_eq!(best, bound::lower_bound(&cell, &book));
        let marked = play(&cell, &book).unwrap().cost;
        prop_assert!(marked >= best, "{:?} {:?}", marked, best);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(held.get() * 4 > cases() / 20, "held for {} cells", held.get());
}

#[test]
fn a_head_of_an_hour_survives_a_cold_parent_and_pays_more_for_writing() {
    let book = Rc::new(PriceBook::built_in());
    let cell = Cell { is_cold: true, placement: Placement::Client2026, ..Cell::default() };
    let of = |has_hour_head| play(&Cell { has_hour_head, ..cell.clone() }, &book).unwrap();
    let (plain, split) = (of(false), of(true));
    assert_eq!((plain.usage.cache_read_input_tokens, split.usage.cache_read_input_tokens), (0, 5 * cell.head()));
    assert!(split.cost < plain.cost);
    let parent = split.parent_usage;
    assert_eq!(parent.ephemeral_1h_input_tokens, cell.head(), "the parent wrote its head for an hour: {parent:?}");
    let refused = Cell { has_hour_head: true, placement: Placement::Both, ..cell.clone() }.check().unwrap_err();
    assert!(refused.to_string().contains("mark the head"), "{refused}");
    let refused = Cell { has_hour_head: true, ttl: Ttl::OneHour, ..cell }.check().unwrap_err();
    assert!(refused.to_string().contains("--ttl 5m"), "{refused}");
}

/// Half of the cells, on one core: those with a cold parent, or those with a warm one.
fn half_of_the_cells(is_cold: bool) {
    let half = cases() / 2;
    let book = Rc::new(PriceBook::built_in());
    let held = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: half, failure_persistence: None, ..ProptestConfig::default() };
    let cells = cells().prop_map(|cell| Cell { is_cold, ..cell });
    let outcome = TestRunner::new(config).run(&cells, |cell| {
        let outcome = play(&cell, &book).unwrap();
        if let Ok(expected) = closed::usage(&cell, &book) {
            prop_assert_eq!(Usage { output_tokens: 0, ..outcome.usage }, expected);
            held.set(held.get() + 1);
        }
        let bound = bound::lower_bound(&cell, &book).unwrap();
        prop_assert!(outcome.cost.unwrap() >= bound, "{:?} is below {:?}", outcome.cost, bound);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(held.get() * 2 > half, "the formula holds for {} of {half} cells", held.get());
}

#[test]
fn the_formula_matches_runs_to_the_token_and_no_run_is_below_the_bound() {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half_of_the_cells(true));
        half_of_the_cells(false);
        other.join().unwrap();
    });
}

#[test]
fn no_run_with_limits_or_ablations_is_below_a_bound_that_is_shown_at_any_discount() {
    let shown = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: cases() / 10, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&other_cells(), |(cell, remaining)| {
        let book = Rc::new(PriceBook::built_in().with_remaining(remaining));
        let Ok(Trial { outcome, .. }) = trial(&cell, &book) else { return Ok(()) };
        let Some(bound) = outcome.bound else { return Ok(()) };
        shown.set(shown.get() + 1);
        prop_assert!(outcome.cost.unwrap() >= bound, "{:?} is below {:?}", outcome.cost, bound);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(shown.get() * 4 > cases() / 10, "a bound is shown for {} of {} cells", shown.get(), cases() / 10);
}
