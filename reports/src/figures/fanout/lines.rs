//! Curves with their names above them and turning points marked.

use forkcast_scenarios::fanout::breakeven::{Crossing, Panel};

use super::axes::Scale;
use super::looks::Look;
use crate::figures::canvas::{Anchor, Area, Canvas, ink, text_width};

/// Of a swatch, and between entries.
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
        look.line(&[(left, y), (left + SWATCH, y)], canvas);
        look.mark((left + SWATCH / 2, y), canvas);
        canvas.text(&curve.name, (left + SWATCH + 8, y), SIZE, ink::TEXT, Anchor::Start);
        left += width + APART;
    }
}

/// The curves: lines first, so that no line covers a marker.
pub(super) fn draw(panel: &Panel, scale: &Scale, canvas: &mut Canvas<'_>) {
    let places = |at: usize| panel.curves[at].points.iter().map(|point| scale.place(point)).collect::<Vec<_>>();
    for (at, curve) in panel.curves.iter().enumerate() {
        Look::of(at, curve.is_bound).line(&places(at), canvas);
    }
    for (at, curve) in panel.curves.iter().enumerate() {
        for place in places(at) {
            Look::of(at, curve.is_bound).mark(place, canvas);
        }
    }
    for crossing in &panel.crossings {
        mark(crossing, scale, canvas);
    }
}

/// A ring with the place beside it, and a line down to the axis.
fn mark(crossing: &Crossing, scale: &Scale, canvas: &mut Canvas<'_>) {
    let Some(at) = crossing.at.filter(|at| scale.holds(*at)) else { return };
    let (x, y) = (scale.x(at), scale.y(crossing.cost));
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
