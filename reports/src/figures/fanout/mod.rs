//! Answers about fan-outs: cost by the varying parameter, a line for each policy, the bound dotted, turning points
//! marked; or cost against time with the Pareto frontier.
//!
//! Lines differ in colour, in dashes and in markers, so that they are distinguishable in greyscale.

use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::breakeven::{Answer, Question};

use super::canvas::{Anchor, Area, Canvas, ink};
use crate::document::count;
use axes::Scale;

mod axes;
mod frontier;
mod lines;
mod looks;

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 640;
const LEFT: i32 = 90;
const RIGHT: i32 = 1170;
const TOP: i32 = 168;
const BOTTOM: i32 = 566;

/// Between two panels: room for the numbers of the right one.
const GUTTER: i32 = 96;

/// The picture as SVG.
pub fn svg(answer: &Answer) -> String {
    let mut text = String::new();
    let mut canvas = Canvas::new(&mut text, WIDTH, HEIGHT);
    canvas.text(answer.question.about(), (LEFT, 34), 20.0, ink::TEXT, Anchor::Start);
    canvas.text(&said(answer), (LEFT, 62), 13.0, ink::FAINT, Anchor::Start);
    let is_frontier = answer.question == Question::Prime;
    // The panel with the most curves names them all; curves of the same policy have the same position in every panel.
    if let Some(panel) = answer.panels.iter().max_by_key(|panel| panel.curves.len()) {
        if is_frontier {
            frontier::legend((LEFT, 94), &mut canvas);
        } else {
            lines::legend(panel, Area { left: LEFT, top: 94, right: RIGHT, bottom: TOP }, &mut canvas);
        }
    }
    for (panel, area) in answer.panels.iter().zip(areas(answer.panels.len())) {
        let scale = Scale::of(panel, area, is_frontier);
        canvas.text(&panel.title, (area.left, area.top - 26), 13.0, ink::TEXT, Anchor::Start);
        scale.draw(answer.question, &mut canvas);
        if is_frontier {
            frontier::draw(panel, &scale, &mut canvas);
        } else {
            lines::draw(panel, &scale, &mut canvas);
        }
    }
    canvas.finish();
    text
}

/// Side by side, equally wide.
fn areas(panels: usize) -> Vec<Area> {
    let count = i32::try_from(panels).unwrap_or(1).max(1);
    let width = (RIGHT - LEFT - GUTTER * (count - 1)) / count;
    let left = |at: i32| LEFT + at * (width + GUTTER);
    (0..count).map(|at| Area { left: left(at), top: TOP, right: left(at) + width, bottom: BOTTOM }).collect()
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
    let (has_turns, in_panels) = match answer.question {
        Question::ForkOrSpawn => (true, &["prefix"][..]),
        Question::Ttl => (true, &["prefix", "turns", "lifetime"][..]),
        _ => (answer.rows.iter().any(|row| row.cell.requests() > 1), &[][..]),
    };
    let parts: [(&str, Telling); 8] = [
        ("model", |cell| cell.model.to_string()),
        ("prefix", |cell| format!("prefix {}", count(cell.prefix))),
        ("tail", |cell| format!("tail {}", count(cell.tail))),
        ("directive", |cell| format!("directive {}", count(cell.directive))),
        ("growth", |cell| format!("growth {}", count(cell.growth))),
        ("turns", |cell| format!("{} turns", cell.turns)),
        ("lifetime", |cell| format!("lifetime {}", cell.ttl.name())),
        ("rules", |cell| format!("cache rules {}", cell.rules.name)),
    ];
    let is_told = |name: &str| !in_panels.contains(&name) && (has_turns || !["growth", "turns"].contains(&name));
    let parts = parts.into_iter().filter(|(name, _)| is_told(name)).filter_map(|(_, of)| same(of));
    format!("{}; every point is a run, output included", parts.collect::<Vec<_>>().join(", "))
}
