//! Answers that follow from the rows of a grid: cost by children for each policy, and cost against makespan.

use std::collections::BTreeSet;

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::pricing::Money;

use super::{Answer, Curve, Panel, Point, Question, children, thousands};
use crate::fanout::cell::Cell;
use crate::fanout::trial::Trial;

/// Maximum numbers of panels, of curves in a panel, and of points on a frontier; more would be unreadable.
const PANELS_MAX: usize = 2;
const CURVES_MAX: usize = 6;
const POINTS_MAX: usize = 12;

/// The plots that fit a grid; empty if too many or too few parameters vary, if answers are missing, or if there is no
/// price.
pub fn plots(rows: &[Trial]) -> Vec<Answer> {
    if rows.iter().any(|row| !row.is_answered() || row.outcome.cost.is_none()) {
        return Vec::new();
    }
    [by_children(rows), by_time(rows)].into_iter().flatten().collect()
}

/// A setting, and the rows that differ only in policy and in the parameter that the figure varies.
type Setting<'a> = (Cell, Vec<&'a Trial>);

/// Groups rows by what `of` keeps of their cells, in order of first occurrence.
fn settings<'a>(rows: impl Iterator<Item = &'a Trial>, of: impl Fn(&Cell) -> Cell) -> Vec<Setting<'a>> {
    let mut settings: Vec<Setting<'a>> = Vec::new();
    for row in rows {
        let cell = of(&row.cell);
        match settings.iter_mut().find(|(known, _)| *known == cell) {
            Some((_, rows)) => rows.push(row),
            None => settings.push((cell, vec![row])),
        }
    }
    settings
}

fn without_policy(cell: &Cell) -> Cell {
    Cell { launch: LaunchPolicy::default(), placement: Placement::default(), spawn: None, ..cell.clone() }
}

/// Cost by children, if these vary and few other parameters do.
fn by_children(rows: &[Trial]) -> Option<Answer> {
    let settings = settings(rows.iter(), |cell| Cell { children: 0, ..without_policy(cell) });
    let panels: Vec<Panel> =
        settings.iter().map(|(cell, rows)| children_panel(titled(cell, &settings), rows)).collect();
    let is_curved = |panel: &Panel| panel.curves.iter().all(|curve| curve.points.len() > 1);
    let fits = |panel: &Panel| panel.curves.iter().filter(|curve| !curve.is_bound).count() <= CURVES_MAX;
    let suits = panels.len() <= PANELS_MAX && panels.iter().all(|panel| is_curved(panel) && fits(panel));
    suits.then(|| Answer { question: Question::Children, rows: rows.to_vec(), panels })
}

fn children_panel(title: String, rows: &[&Trial]) -> Panel {
    let mut curves: Vec<Curve> = Vec::new();
    let mut bound = Curve { name: "bound".to_owned(), is_bound: true, points: Vec::new() };
    for row in rows {
        let at = f64::from(row.cell.children);
        let point = |cost: Money| Point { at, cost, label: String::new() };
        if let Some(least) = row.outcome.bound.filter(|_| bound.points.iter().all(|point| point.at != at)) {
            bound.points.push(point(least));
        }
        let name = policy(&row.cell);
        let Some(cost) = row.outcome.cost.map(point) else { continue };
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(cost),
            None => curves.push(Curve { name, is_bound: false, points: vec![cost] }),
        }
    }
    curves.extend((!bound.points.is_empty()).then_some(bound));
    for curve in &mut curves {
        curve.points.sort_by(|one, other| one.at.total_cmp(&other.at));
    }
    Panel { title, curves, crossings: Vec::new() }
}

/// Cost against makespan of the widest fan-outs, if several policies are compared.
fn by_time(rows: &[Trial]) -> Option<Answer> {
    let widest = rows.iter().map(|row| row.cell.children).max()?;
    let rows: Vec<Trial> = rows.iter().filter(|row| row.cell.children == widest).cloned().collect();
    let settings = settings(rows.iter(), without_policy);
    let is_readable = |(_, rows): &Setting<'_>| (2..=POINTS_MAX).contains(&rows.len());
    if settings.len() > PANELS_MAX || !settings.iter().all(is_readable) {
        return None;
    }
    let title = |cell: &Cell| format!("{}, {widest} children", titled(cell, &settings));
    let panels = settings.iter().map(|(cell, rows)| time_panel(title(cell), rows)).collect();
    Some(Answer { question: Question::Prime, rows: rows.clone(), panels })
}

fn time_panel(title: String, rows: &[&Trial]) -> Panel {
    let kinds: BTreeSet<(Placement, bool)> =
        rows.iter().map(|row| (row.cell.placement, row.cell.spawn.is_some())).collect();
    let label = |cell: &Cell| if kinds.len() > 1 { policy(cell) } else { cell.launch.name() };
    let seconds = |row: &Trial| row.outcome.makespan.0 as f64 / 1e9;
    let point = |row: &&Trial| Some(Point { at: seconds(row), cost: row.outcome.cost?, label: label(&row.cell) });
    let mut points: Vec<Point> = rows.iter().filter_map(point).collect();
    points.sort_by(|one, other| one.at.total_cmp(&other.at).then(one.cost.cmp(&other.cost)));
    let ends = [points.first(), points.last()].into_iter().flatten();
    let least = rows.iter().find_map(|row| row.outcome.bound);
    let bound = ends.filter_map(|end| Some(Point { at: end.at, cost: least?, label: String::new() })).collect();
    let mut curves = vec![Curve { name: "policy".to_owned(), is_bound: false, points }];
    curves.extend(least.map(|_| Curve { name: "bound".to_owned(), is_bound: true, points: bound }));
    Panel { title, curves, crossings: Vec::new() }
}

/// Such as `both, primed`; named agents have no launch policy.
fn policy(cell: &Cell) -> String {
    match cell.spawn {
        Some(_) => format!("spawn, {}", cell.placement.name()),
        None => format!("{}, {}", cell.placement.name(), cell.launch.name()),
    }
}

/// The parent, and everything else that distinguishes a setting from the others.
fn titled(cell: &Cell, settings: &[Setting<'_>]) -> String {
    let varies = |of: fn(&Cell) -> String| {
        let words: BTreeSet<String> = settings.iter().map(|(cell, _)| of(cell)).collect();
        (words.len() > 1).then(|| of(cell))
    };
    let parts: [fn(&Cell) -> String; 7] = [
        |cell| cell.model.to_string(),
        |cell| format!("{} of context", thousands(cell.prefix)),
        |cell| format!("tail {}", thousands(cell.tail)),
        |cell| format!("directive {}", cell.directive),
        |cell| format!("{} turns", cell.turns),
        |cell| format!("growth {}", thousands(cell.growth)),
        |cell| format!("lifetime {}", cell.ttl.name()),
    ];
    let told = parts.into_iter().filter_map(varies);
    std::iter::once(children::title(cell.is_cold)).chain(told).collect::<Vec<_>>().join(", ")
}
