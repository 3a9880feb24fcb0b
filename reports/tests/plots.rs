//! Plots of random grids, as `fanout … --out` draws them.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration as Span, Instant as Clock};

use forkcast_reports::figures;
use forkcast_scenarios::fanout::breakeven::{Panel, Point, plots};
use forkcast_scenarios::fanout::trial::{Trial, trial};
use forkcast_scenarios::fanout::{Cell, Grid, Spawn};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Ttl;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Most elements of all pictures of a grid, for each of its points, and for none.
const PIECES_MAX: usize = 60;
const PIECES_OF_NONE: usize = 900;

/// How much longer a command may take with pictures than without, and what any picture may take.
const TIMES: u32 = 20;
const PICTURE: Span = Span::from_millis(400);

fn numbers(most: u64) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::btree_set(1..most, 1..6).prop_map(|set| set.into_iter().collect())
}

/// One of the parameters of a grid, varied.
fn varied() -> impl Strategy<Value = (usize, Vec<u64>)> {
    (0_usize..13, numbers(30))
}

fn vary(grid: &mut Grid, (parameter, numbers): &(usize, Vec<u64>)) {
    let small = || numbers.iter().map(|number| *number as u32).collect::<Vec<u32>>();
    let first = |all: &[LaunchPolicy]| all[..numbers.len().min(all.len())].to_vec();
    let stagger = |ms| LaunchPolicy::Stagger(Duration::from_millis(ms));
    match parameter {
        0 => grid.children = small(),
        1 => grid.turns = small().into_iter().filter(|turns| *turns < 12).chain([12]).collect(),
        2 => grid.prefix = numbers.iter().map(|number| number * 4_000).collect(),
        3 => grid.tail = numbers.iter().map(|number| number * 300).collect(),
        4 => grid.directive = numbers.clone(),
        5 => {
            grid.turns = grid.turns.iter().map(|turns| turns + 1).collect();
            grid.growth = numbers.iter().map(|number| number * 100).collect();
        }
        6 => grid.is_cold = vec![false, true],
        7 => grid.ttl = Ttl::ALL.to_vec(),
        8 => grid.launch = first(&[LaunchPolicy::Burst, LaunchPolicy::Primed, stagger(150), LaunchPolicy::Waves(2)]),
        9 => grid.placement = Placement::ALL[..numbers.len() + 1].to_vec(),
        10 => {
            let spawn = Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 0, gathering_turns: 0 };
            grid.spawn = vec![None, Some(spawn)];
        }
        11 => grid.leaves_last = vec![false, true],
        _ => grid.has_hour_head = vec![false, true],
    }
}

/// The number of parameters that differ among cells.
fn differing(rows: &[Trial]) -> usize {
    let cells = || rows.iter().map(|row| &row.cell);
    let differ = |of: &dyn Fn(&Cell) -> String| cells().map(of).collect::<BTreeSet<_>>().len() > 1;
    let parameters: [&dyn Fn(&Cell) -> String; 13] = [
        &|cell| cell.children.to_string(),
        &|cell| cell.turns.to_string(),
        &|cell| cell.prefix.to_string(),
        &|cell| cell.tail.to_string(),
        &|cell| cell.directive.to_string(),
        &|cell| cell.growth.to_string(),
        &|cell| cell.is_cold.to_string(),
        &|cell| cell.ttl.name().to_owned(),
        &|cell| cell.launch.name(),
        &|cell| cell.placement.name().to_owned(),
        &|cell| cell.spawn.is_some().to_string(),
        &|cell| cell.leaves_last.to_string(),
        &|cell| cell.has_hour_head.to_string(),
    ];
    parameters.into_iter().filter(|of| differ(of)).count()
}

/// The first point of forks that lies below the bound of its picture.
fn below_the_bound(panel: &Panel) -> Option<String> {
    let bound = panel.curves.iter().find(|curve| curve.is_bound)?;
    let forks = panel.curves.iter().filter(|curve| !curve.is_bound && !curve.name.starts_with("spawn"));
    let mut points = forks.flat_map(|curve| curve.points.iter().map(move |point| (curve, point)));
    let is_below = |point: &Point| bound.points.iter().any(|least| least.at == point.at && point.cost < least.cost);
    points.find(|(_, point)| is_below(point)).map(|(curve, point)| format!("{} at {}", curve.name, point.at))
}

