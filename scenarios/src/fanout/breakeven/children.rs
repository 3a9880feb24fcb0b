//! Cost by number of children for each policy, with the lower bound: a warm and a cold parent side by side.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;

use super::{Curve, Inquiry, Panel, Point, Runs, Unanswered};
use crate::fanout::cell::Cell;
use crate::fanout::trial::Trial;

/// Default maximum of children on the curve.
const CHILDREN_MAX: u32 = 16;

/// Today's client, what it could do, and no cache at all. The last one is left out of a warm parent's panel, where it
/// would squeeze the other curves together.
const POLICIES: [(Placement, LaunchPolicy); 4] = [
    (Placement::Client2026, LaunchPolicy::Burst),
    (Placement::Both, LaunchPolicy::Waves(4)),
    (Placement::Both, LaunchPolicy::Primed),
    (Placement::None, LaunchPolicy::Burst),
];

/// The panels.
///
/// # Errors
/// If a cell cannot be run or has no price.
pub fn panels(asked: &Inquiry, runs: &mut Runs<'_>) -> Result<Vec<Panel>, Unanswered> {
    // The one that was asked for comes first: it is the answer's title.
    let asked_first = [asked.base.is_cold, !asked.base.is_cold];
    asked_first.into_iter().map(|is_cold| panel(asked, is_cold, runs)).collect()
}

fn panel(asked: &Inquiry, is_cold: bool, runs: &mut Runs<'_>) -> Result<Panel, Unanswered> {
    let children = asked.children.clone().unwrap_or_else(|| (1..=CHILDREN_MAX).collect());
    let mut panel = Panel { title: title(is_cold), ..Panel::default() };
    let mut bound: Option<Vec<Point>> = None;
    for (placement, launch) in POLICIES.into_iter().filter(|(placement, _)| is_cold || *placement != Placement::None) {
        let cell = |children: &u32| Cell { children: *children, placement, launch, is_cold, ..asked.base.clone() };
        let cells = children.iter().map(|children| (f64::from(*children), cell(children)));
        let before = runs.rows.len();
        panel.curves.push(runs.curve(format!("{}, {}", placement.name(), launch.name()), cells)?);
        let least = |(at, row): (&u32, &Trial)| {
            Some(Point { at: f64::from(*at), cost: row.outcome.bound?, label: String::new() })
        };
        bound = children.iter().zip(&runs.rows[before..]).map(least).collect();
    }
    let bound = bound.map(|points| Curve { name: "bound".to_owned(), is_bound: true, points });
    panel.curves.extend(bound);
    Ok(panel)
}

/// The title of a panel about a parent.
pub(super) fn title(is_cold: bool) -> String {
    format!("{} parent", if is_cold { "cold" } else { "warm" })
}
