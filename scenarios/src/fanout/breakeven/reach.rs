//! The number of children at which a breakpoint at the tail no longer finds the parent's prefix (`economics.md` 3.2,
//! the look-back trap): N calls, N results, the parent's text and the directive are between them. If every block
//! counts, 2N + a + 1 must be at most 19; if runs of calls and of results count once, the prefix is always found. The
//! provider's documents describe both ways of counting, a month apart; a marker at the parent's previous end is safe
//! under both.

use forkcast_sim::agent::query::Placement;
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::Money;

use super::children::title;
use super::{Crossing, Curve, Inquiry, Panel, Point, Runs, Unanswered};
use crate::fanout::cell::Cell;
use crate::fanout::closed::{self, Assumption};

/// Default maximum of children on the curve.
const CHILDREN_MAX: u32 = 16;

/// Policies and rules, with their display names.
const CASES: [(Placement, &str, &str); 4] = [
    (Placement::Tail, "docs-2026-08", "tail, every block counts"),
    (Placement::Client2026, "docs-2026-08", "client-2026, every block counts"),
    (Placement::Tail, "docs-2026-09", "tail, runs count once"),
    (Placement::TailPrevious, "docs-2026-08", "tail+previous, every block counts"),
];

/// The panel; costs are those of one child.
///
/// # Errors
/// If a cell cannot be run or has no price.
pub fn panels(asked: &Inquiry, runs: &mut Runs<'_>) -> Result<Vec<Panel>, Unanswered> {
    let children = asked.children.clone().unwrap_or_else(|| (1..=CHILDREN_MAX).collect());
    let mut panel = Panel { title: title(false), ..Panel::default() };
    for (placement, rules, name) in CASES {
        let Some(rules) = Rules::preset(rules) else { unreachable!("there is a preset `{rules}`") };
        let cell = |children: u32| Cell { children, placement, rules, is_cold: false, ..asked.base.clone() };
        let before = runs.rows.len();
        let curve = runs.curve(name, children.iter().map(|children| (f64::from(*children), cell(*children))))?;
        let points = curve.points.into_iter().zip(&children).map(|(point, children)| Point {
            cost: Money::of(1, point.cost.picousd(), i128::from(*children)),
            ..point
        });
        let curve = Curve { points: points.collect(), ..curve };
        let lost = runs.rows[before..].iter().position(|row| {
            let prefixes = row.cell.prefix * u64::from(row.cell.children);
            row.outcome.usage.cache_read_input_tokens < prefixes
        });
        let out_of_reach = |children: &&u32| closed::holds(&cell(**children), runs.book) == Err(Assumption::LookBack);
        panel.crossings.push(Crossing {
            name: format!("{name}: the parent's prefix is lost from"),
            at: lost.map(|at| curve.points[at].at),
            cost: lost.map_or(Money::ZERO, |at| curve.points[at].cost),
            with_parent: None,
            formula: children.iter().find(out_of_reach).map(|children| f64::from(*children)),
        });
        panel.curves.push(curve);
    }
    Ok(vec![panel])
}
