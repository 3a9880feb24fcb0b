//! What colours, fills and marks mean.

use forkcast_scenarios::run::Run;
use forkcast_sim::wire::Level;

use super::bars::{State, fill, hue};
use super::marks;
use crate::figures::canvas::{Canvas, ink};
use crate::figures::legend::{Legend, ROW};

/// Height of the legend.
pub fn height(run: &Run) -> i32 {
    if has_forks(run) || has_misses(run) { 2 * ROW } else { ROW }
}

/// Levels and states in the first line, marks in the second, if there are any.
pub fn draw(run: &Run, canvas: &mut Canvas<'_>) {
    let mut legend = Legend::new();
    for (name, level) in [("Tools", Level::Tools), ("System", Level::System), ("Messages", Level::Messages)] {
        legend.colour(name, hue(level), canvas);
    }
    let states = [
        ("Read from the cache", State::Read),
        ("Written into it", State::Written),
        ("Fresh: plain input", State::Fresh),
    ];
    for (name, state) in states {
        legend.entry(name, canvas, |area, canvas| fill(ink::FAINT, state, area, canvas));
    }
    legend.wrap();
    if has_forks(run) {
        legend.entry("Up to here the parent had sent it", canvas, |area, canvas| {
            marks::dashes((area.left + area.right) / 2, area.top - 2, area.bottom + 3, canvas);
        });
    }
    if has_misses(run) {
        for (name, is_content) in
            [("Departs from what it continues", true), ("Sent before and not read from here on", false)]
        {
            legend.entry(name, canvas, |area, canvas| {
                marks::tick(i32::midpoint(area.left, area.right), area.top + 2, area.bottom, is_content, canvas);
            });
        }
    }
}

fn has_forks(run: &Run) -> bool {
    run.agents.iter().any(|agent| agent.fork.is_some())
}

fn has_misses(run: &Run) -> bool {
    run.requests.iter().any(|request| !request.line.charge.causes.is_empty())
}
