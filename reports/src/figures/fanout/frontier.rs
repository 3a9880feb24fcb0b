//! Money against time: points that nothing beats in both are joined, the others are rings.

use forkcast_scenarios::fanout::breakeven::launching::frontier;
use forkcast_scenarios::fanout::breakeven::{Panel, Point};

use super::axes::Axes;
use super::looks::Look;
use crate::figures::canvas::{Anchor, Area, Canvas, ink, text_width};
use crate::figures::legend::Legend;

const SIZE: f64 = 12.0;

/// From a point to its name.
const REACH: i32 = 11;

/// The marks with their meanings.
pub(super) fn legend(panels: &[Panel], canvas: &mut Canvas<'_>) {
    let mut legend = Legend::new();
    let middle = |area: Area| (i32::midpoint(area.left, area.right), i32::midpoint(area.top, area.bottom));
    legend.entry("nothing is both faster and cheaper", canvas, |area, canvas| {
        let (x, y) = middle(area);
        canvas.path(&[(area.left, y), (area.right, y)], ink::LINE, 2);
        canvas.disc((x, y), 5, ink::LINE);
    });
    legend.entry("another is as fast and as cheap, or better", canvas, |area, canvas| {
        canvas.ring(middle(area), 5, ink::FAINT);
    });
    if panels.iter().flat_map(|panel| &panel.curves).any(|curve| curve.is_bound) {
        legend.entry("bound, with the cheapest parent", canvas, |area, canvas| {
            let (_, y) = middle(area);
            Look::of(0, true).line(&[(area.left, y), (area.right, y)], 0, canvas);
        });
    }
}

/// The points of a panel.
pub(super) fn draw(panel: &Panel, axes: &Axes, canvas: &mut Canvas<'_>) {
    let bounds = panel.curves.iter().filter(|curve| curve.is_bound);
    let levels: Vec<i32> = bounds.filter_map(|curve| curve.points.first()).map(|point| axes.y(point.cost)).collect();
    for y in &levels {
        Look::of(0, true).line(&[(axes.area.left, *y), (axes.area.right, *y)], 0, canvas);
    }
    for curve in panel.curves.iter().filter(|curve| !curve.is_bound) {
        let kept = frontier(&curve.points);
        let path = steps(&kept, axes);
        canvas.path(&path, ink::LINE, 2);
        let mut taken: Vec<Area> = curve.points.iter().map(|point| around(axes.place(point))).collect();
        taken.extend(path.windows(2).map(|pair| along(pair[0], pair[1])));
        taken.extend(levels.iter().map(|y| along((axes.area.left, *y), (axes.area.right, *y))));
        for place in curve.points.iter().map(|point| axes.place(point)) {
            canvas.disc(place, 5, ink::PAPER);
            canvas.ring(place, 5, ink::FAINT);
        }
        // Above others at the same place.
        kept.iter().for_each(|point| canvas.disc(axes.place(point), 6, ink::LINE));
        for point in &curve.points {
            name(point, axes, &mut taken, canvas);
        }
    }
}

/// From each point to the right as far as the next one, then down.
fn steps(kept: &[&Point], axes: &Axes) -> Vec<(i32, i32)> {
    let mut path: Vec<(i32, i32)> = Vec::new();
    for point in kept {
        let (x, y) = axes.place(point);
        if let Some((_, before)) = path.last().copied() {
            path.push((x, before));
        }
        path.push((x, y));
    }
    path
}

const fn around(place: (i32, i32)) -> Area {
    let (x, y) = place;
    Area { left: x - 7, top: y - 7, right: x + 8, bottom: y + 8 }
}

/// The area covered by a straight piece of a line.
fn along(from: (i32, i32), to: (i32, i32)) -> Area {
    let (left, right) = (from.0.min(to.0), from.0.max(to.0));
    let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
    Area { left: left - 2, top: top - 2, right: right + 3, bottom: bottom + 3 }
}

/// Writes a point's name where it covers nothing: to the right, to the left, above, below, then further away.
fn name(point: &Point, axes: &Axes, taken: &mut Vec<Area>, canvas: &mut Canvas<'_>) {
    let (x, y) = axes.place(point);
    let width = text_width(&point.label, SIZE);
    let at = |left: i32, middle: i32| Area { left, top: middle - 8, right: left + width, bottom: middle + 8 };
    let near = |lift: i32| {
        [
            at(x + REACH, y - lift),
            at(x - REACH - width, y - lift),
            at(x + REACH, y + lift),
            at(x - REACH - width, y + lift),
        ]
    };
    let is_free = |area: &Area| {
        area.left >= axes.area.left
            && area.right <= axes.area.right + 20
            && taken.iter().all(|other| !area.overlaps(other))
    };
    let Some(area) = [0, 12, 20, 28, 42, 56].into_iter().flat_map(near).find(is_free) else { return };
    let middle = i32::midpoint(area.top, area.bottom);
    if (middle - y).abs() > 14 {
        let side = if area.left > x { area.left - 2 } else { area.right + 2 };
        canvas.line((x, y), (side, middle), ink::FAINT);
    }
    // The width of a text is an estimate, so it begins or ends at the side that faces the point.
    if area.left > x {
        canvas.text(&point.label, (area.left, middle), SIZE, ink::TEXT, Anchor::Start);
    } else {
        canvas.text(&point.label, (area.right, middle), SIZE, ink::TEXT, Anchor::End);
    }
    taken.push(area);
}
