//! One child first or all at once: cost, the parent's requests included, against makespan (`economics.md` 3.1).

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::time::Duration;

use super::children::title;
use super::{BOUND, Curve, Inquiry, Panel, Point, Runs, Unanswered, bound_with_parent};
use crate::fanout::cell::Cell;

/// Default number of children.
const CHILDREN: u32 = 8;

const LAUNCHES: [LaunchPolicy; 7] = [
    LaunchPolicy::Burst,
    LaunchPolicy::Stagger(Duration::from_millis(50)),
    LaunchPolicy::Stagger(Duration::from_millis(150)),
    LaunchPolicy::Stagger(Duration::from_millis(400)),
    LaunchPolicy::Waves(4),
    LaunchPolicy::Waves(2),
    LaunchPolicy::Primed,
];

/// A warm and a cold parent side by side; positions are seconds.
///
/// # Errors
/// If a cell cannot be run or has no price.
pub fn panels(asked: &Inquiry, runs: &mut Runs<'_>) -> Result<Vec<Panel>, Unanswered> {
    let children = asked.children.as_ref().and_then(|children| children.first().copied()).unwrap_or(CHILDREN);
    let base = Cell { children, placement: Placement::Both, ..asked.base.clone() };
    let asked_first = [base.is_cold, !base.is_cold];
    asked_first.into_iter().map(|is_cold| panel(&Cell { is_cold, ..base.clone() }, runs)).collect()
}

fn panel(cell: &Cell, runs: &mut Runs<'_>) -> Result<Panel, Unanswered> {
    let mut points = Vec::new();
    let before = runs.rows.len();
    for launch in LAUNCHES {
        let (row, cost) = runs.row(&Cell { launch, ..cell.clone() })?;
        points.push(Point { at: row.outcome.makespan.0 as f64 / 1e9, cost, label: launch.name() });
    }
    points.sort_by(|one, other| one.at.total_cmp(&other.at).then(one.cost.cmp(&other.cost)));
    let ends: Vec<f64> = [points.first(), points.last()].into_iter().flatten().map(|point| point.at).collect();
    let bound = bound_with_parent(runs.rows[before..].iter()).map(|cost| {
        let points = ends.into_iter().map(|at| Point { at, cost, label: String::new() }).collect();
        Curve { name: BOUND.to_owned(), is_bound: true, points }
    });
    let curves = [Curve { name: "launch".to_owned(), is_bound: false, points }].into_iter().chain(bound).collect();
    Ok(Panel { title: format!("{}, {} children", title(cell.is_cold), cell.children), curves, ..Panel::default() })
}

/// Points that no other point beats in both time and cost; the input must be sorted by time, then cost.
pub fn frontier(points: &[Point]) -> Vec<&Point> {
    let mut kept: Vec<&Point> = Vec::new();
    for point in points {
        if kept.last().is_none_or(|last| point.cost < last.cost) {
            kept.push(point);
        }
    }
    kept
}