#[test]
fn grids_of_one_or_two_parameters_have_plots_whose_pieces_and_time_are_bounded() {
    let book = Rc::new(PriceBook::built_in());
    let most = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&(varied(), prop::option::of(varied())), |(one, other)| {
        let mut grid = Grid::of(Cell { without_window: true, ..Cell::default() });
        vary(&mut grid, &one);
        other.iter().for_each(|other| vary(&mut grid, other));
        let cells = grid.cells().unwrap();
        let began = Clock::now();
        // Heads of an hour are refused under most placements.
        let is_refused = cells.iter().any(|cell| cell.check().is_err());
        prop_assume!(!is_refused);
        let rows: Vec<Trial> = cells.iter().map(|cell| trial(cell, &book).unwrap()).collect();
        let without = began.elapsed();
        let drawn = plots(&rows);
        let varied = differing(&rows);
        prop_assert_eq!(drawn.is_empty(), varied == 0, "{} parameters vary in {} cells", varied, rows.len());
        let began = Clock::now();
        let mut pieces = 0;
        for answer in &drawn {
            let below = answer.panels.iter().find_map(below_the_bound);
            prop_assert_eq!(below, None, "{:?}", answer.question);
            let svg = figures::fanout::svg(answer);
            pieces += svg.matches('<').count();
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
        prop_assert!(pieces <= PIECES_MAX * rows.len() + PIECES_OF_NONE * drawn.len(), "{} for {}", pieces, rows.len());
        let pictures = u32::try_from(drawn.len()).unwrap();
        prop_assert!(began.elapsed() <= without * TIMES + PICTURE * pictures, "{:?}", began.elapsed());
        most.set(most.get().max(pieces));
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(most.get() > 500, "{} pieces", most.get());
}

fn played(grid: &Grid) -> Vec<Trial> {
    let book = Rc::new(PriceBook::built_in());
    grid.cells().unwrap().iter().map(|cell| trial(cell, &book).unwrap()).collect()
}

/// What the picture of a grid says.
fn picture(grid: &Grid) -> String {
    figures::fanout::svg(&plots(&played(grid))[0])
}

/// The picture draws what the title names: the point at which the total with the parent of two options is the same.
#[test]
fn the_turning_point_of_two_options_is_drawn_where_the_title_says() {
    let spawn = Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 0, gathering_turns: 0 };
    let grid = Grid { turns: (1..=12).collect(), spawn: vec![None, Some(spawn)], ..Grid::of(Cell::default()) };
    let drawn = &plots(&played(&grid))[0];
    let at = drawn.panels[0].crossings[0].at.unwrap();
    let svg = figures::fanout::svg(drawn);
    assert!(svg.contains(&format!("<title>fork is cheapest up to {:.0} turns", at.floor())), "{at}: {svg}");
    assert!(svg.contains(&format!("\n{at:.1} turns\n")), "{at}: {svg}");
}

/// Of many policies a picture draws some; its title names the cheapest of all.
#[test]
fn a_title_ranks_policies_that_are_not_drawn() {
    let placements = Placement::ALL.to_vec();
    let grid = Grid { children: vec![2, 8], placement: placements.clone(), ..Grid::of(Cell::default()) };
    let rows = played(&grid);
    let least = rows.iter().filter(|row| row.cell.children == 8).min_by_key(|row| row.ranked_cost()).unwrap();
    let drawn = &plots(&rows)[0];
    assert!(drawn.panels[0].curves.len() < placements.len());
    let svg = figures::fanout::svg(drawn);
    let title = svg.split("</title>").next().unwrap();
    assert!(title.contains(least.cell.placement.name()), "{}: {title}", least.cell.placement.name());
}

#[test]
fn titles_say_the_answer_once_and_notes_say_what_it_rests_on() {
    let both = Cell { placement: Placement::Both, ..Cell::default() };
    let grid = Grid { is_cold: vec![false, true], ..Grid::of(Cell::default()) };
    let svg = picture(&Grid { prefix: vec![20_000, 100_000], ..grid });
    for part in [
        "2.9 to 4.3 times the cost from 20k to 100k of context, 3.1 to 4.7 times with a cold parent: $0.2700 to $3.66",
        "warm parent: $0.7820 at the right",
        "forks as documents, 5 children, tail 2,500, directive 200, 1 turn, lifetime 5m, cache rules docs-2026-09",
        "\n100k\n",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let policies = Grid { launch: vec![LaunchPolicy::Burst, LaunchPolicy::Primed], ..Grid::of(both) };
    let svg = picture(&Grid { children: vec![2, 4, 8], is_cold: vec![false, true], ..policies });
    assert!(
        svg.contains(
            "<title>burst is cheapest with 2 children, primed from 4 children on (warm parent): $0.4439 against $0.5128 \
             with 8 children; primed throughout (cold parent)</title>"
        ),
        "{svg}"
    );
    // Agents of their own may cost less than the bound of forks.
    let spawn = Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 0, gathering_turns: 0 };
    let grid = Grid { turns: vec![1, 6, 12], spawn: vec![None, Some(spawn)], ..Grid::of(Cell::default()) };
    let svg = picture(&grid);
    for part in [
        "<title>fork is cheapest up to 6 turns, spawn from 12 turns on: $1.23 against $1.41 with 12 turns</title>",
        "bound of forks, with the cheapest parent",
        "cost of the children and of their parent, USD",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
}

#[test]
fn a_title_with_long_names_is_whole() {
    let clients = Cell { placement: Placement::Client2026, ..Cell::default() };
    let both = vec![false, true];
    let grid = Grid { has_hour_head: both.clone(), leaves_last: both, ..Grid::of(clients) };
    let svg = picture(&Grid { children: vec![1, 4, 8], is_cold: vec![false, true], ..grid });
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .filter_map(|node| Some(node.text()?.trim()))
        .collect();
    let title = "last turn unmarked is cheapest throughout (warm parent): $0.4912 against $0.5608 with 8 children; \
                 head 1h + last turn unmarked throughout (cold parent)";
    assert!(svg.contains(&format!("<title>{title}</title>")), "{svg}");
    assert_eq!(texts[..2].join(" "), title);
    assert!(texts.iter().all(|text| !text.contains('…')), "{texts:?}");
}
