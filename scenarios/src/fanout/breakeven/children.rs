//! Cost by number of children for each policy, their parent's requests included, with a bound: a warm and a cold parent
//! side by side.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;

use super::{BOUND, Curve, Inquiry, Panel, Point, Runs, Unanswered, bound_with_parent};
use crate::fanout::cell::Cell;

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
    let before = runs.rows.len();
    for (placement, launch) in POLICIES.into_iter().filter(|(placement, _)| is_cold || *placement != Placement::None) {
        let cell = |children: &u32| Cell { children: *children, placement, launch, is_cold, ..asked.base.clone() };
        let cells = children.iter().map(|children| (f64::from(*children), cell(children)));
        panel.curves.push(runs.curve(format!("{}, {}", placement.name(), launch.name()), cells)?);
    }
    let least = |at: &u32| {
        let here = runs.rows[before..].iter().filter(|row| row.cell.children == *at);
        Some(Point { at: f64::from(*at), cost: bound_with_parent(here)?, label: String::new() })
    };
    let bound: Option<Vec<Point>> = children.iter().map(least).collect();
    let bound = bound.map(|points| Curve { name: BOUND.to_owned(), is_bound: true, points });
    panel.curves.extend(bound);
    Ok(panel)
}

/// The title of a panel about a parent.
pub(super) fn title(is_cold: bool) -> String {
    format!("{} parent", if is_cold { "cold" } else { "warm" })
}
