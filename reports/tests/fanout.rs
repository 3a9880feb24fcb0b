//! Fan-outs as JSON, as comma-separated values and for people.

use std::rc::Rc;

use forkcast_reports::document::terminal::{self, Look};
use forkcast_reports::figures;
use forkcast_reports::format::{SCHEMAS, fanout};
use forkcast_reports::human;
use forkcast_scenarios::fanout::breakeven::{Inquiry, Question, answer, plots};
use forkcast_scenarios::fanout::{Cell, Grid, Spawn, Trial, trial::trial};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Ablation, LaunchPolicy};
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::wire::Ttl;
use serde_json::Value;

use crate::tables::parsed;

const SPAWN: Spawn = Spawn { system: 3_000, tools: 7_000, brief: 1_000, gathered: 5_000, gathering_turns: 2 };

fn rows(grid: &Grid) -> Vec<Trial> {
    let book = Rc::new(PriceBook::built_in());
    grid.cells().unwrap().iter().map(|cell| trial(cell, &book).unwrap()).collect()
}

/// Forks and agents of their own, priced and not, whole and broken, under two policies of two kinds.
fn grid() -> Grid {
    let base = Cell { ablations: [Ablation::AddedSpace].into(), ..Cell::default() };
    Grid {
        model: vec!["claude-opus-5-5".into(), "claude-3-opus-20240229".into()],
        is_cold: vec![false, true],
        launch: vec![LaunchPolicy::Burst, LaunchPolicy::Primed],
        placement: vec![Placement::Both, Placement::Tail],
        spawn: vec![None, Some(SPAWN)],
        turns: vec![1, 3],
        ..Grid::of(base)
    }
}

