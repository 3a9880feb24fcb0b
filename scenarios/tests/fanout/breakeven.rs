//! Answers in money: break-even points of runs compared with formulas, and general properties.

use std::rc::Rc;

use forkcast_scenarios::fanout::breakeven::launching::frontier;
use forkcast_scenarios::fanout::breakeven::{Answer, Inquiry, Question, answer};
use forkcast_scenarios::fanout::trial::trial;
use forkcast_scenarios::fanout::{Cell, Spawn};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::pricing::PriceBook;

const SPAWN: Spawn = Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 0, gathering_turns: 0 };

fn asked(base: Cell) -> Inquiry {
    Inquiry { base, children: None, prefix: None, turns: None, growth: None, spawn: SPAWN }
}

fn answered(question: Question, asked: &Inquiry) -> Answer {
    answer(question, asked, &Rc::new(PriceBook::built_in())).unwrap()
}

/// `economics.md` 3.3, r = 0.1: with agents that start at once (cold) 19.6, 4.5, 2.6 and 1.3 turns; one first, the first of
/// five pays for the others.
#[test]
fn econ_forks_pay_until_the_published_number_of_turns() {
    let base = Cell { model: "claude-opus-4-8".into(), directive: 1, tail: 1, ..Cell::default() };
    let contexts = Some(vec![20_000, 50_000, 80_000, 150_000]);
    let asked = Inquiry { prefix: contexts, turns: Some((1..=24).collect()), ..asked(base) };
    let answer = answered(Question::ForkOrSpawn, &asked);
    let crossings = answer.panels.iter().flat_map(|panel| &panel.crossings);
    for (crossing, published) in crossings.zip([9.39, 2.17, 1.23, 0.61, 19.6, 4.5, 2.6, 1.3]) {
        let (measured, formula) = (crossing.at.unwrap(), crossing.formula.unwrap());
        assert!((formula - published).abs() < 0.06, "{}: {formula} for {published}", crossing.name);
        assert!((measured - published).abs() < 0.06, "{}: {measured} for {published}", crossing.name);
    }
}

/// The turning point with the parent's requests is the one of a grid's totals.
#[test]
fn with_the_parents_requests_a_turning_point_is_that_of_the_totals() {
    let base = Cell { model: "claude-opus-4-8".into(), ..Cell::default() };
    let (turns, contexts): (Vec<u32>, _) = ((1..=12).collect(), vec![20_000, 50_000, 80_000, 150_000]);
    let asked = Inquiry { prefix: Some(contexts.clone()), turns: Some(turns.clone()), ..asked(base.clone()) };
    let answer = answered(Question::ForkOrSpawn, &asked);
    let [primed, burst] = &answer.panels[..] else { panic!("{:?}", answer.panels) };
    for (panel, launch) in [(primed, LaunchPolicy::Primed), (burst, LaunchPolicy::Burst)] {
        for (prefix, crossing) in contexts.iter().zip(&panel.crossings) {
            let total = |spawn: Option<Spawn>, launch: LaunchPolicy, turns: u32| {
                let cell = Cell { placement: Placement::Both, prefix: *prefix, spawn, launch, turns, ..base.clone() };
                trial(&cell, &Rc::new(PriceBook::built_in())).unwrap().outcome.total_cost.unwrap()
            };
            let is_fork_cheaper =
                |turns: &&u32| total(None, LaunchPolicy::Primed, **turns) <= total(Some(SPAWN), launch, **turns);
            let last = turns.iter().rfind(is_fork_cheaper).copied().unwrap_or(0);
            let found = crossing.with_parent.map_or(12, |at| at.floor() as u32);
            assert_eq!(found, last, "{crossing:?} {}", panel.title);
        }
    }
}

/// What has no formula without the parent is ranked by the one cost of all grids; where there is one, both are given.
#[test]
fn answers_by_children_and_against_time_count_the_parent_as_grids_do() {
    let asked = Inquiry { children: Some(vec![2, 8]), ..asked(Cell::default()) };
    for question in [Question::Children, Question::Prime] {
        let answer = answered(question, &asked);
        let curves = answer.panels.iter().flat_map(|panel| &panel.curves).filter(|curve| !curve.is_bound);
        let mut costs: Vec<_> = curves.flat_map(|curve| &curve.points).map(|point| Some(point.cost)).collect();
        let mut ranked: Vec<_> = answer.rows.iter().map(|row| row.ranked_cost()).collect();
        costs.sort_unstable();
        ranked.sort_unstable();
        assert_eq!(costs, ranked, "{question:?}");
    }
    for question in [Question::Ttl, Question::ForkOrSpawn] {
        let crossings: Vec<_> =
            answered(question, &asked).panels.into_iter().flat_map(|panel| panel.crossings).collect();
        assert!(crossings.iter().any(|crossing| crossing.with_parent.is_some()), "{crossings:?}");
    }
}

