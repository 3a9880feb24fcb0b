//! Curves with their names above them and turning points marked.

use forkcast_scenarios::fanout::breakeven::{Crossing, Panel, Question};

use super::axes::Axes;
use super::looks::Look;
use crate::answers;
use crate::figures::canvas::{Anchor, Area, Canvas, ink, text_width};
use crate::figures::legend::Legend;

const SIZE: f64 = 13.0;

/// The names of the curves.
pub(super) fn legend(panel: &Panel, canvas: &mut Canvas<'_>) {
    let mut legend = Legend::new();
    for (at, curve) in panel.curves.iter().enumerate() {
        let look = Look::of(at, curve.is_bound);
        legend.entry(&curve.name, canvas, |area, canvas| {
            let y = i32::midpoint(area.top, area.bottom);
            look.line(&[(area.left, y), (area.right, y)], 0, canvas);
            look.mark((i32::midpoint(area.left, area.right), y), 0, canvas);
        });
    }
}

/// The curves: lines first, so that no line covers a marker.
pub(super) fn draw(panel: &Panel, axes: &Axes, question: Question, canvas: &mut Canvas<'_>) {
    let lines: Vec<Vec<(i32, i32)>> =
        panel.curves.iter().map(|curve| curve.points.iter().map(|point| axes.place(point)).collect()).collect();
    let look = |at: usize| Look::of(at, panel.curves[at].is_bound);
    // A bound is no wider for what lies on it, and covers nothing.
    let above = |at: usize, piece: &[(i32, i32)]| {
        let later = panel.curves.iter().zip(&lines).skip(at + 1).filter(|(curve, _)| !curve.is_bound);
        let count = later.filter(|(_, line)| line.windows(piece.len()).any(|other| other == piece)).count();
        if panel.curves[at].is_bound { 0 } else { u32::try_from(count).unwrap_or(0).min(ABOVE_MAX) }
    };
    for (at, line) in lines.iter().enumerate() {
        for (above, run) in runs(line, &|piece| above(at, piece)) {
            look(at).line(run, above, canvas);
        }
    }
    for (at, line) in lines.iter().enumerate() {
        line.iter().for_each(|place| look(at).mark(*place, above(at, &[*place]), canvas));
    }
    let mut names = Vec::new();
    for crossing in &panel.crossings {
        mark(crossing, axes, question, &mut names, canvas);
    }
}

/// Lines that show beside those above them at most.
const ABOVE_MAX: u32 = 4;

/// How many lines above it a stretch of a line has, and its points.
type Stretch<'l> = (u32, &'l [Point]);

/// A point in pixels.
type Point = (i32, i32);

/// Stretches of a line between which the number of lines above it changes.
fn runs<'l>(line: &'l [Point], above: &dyn Fn(&[Point]) -> u32) -> Vec<Stretch<'l>> {
    let counts: Vec<u32> = line.windows(2).map(above).collect();
    let mut runs = Vec::new();
    let mut start = 0;
    for stretch in counts.chunk_by(|one, next| one == next) {
        runs.push((stretch[0], &line[start..=start + stretch.len()]));
        start += stretch.len();
    }
    runs
}

/// From a ring to the edge of the plot at which its name is, at least.
const NAME_ROOM: i32 = 40;

/// Height of a row of names.
const ROW: i32 = 20;

/// The name of a place: the place, and the box of the name.
struct Name {
    x: i32,
    area: Area,
}

/// A ring, and a line to the place's name: up where there is room, since lines lie below; once for each place, and in a
/// row of its own where it would cover another.
fn mark(crossing: &Crossing, axes: &Axes, question: Question, names: &mut Vec<Name>, canvas: &mut Canvas<'_>) {
    let Some(at) = crossing.at.filter(|at| axes.right.holds(*at)) else { return };
    let (x, y) = (axes.right.at(at), axes.y(crossing.cost));
    canvas.ring((x, y), 9, ink::TEXT);
    if names.iter().any(|name| name.x == x) {
        return;
    }
    let text = answers::place(question, at);
    let half = text_width(&text, SIZE) / 2 + 3;
    let area = axes.area;
    let middle = x.clamp(area.left + half, area.right - half);
    let is_up = y - area.top >= NAME_ROOM;
    let mut name = if is_up { area.top + 8 } else { area.bottom - 21 };
    let covers = |name: i32| Area { left: middle - half, top: name - 9, right: middle + half, bottom: name + 9 };
    let meets = |one: Area, other: Area| {
        one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
    };
    while names.iter().any(|other| meets(other.area, covers(name))) && (area.top..y - NAME_ROOM).contains(&name) {
        name += ROW;
    }
    names.push(Name { x, area: covers(name) });
    for from in (y.min(name) + 10..y.max(name) - 10).step_by(8) {
        canvas.line((x, from), (x, from + 4), ink::TEXT);
    }
    canvas.fill(covers(name), ink::PAPER);
    canvas.text(&text, (middle, name), SIZE, ink::TEXT, Anchor::Middle);
}
