//! Answers for people: where one policy becomes cheaper than another, and the costs of each before and after.

use forkcast_scenarios::fanout::breakeven::launching::frontier;
use forkcast_scenarios::fanout::breakeven::{Answer, Crossing, Curve, Panel, Point, Question};
use forkcast_sim::pricing::Money;

use super::rests_on;
use crate::answers;
use crate::document::{Cell, Column, Document, Table, span};

/// Most points of an axis shown to people; the plot and the machine formats have all.
const PLACES_MAX: usize = 6;

/// The document.
pub fn document(answers: &[Answer], price_book: &str) -> Document {
    let mut document = Document::default();
    document.title(match answers {
        [answer] => answers::of(answer),
        _ => format!("Fan-out: {} questions answered", answers.len()),
    });
    let rows: Vec<_> = answers.iter().flat_map(|answer| answer.rows.iter().cloned()).collect();
    document.aside(rests_on(&rows, price_book, costs(answers)));
    for answer in answers {
        document.heading(answer.question.about());
        if answers.len() > 1 {
            document.text(vec![format!("{}.", answers::of(answer))]);
        }
        for panel in &answer.panels {
            document.text(vec![panel.title.clone()]);
            if !panel.crossings.is_empty() {
                document.table(crossing_table(answer.question, panel));
            }
            document.table(match answer.question {
                Question::Prime => launch_table(panel),
                question => cost_table(question, panel),
            });
        }
    }
    document
}

/// What the figures of these answers are made of.
fn costs(answers: &[Answer]) -> Vec<&'static str> {
    let has = |questions: &[Question]| answers.iter().any(|answer| questions.contains(&answer.question));
    let with_parent = "Cost by children, and against time: with the parent's requests, as without --answer; the bound is \
                       that of the children with the cheapest parent";
    let with_words = "Fork or spawn: the children and the words that start them; with parent: its other requests too, \
                      as in `--against spawn`. The formula leaves out directives and the first fork's writes";
    let lifetimes = "Five minutes or an hour: the children; with parent: its requests too, as without --answer";
    let lines = [
        has(&[Question::Children, Question::Prime]).then_some(with_parent),
        has(&[Question::ForkOrSpawn]).then_some(with_words),
        has(&[Question::Ttl]).then_some(lifetimes),
        has(&[Question::LookBack]).then_some("A lost prefix: the cost of one child"),
    ];
    lines.into_iter().flatten().collect()
}

/// Turning points: measured, and by the formula; `beyond` the examined range if there is none.
fn crossing_table(question: Question, panel: &Panel) -> Table {
    let has_whole = matches!(question, Question::ForkOrSpawn | Question::Ttl);
    let name = if question == Question::LookBack { "the parent's prefix is lost from" } else { "turning point" };
    // There is no request before the first.
    let is_never = |at: f64| at < 1.0 && question == Question::ForkOrSpawn;
    let number = |place: Option<f64>| match place {
        None => Cell::Missing("beyond"),
        Some(at) if is_never(at) => Cell::text("never"),
        Some(at) => Cell::text(format!("{at:.1}")),
    };
    let cost = |crossing: &Crossing| match crossing.at {
        Some(at) if !is_never(at) => Cell::Money(Some(crossing.cost)),
        _ => Cell::Empty,
    };
    let mut table = Table::of("crossings", &panel.crossings)
        .with(Column::left(name, "name"), |crossing| {
            // What all have in common is in the head of the column.
            Cell::text(crossing.name.strip_suffix(name).map_or(&*crossing.name, |own| own.trim_end_matches(": ")))
        })
        .with(Column::right(answers::unit(question), "at"), |crossing| number(crossing.at));
    if has_whole {
        table = table.with(Column::right("with parent", "at_with_parent"), |crossing| number(crossing.with_parent));
    }
    table
        .with(Column::right("formula", "formula"), |crossing| number(crossing.formula))
        .with(Column::right("cost there", "cost_usd").kept(), cost)
        .whole()
}