/// Briefs are part of what the parent sends from then on, as a forking message is.
#[test]
fn the_parent_carries_the_words_that_start_its_children() {
    let parent = |brief: u64| {
        let spawn = Some(Spawn { brief, ..SPAWN });
        let cell = Cell { model: "claude-opus-4-8".into(), spawn, children: 5, ..Cell::default() };
        trial(&cell, &Rc::new(PriceBook::built_in())).unwrap().outcome.parent_usage
    };
    let (short, long) = (parent(1_000), parent(3_000));
    assert_eq!(long.cache_creation_input_tokens() - short.cache_creation_input_tokens(), 5 * 2_000);
    assert_eq!(long.output_tokens - short.output_tokens, 5 * 2_000);
}

#[test]
fn gathering_again_has_no_formula_and_keeps_forks_cheaper_for_longer() {
    let plain = asked(Cell { model: "claude-opus-4-8".into(), ..Cell::default() });
    let gathers = Inquiry { spawn: Spawn { gathered: 20_000, gathering_turns: 5, ..SPAWN }, ..plain.clone() };
    let turning = |asked: &Inquiry| answered(Question::ForkOrSpawn, asked).panels[0].crossings[2].clone();
    let (plain, gathers) = (turning(&plain), turning(&gathers));
    assert_eq!(gathers.formula, None);
    assert!(gathers.at.is_none_or(|at| at > plain.at.unwrap() + 1.0), "{gathers:?} {plain:?}");
}

/// `economics.md` 3.5: the measured break-even point matches the formula, and an hour is more expensive if no child
/// waits.
#[test]
fn econ_an_hour_pays_from_the_formulas_number_of_waits_on() {
    let asked = asked(Cell { model: "claude-opus-4-8".into(), ..Cell::default() });
    for panel in answered(Question::Ttl, &asked).panels {
        let (five, hour) = (&panel.curves[0].points, &panel.curves[1].points);
        assert!(
            five[0].cost < hour[0].cost && five.last().unwrap().cost > hour.last().unwrap().cost,
            "{}",
            panel.title
        );
        let crossing = &panel.crossings[0];
        let (measured, formula) = (crossing.at.unwrap(), crossing.formula.unwrap());
        assert!((measured - formula).abs() < 0.1, "{}: {measured} for {formula}", panel.title);
    }
}

/// `economics.md` 3.1: with a warm parent, priming saves (w − r) T for each of the others; no launch beats those on the
/// frontier.
#[test]
fn econ_primed_and_burst_are_both_on_the_frontier() {
    let base = Cell { model: "claude-opus-4-8".into(), ..Cell::default() };
    for panel in answered(Question::Prime, &asked(base)).panels {
        let points = &panel.curves[0].points;
        let kept = frontier(points);
        let cheapest = points.iter().map(|point| point.cost).min().unwrap();
        assert_eq!(kept.last().unwrap().cost, cheapest);
        assert_eq!(kept[0].at, points.iter().map(|point| point.at).fold(f64::INFINITY, f64::min));
        let cost = |label: &str| points.iter().find(|point| point.label == label).unwrap().cost;
        assert!(cost("primed") < cost("burst"), "{}", panel.title);
        for point in points {
            let beaten = kept.iter().any(|kept| kept.at <= point.at && kept.cost <= point.cost);
            assert!(beaten, "{}: {point:?}", panel.title);
        }
    }
}

/// `economics.md` 3.2, the look-back trap: nine children lose the prefix if every block counts, none do if runs count
/// once or a marker is at the parent's previous end.
#[test]
fn econ_a_tail_loses_the_prefix_at_nine_children_if_every_block_counts() {
    let panel = &answered(Question::LookBack, &asked(Cell::default())).panels[0];
    let turning = |at: usize| (panel.crossings[at].at, panel.crossings[at].formula);
    assert_eq!(turning(0), (Some(9.0), Some(9.0)));
    assert_eq!(turning(1), (Some(9.0), Some(9.0)));
    assert_eq!(turning(2), (None, None));
    assert_eq!(turning(3), (None, None));
}

#[test]
fn no_policy_costs_less_than_the_bound_and_primed_with_both_markers_comes_near() {
    for panel in answered(Question::Children, &asked(Cell::default())).panels {
        let bound = &panel.curves.iter().find(|curve| curve.is_bound).unwrap().points;
        for curve in panel.curves.iter().filter(|curve| !curve.is_bound) {
            assert!(curve.points.iter().zip(bound).all(|(point, bound)| point.cost >= bound.cost), "{}", curve.name);
        }
        let best = panel.curves.iter().find(|curve| curve.name == "both, primed").unwrap();
        let (best, least) = (best.points[7].cost.picousd() as f64, bound[7].cost.picousd() as f64);
        assert!(best / least < 1.05, "{}: {best} {least}", panel.title);
    }
}

#[test]
fn a_model_without_a_price_has_no_answer() {
    let base = Cell { model: "claude-3-opus-20240229".into(), ..Cell::default() };
    let refused = answer(Question::Prime, &asked(base), &Rc::new(PriceBook::built_in())).unwrap_err();
    assert!(refused.to_string().contains("no price"), "{refused}");
}