fn json(rows: &[Trial]) -> Value {
    let mut text = Vec::new();
    fanout::write(rows, &[], "made-up prices", false, &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn follows_its_schema(value: &Value) {
    let (_, text) = SCHEMAS.iter().find(|(name, _)| *name == fanout::SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn json_follows_its_schema() {
    let rows = rows(&grid());
    let value = json(&rows);
    follows_its_schema(&value);
    assert_eq!(value["rows"].as_array().unwrap().len(), rows.len());
    // The sums of a fan-out whose cost is 5 x 5,050 by the published claim, in the provider's words.
    let whole = json(&self::rows(&Grid::of(Cell { placement: Placement::Both, ..Cell::default() })));
    follows_its_schema(&whole);
    let row = &whole["rows"][0];
    assert_eq!(row["usage"]["cache_read_input_tokens"], 230_000);
    assert_eq!(row["usage"]["cache_creation"]["ephemeral_5m_input_tokens"], 13_500);
    assert_eq!((&row["closed_form_tokens"], &row["assumption"]), (&row["token_equivalents"], &Value::Null));
}

#[test]
fn the_best_of_a_set_is_the_best_of_those_that_differ_only_in_policy() {
    let mut rows = rows(&Grid { children: vec![2, 4], launch: grid().launch, ..Grid::of(Cell::default()) });
    rows.iter_mut().for_each(|row| row.outcome.bound = None);
    let value = json(&rows);
    for best in ["best_cost", "best_makespan"] {
        let best: Vec<usize> = value[best].as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as usize).collect();
        let sets: Vec<u32> = best.iter().map(|at| rows[*at].cell.children).collect();
        assert_eq!(sets, [2, 4]);
    }
    let cheapest = value["best_cost"][0].as_u64().unwrap() as usize;
    assert!(rows.iter().all(|row| row.cell.children != 2 || row.outcome.cost >= rows[cheapest].outcome.cost));
}

#[test]
fn comma_separated_values_have_a_row_for_each_cell_and_no_row_is_shorter() {
    let rows = rows(&grid());
    let mut text = Vec::new();
    fanout::table(&rows, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let widths: Vec<usize> = parsed(&text).iter().map(Vec::len).collect();
    assert_eq!(widths.len(), rows.len() + 1);
    assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
}

/// What decides stays on a narrow screen; what explains it goes first.
#[test]
fn people_see_launch_cost_and_time_on_80_columns_and_the_bound_on_120() {
    let grid = Grid {
        is_cold: vec![false, true],
        launch: grid().launch,
        placement: grid().placement,
        ..Grid::of(Cell::default())
    };
    let document = human::fanout::document(&rows(&grid), "made-up prices", true);
    for (width, also) in
        [(80, &["launch"][..]), (120, &["bound", "hit rate", "uncached"]), (200, &["bound", "formula", "in full"])]
    {
        let mut text = Vec::new();
        terminal::write(&document, Look { width, colour: false }, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for title in ["cost", "with parent", "makespan", "best"].iter().chain(also) {
            assert!(text.contains(title), "{width}: {title}\n{text}");
        }
        assert!(text.contains("Interrupted"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{width}:\n{text}");
    }
}

/// Every question in every form: schema, text that fits, a picture that is one.
#[test]
fn answers_are_written_in_every_form() {
    let book = Rc::new(PriceBook::built_in());
    let asked = Inquiry {
        base: Cell::default(),
        children: Some(vec![2, 9]),
        prefix: None,
        turns: Some(vec![2, 6]),
        growth: None,
        spawn: SPAWN,
    };
    let answers: Vec<_> = Question::ALL.map(|question| answer(question, &asked, &book).unwrap()).into();
    let rows: Vec<Trial> = answers.iter().flat_map(|answer| answer.rows.iter().cloned()).collect();
    let mut text = Vec::new();
    fanout::write(&rows, &answers, "made-up prices", false, &mut text).unwrap();
    let value: Value = serde_json::from_slice(&text).unwrap();
    follows_its_schema(&value);
    assert_eq!(value["answers"].as_array().unwrap().len(), answers.len());
    let mut text = Vec::new();
    let document = human::fanout::answers::document(&answers, "made-up prices");
    terminal::write(&document, Look { width: 120, colour: false }, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    for answer in &answers {
        assert!(text.contains(answer.question.about()), "{text}");
        let svg = figures::fanout::svg(answer);
        let png = figures::png::from_svg(&svg).unwrap();
        assert!(png.starts_with(b"\x89PNG"), "{:?}", answer.question);
        for curve in answer.panels.iter().flat_map(|panel| &panel.curves).filter(|_| answer.question != Question::Prime)
        {
            assert!(svg.contains(&curve.name), "{:?}: no name of {}", answer.question, curve.name);
        }
    }
}

/// Lines at one place: the lower one is broader, so that both can be seen.
#[test]
fn a_covered_line_shows_next_to_the_covering_one() {
    let asked = Inquiry {
        base: Cell::default(),
        children: Some((1..=4).collect()),
        prefix: None,
        turns: None,
        growth: None,
        spawn: SPAWN,
    };
    let widths = |question| {
        let svg = figures::fanout::svg(&answer(question, &asked, &Rc::new(PriceBook::built_in())).unwrap());
        [2, 5, 8].map(|width| svg.contains(&format!("stroke-width=\"{width}\"")))
    };
    // Up to eight children all four policies cost the same; forks and agents of their own never do.
    assert_eq!(widths(Question::LookBack), [true, true, true]);
    assert_eq!(widths(Question::ForkOrSpawn), [true, false, false]);
}

/// A grid is drawn if it is readable: children on the horizontal axis, or cost against time of the widest.
#[test]
fn grids_are_drawn_if_the_plot_is_readable() {
    let base = Cell { children: 2, ..Cell::default() };
    let grid = Grid { children: vec![2, 3], launch: grid().launch, is_cold: vec![false, true], ..Grid::of(base) };
    let drawn = plots(&rows(&grid));
    assert_eq!(drawn.iter().map(|answer| answer.question).collect::<Vec<_>>(), [Question::Children, Question::Prime]);
    assert!(drawn.iter().all(|answer| answer.panels.len() == 2));
    assert!(drawn[1].rows.iter().all(|row| row.cell.children == 3));
    for answer in &drawn {
        let svg = figures::fanout::svg(answer);
        assert!(svg.contains("warm parent") && svg.contains("cold parent"), "{svg}");
    }
    let one = Grid { launch: vec![LaunchPolicy::Burst], children: vec![2], is_cold: vec![false], ..grid.clone() };
    assert!(plots(&rows(&one)).is_empty());
    let wide = Grid { prefix: vec![20_000, 30_000, 40_000], ..grid };
    assert!(plots(&rows(&wide)).is_empty(), "six panels");
}

/// Whatever one or two parameters vary: sizes, lifetimes, models, policies.
#[test]
fn every_grid_of_one_or_two_parameters_is_drawn() {
    let one = || Grid::of(Cell { children: 2, ..Cell::default() });
    let sizes = vec![20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000];
    let models = || vec!["claude-opus-4-8".into(), "claude-haiku-4-5".into()];
    let grids = [
        (Grid { prefix: sizes.clone(), ..one() }, &["prefix"][..]),
        (Grid { prefix: sizes, turns: vec![1, 5], ..one() }, &["turns", "prefix"]),
        (Grid { turns: vec![1, 2, 3], growth: vec![500, 5_000], ..one() }, &["turns", "growth"]),
        (Grid { children: vec![1, 4], model: models(), ..one() }, &["children", "prime"]),
        (Grid { is_cold: vec![false, true], ..one() }, &["prime"]),
        (Grid { model: models(), ttl: vec![Ttl::FiveMinutes, Ttl::OneHour], ..one() }, &["prime"]),
        (Grid { launch: grid().launch, ..one() }, &["prime"]),
    ];
    for (grid, expected) in grids {
        let drawn = plots(&rows(&grid));
        let words: Vec<&str> = drawn.iter().map(|answer| answer.question.word()).collect();
        assert_eq!(words, expected, "{grid:?}");
        for answer in &drawn {
            let svg = figures::fanout::svg(answer);
            assert!(svg.contains("<title>") && !svg.contains("?</title>"), "{svg}");
        }
    }
}

/// Whatever is compared or varies, the first line of the text answers.
#[test]
fn a_title_says_what_is_cheapest_or_how_the_cost_grows() {
    let one = || Grid::of(Cell { placement: Placement::Both, ..Cell::default() });
    let launches = || grid().launch;
    let lifetimes = Ttl::ALL.to_vec();
    let grids = [
        (Grid { turns: vec![1, 20], spawn: vec![None, Some(SPAWN)], ..one() }, "fork is cheapest "),
        (Grid { turns: vec![1, 3], ttl: lifetimes.clone(), ..one() }, "5m is cheapest throughout: $"),
        (
            Grid { children: vec![1, 2, 8], launch: launches(), ttl: lifetimes, ..one() },
            "burst + 5m is cheapest up to 2 children",
        ),
        (Grid { turns: vec![1, 11], ..one() }, "3.0 times the cost from 1 to 11 turns: $"),
        (
            Grid { prefix: vec![20_000, 80_000], turns: vec![1, 5], ..one() },
            "1.7 to 1.9 times the cost from 1 to 5 turns, 2.2 to 2.4 times from 20k to 80k of context: $",
        ),
        (Grid { is_cold: vec![false, true], ..one() }, "4.0 times the cost with a cold parent: $"),
    ];
    for (grid, expected) in grids {
        let document = human::fanout::document(&rows(&grid), "made-up prices", false);
        let mut text = Vec::new();
        terminal::write(&document, Look { width: 250, colour: false }, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let title = text.lines().next().unwrap();
        assert!(title.starts_with(expected), "{expected}: {title}");
    }
}

/// The labels of tables are whole, and every line is a sentence.
#[test]
fn answers_on_80_columns_cut_no_label() {
    let book = Rc::new(PriceBook::built_in());
    let asked = Inquiry {
        base: Cell::default(),
        children: Some(vec![2, 9]),
        prefix: None,
        turns: None,
        growth: None,
        spawn: SPAWN,
    };
    let answers: Vec<_> = Question::ALL.map(|question| answer(question, &asked, &book).unwrap()).into();
    let mut text = Vec::new();
    let document = human::fanout::answers::document(&answers, "made-up prices");
    terminal::write(&document, Look { width: 80, colour: false }, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(!text.contains('…'), "{text}");
    let sentence = "Each spawn has tools and a system prompt of its own, 10k, and a brief of 1k;";
    assert!(text.contains(sentence), "{text}");
}