/// Cost against makespan, a row for each launch.
fn launch_table(panel: &Panel) -> Table {
    let columns = vec![
        Column::left("launch", "launch"),
        Column::right("makespan", "makespan_s"),
        Column::right("cost", "cost_usd"),
        Column::right("over the bound", "over_bound").kept(),
        Column::left("worth having", "frontier").kept(),
    ];
    let mut table = Table::new("launches", columns);
    let bound = panel.curves.iter().find(|curve| curve.is_bound).and_then(|curve| curve.points.first());
    for curve in panel.curves.iter().filter(|curve| !curve.is_bound) {
        let kept: Vec<&str> = frontier(&curve.points).into_iter().map(|point| &*point.label).collect();
        table.rows.extend(curve.points.iter().map(|point| {
            let is_kept = kept.contains(&&*point.label);
            vec![
                Cell::text(&*point.label),
                Cell::text(span((point.at * 1_000.0).round() as u64)),
                Cell::Money(Some(point.cost)),
                Cell::Error(bound.map(|bound| over(point.cost, bound.cost))),
                Cell::text(if is_kept { "yes" } else { "no" }),
            ]
        }));
    }
    table
}

/// The cost of each policy at some points of the axis, with the cheapest.
fn cost_table(question: Question, panel: &Panel) -> Table {
    let place = match question {
        Question::Ttl => "waiting",
        Question::ForkOrSpawn => "turns",
        Question::Children | Question::LookBack | Question::Prime => "children",
        Question::Grid(quantity) => quantity.word(),
    };
    let columns = vec![
        Column::right(place, "at"),
        Column::left("policy", "policy"),
        Column::right(if question == Question::LookBack { "cost of a child" } else { "cost" }, "cost_usd"),
        match question {
            Question::ForkOrSpawn => Column::right("against spawn", "against_spawn").kept(),
            _ => Column::right("over the cheapest", "over_cheapest").kept(),
        },
    ];
    let mut table = Table::new("costs", columns);
    for at in places(panel) {
        let here: Vec<(&Curve, &Point)> =
            panel.curves.iter().filter_map(|curve| curve.points.get(at).map(|point| (curve, point))).collect();
        let policies = here.iter().filter(|(curve, _)| !curve.is_bound);
        // Forks of different contexts are no alternatives; each is compared with agents of their own, the first curve.
        let is_choice = question != Question::ForkOrSpawn;
        let least = if is_choice { policies.map(|(_, point)| point.cost).min() } else { first_cost(&here) };
        let Some(least) = least else { continue };
        table.rows.extend(here.iter().map(|(curve, point)| {
            let over = match curve.is_bound {
                true => Cell::Empty,
                false if point.cost == least && is_choice => Cell::text("cheapest"),
                false => Cell::Error(Some(over(point.cost, least))),
            };
            vec![Cell::text(format!("{:.0}", point.at)), Cell::text(&*curve.name), Cell::Money(Some(point.cost)), over]
        }));
    }
    table
}

fn first_cost(here: &[(&Curve, &Point)]) -> Option<Money> {
    here.first().map(|(_, point)| point.cost)
}

/// Indices of about this many points, including the first and the last, denser at the beginning.
fn places(panel: &Panel) -> Vec<usize> {
    let count = panel.curves.iter().map(|curve| curve.points.len()).min().unwrap_or(0);
    if count <= PLACES_MAX {
        return (0..count).collect();
    }
    let last = (count - 1) as f64;
    let part = |at: usize| at as f64 / (PLACES_MAX - 1) as f64;
    let mut places: Vec<usize> = (0..PLACES_MAX).map(|at| (last * part(at).powf(1.5)).round() as usize).collect();
    places.dedup();
    places
}

fn over(cost: Money, least: Money) -> f64 {
    match least.picousd() {
        0 => 0.0,
        least => cost.picousd() as f64 / least as f64 - 1.0,
    }
}
