//! Curves with their names above them and turning points marked.

use forkcast_scenarios::fanout::breakeven::{Crossing, Panel};

use super::axes::Scale;
use super::looks::Look;
use crate::figures::canvas::{Anchor, Area, Canvas, ink, text_width};

/// Widths of a swatch, and between entries.
const SWATCH: i32 = 40;
const APART: i32 = 26;
const ROW: i32 = 22;
const SIZE: f64 = 12.0;

/// The names of the curves, in rows.
pub(super) fn legend(panel: &Panel, area: Area, canvas: &mut Canvas<'_>) {
    let (mut left, mut y) = (area.left, area.top);
    for (at, curve) in panel.curves.iter().enumerate() {
        let width = SWATCH + 8 + text_width(&curve.name, SIZE);
        if left + width > area.right {
            (left, y) = (area.left, y + ROW);
        }
        let look = Look::of(at, curve.is_bound);
        look.line(&[(left, y), (left + SWATCH, y)], 0, canvas);
        look.mark((left + SWATCH / 2, y), 0, canvas);
        canvas.text(&curve.name, (left + SWATCH + 8, y), SIZE, ink::TEXT, Anchor::Start);
        left += width + APART;
    }
}

/// The curves: lines first, so that no line covers a marker.
pub(super) fn draw(panel: &Panel, scale: &Scale, canvas: &mut Canvas<'_>) {
    let lines: Vec<Vec<(i32, i32)>> =
        panel.curves.iter().map(|curve| curve.points.iter().map(|point| scale.place(point)).collect()).collect();
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
    let mut told = Vec::new();
    for crossing in &panel.crossings {
        mark(crossing, scale, &mut told, canvas);
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

/// A ring, and a line down to the place on the axis, once for each place.
fn mark(crossing: &Crossing, scale: &Scale, told: &mut Vec<i32>, canvas: &mut Canvas<'_>) {
    let Some(at) = crossing.at.filter(|at| scale.holds(*at)) else { return };
    let (x, y) = (scale.x(at), scale.y(crossing.cost));
    if told.contains(&x) {
        return canvas.ring((x, y), 9, ink::TEXT);
    }
    told.push(x);
    let bottom = scale.area.bottom;
    let mut from = y + 10;
    while from < bottom {
        canvas.line((x, from), (x, (from + 4).min(bottom)), ink::TEXT);
        from += 8;
    }
    canvas.ring((x, y), 9, ink::TEXT);
    let text = if at.fract() == 0.0 { format!("{at:.0}") } else { format!("{at:.1}") };
    let width = text_width(&text, 13.0);
    let label = Area { left: x - width / 2 - 3, top: bottom - 30, right: x + width / 2 + 3, bottom: bottom - 12 };
    canvas.fill(label, ink::PAPER);
    canvas.text(&text, (x, bottom - 21), 13.0, ink::TEXT, Anchor::Middle);
}
