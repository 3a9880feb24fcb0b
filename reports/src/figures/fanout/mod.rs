//! Answers about fan-outs: cost by the varying parameter, a line for each policy, the bound dotted, turning points
//! marked; or cost against time with the Pareto frontier.
//!
//! Lines differ in colour, in dashes and in markers, so that they are distinguishable in greyscale.

use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::breakeven::{Answer, Quantity, Question};

use super::canvas::{Anchor, Area, EDGE, HEAD, WIDTH, ink, picture, shortened};
use super::legend::Legend;
use super::svg::Caption;
use crate::answers;
use crate::document::count;
use axes::Axes;

mod axes;
mod frontier;
mod lines;
mod looks;

const LEFT: i32 = 84;
const RIGHT: i32 = WIDTH - EDGE;

/// Height of a plot, and the room above and below it: titles, numbers.
const HIGH: i32 = 380;
const ABOVE: i32 = 46;
const BELOW: i32 = 56;

/// Between two panels: room for the numbers of the right one.
const GUTTER: i32 = 84;

const SIZE: f64 = 13.0;

/// The picture as SVG.
pub fn svg(answer: &Answer) -> String {
    let is_frontier = answer.question == Question::Prime;
    // The panel with the most curves names them all; curves of the same policy have the same position in every panel.
    let widest = answer.panels.iter().max_by_key(|panel| panel.curves.len());
    let names = widest.iter().filter(|_| !is_frontier).flat_map(|panel| &panel.curves).map(|curve| &*curve.name);
    let top = HEAD + Legend::height(names) + ABOVE;
    let panels = answers::panels(answer);
    picture(&caption(answer, &panels), top + HIGH + BELOW, |canvas| {
        match widest {
            Some(panel) if !is_frontier => lines::legend(panel, canvas),
            _ => frontier::legend(&answer.panels, canvas),
        }
        for ((panel, said), area) in answer.panels.iter().zip(&panels).zip(areas(answer.panels.len(), top)) {
            let axes = Axes::of(panel, area, is_frontier);
            let said = shortened(said, SIZE, area.width());
            canvas.text(&said, (area.left, area.top - 31), SIZE, ink::TEXT, Anchor::Start);
            axes.draw(answer.question, canvas);
            if is_frontier {
                frontier::draw(panel, &axes, canvas);
            } else {
                lines::draw(panel, &axes, answer.question, canvas);
            }
        }
    })
}

/// Side by side, equally wide.
fn areas(panels: usize, top: i32) -> Vec<Area> {
    let count = i32::try_from(panels).unwrap_or(1).max(1);
    let width = (RIGHT - LEFT - GUTTER * (count - 1)) / count;
    let left = |at: i32| LEFT + at * (width + GUTTER);
    (0..count).map(|at| Area { left: left(at), top, right: left(at) + width, bottom: top + HIGH }).collect()
}

fn caption(answer: &Answer, panels: &[String]) -> Caption {
    Caption {
        title: answers::of(answer),
        note: said(answer),
        description: format!("{} {}", answer.question.about(), panels.join("; ")),
    }
}

/// Formats one parameter of a cell.
type Telling = fn(&Cell) -> String;

/// The common values of all runs that the panels do not show.
fn said(answer: &Answer) -> String {
    let Some(first) = answer.rows.first() else { return String::new() };
    let same = |of: Telling| {
        let told = of(&first.cell);
        answer.rows.iter().all(|row| of(&row.cell) == told).then_some(told)
    };
    let in_panels = match answer.question {
        Question::ForkOrSpawn => &["children", "prefix"][..],
        Question::Ttl => &["children", "prefix", "turns", "lifetime"],
        Question::Prime => &["children"],
        _ => &[],
    };
    let has_growth = answer.rows.iter().any(|row| row.cell.requests() > 1);
    let parts: [(&str, Telling); 10] = [
        ("model", |cell| cell.model.to_string()),
        ("profile", |cell| format!("forks as {}", cell.profile.name())),
        ("children", |cell| Quantity::Children.said(cell.children.into())),
        ("prefix", |cell| format!("prefix {}", count(cell.prefix))),
        ("tail", |cell| format!("tail {}", count(cell.tail))),
        ("directive", |cell| format!("directive {}", count(cell.directive))),
        ("growth", |cell| format!("growth {}", count(cell.growth))),
        ("turns", |cell| Quantity::Turns.said(cell.turns.into())),
        ("lifetime", |cell| format!("lifetime {}", cell.ttl.name())),
        ("rules", |cell| format!("cache rules {}", cell.rules.name)),
    ];
    let is_told = |name: &str| !in_panels.contains(&name) && (has_growth || name != "growth");
    let spawn = answer.rows.iter().find_map(|row| row.cell.spawn).map(|spawn| spawn.to_string());
    let parts = parts.into_iter().filter(|(name, _)| is_told(name)).filter_map(|(_, of)| same(of)).chain(spawn);
    format!("{}; every point is a run, output included", parts.collect::<Vec<_>>().join(", "))
}
