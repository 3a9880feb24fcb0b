//! What tells one line from another: colour, dashes, marker.

use plotters::style::RGBColor;

use crate::figures::canvas::{Canvas, ink};

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub colour: RGBColor,
    /// Pixels drawn and left out in turn; nothing for a whole line.
    dashes: &'static [i32],
    marker: Marker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    Nothing,
    Disc,
    Square,
    Diamond,
    Triangle,
    Ring,
    Bowl,
}

/// Darker and lighter in turn, so that neighbours differ on grey paper too (Okabe and Ito, 2008).
const LOOKS: [Look; 6] = [
    Look { colour: RGBColor(0, 114, 178), dashes: &[], marker: Marker::Disc },
    Look { colour: RGBColor(213, 94, 0), dashes: &[12, 5], marker: Marker::Square },
    Look { colour: RGBColor(0, 158, 115), dashes: &[3, 4], marker: Marker::Triangle },
    Look { colour: RGBColor(150, 70, 120), dashes: &[12, 4, 3, 4], marker: Marker::Diamond },
    Look { colour: RGBColor(60, 60, 60), dashes: &[6, 4], marker: Marker::Ring },
    Look { colour: RGBColor(110, 80, 20), dashes: &[16, 4, 2, 4, 2, 4], marker: Marker::Bowl },
];

const BOUND: Look = Look { colour: ink::TEXT, dashes: &[2, 5], marker: Marker::Nothing };

impl Look {
    /// Of the curve at this place of its panel.
    pub fn of(at: usize, is_bound: bool) -> Self {
        if is_bound { BOUND } else { LOOKS[at % LOOKS.len()] }
    }

    /// Draws the line through these points. Where `above` lines will cover it, it is broader, so that it shows beside them.
    pub fn line(self, points: &[(i32, i32)], above: u32, canvas: &mut Canvas<'_>) {
        let width = 2 + 3 * above;
        if self.dashes.is_empty() || above > 0 {
            return canvas.path(points, self.colour, width);
        }
        for dash in dashed(points, self.dashes) {
            canvas.path(&dash, self.colour, width);
        }
    }

    /// Marks a point, larger where `above` other markers will cover it.
    pub fn mark(self, (x, y): (i32, i32), above: u32, canvas: &mut Canvas<'_>) {
        let (colour, more) = (self.colour, 2 * above.cast_signed());
        let (r, s) = (4 + more, 5 + more);
        match self.marker {
            Marker::Nothing => {}
            Marker::Disc => canvas.disc((x, y), r.cast_unsigned(), colour),
            Marker::Ring => {
                canvas.disc((x, y), r.cast_unsigned(), ink::PAPER);
                canvas.ring((x, y), r.cast_unsigned(), colour);
            }
            Marker::Square => canvas.polygon(&[(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)], colour),
            Marker::Diamond => canvas.polygon(&[(x, y - s), (x + s, y), (x, y + s), (x - s, y)], colour),
            Marker::Triangle => canvas.polygon(&[(x, y - s), (x + s, y + r), (x - s, y + r)], colour),
            Marker::Bowl => canvas.polygon(&[(x - s, y - r), (x + s, y - r), (x, y + s)], colour),
        }
    }
}

/// Pixels by which an end of a dash is shifted at most, and how long such a dash is at least.
const SHIFT_MAX: f64 = 1.0;
const SHIFTED_FROM: i32 = 12;

/// Of the places around `along` the one beside which a whole pixel lies nearest: a dash between two of these runs as its line
/// does. Of equal ones the first, `along` itself.
fn straightest(along: f64, length: f64, place: &dyn Fn(f64) -> (f64, f64)) -> f64 {
    if along <= 0.0 || along >= length {
        return along;
    }
    let off = |along: &f64| {
        let (x, y) = place(*along);
        let across = if x.abs() >= y.abs() { y } else { x };
        (across - across.round()).abs()
    };
    let steps = [0, 1, -1, 2, -2, 3, -3, 4, -4].map(f64::from);
    let around = steps.into_iter().map(|at| (SHIFT_MAX / 4.0).mul_add(at, along).clamp(0.0, length));
    around.min_by(|one, other| off(one).total_cmp(&off(other))).unwrap_or(along)
}

/// The pieces of a path that a pattern of lengths draws.
fn dashed(points: &[(i32, i32)], pattern: &[i32]) -> Vec<Vec<(i32, i32)>> {
    let mut pieces = Vec::new();
    let (mut at, mut left) = (0, f64::from(pattern[0]));
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (wide, high) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = wide.hypot(high);
        let place = |along: f64| {
            let part = if length > 0.0 { along / length } else { 0.0 };
            (wide * part, high * part)
        };
        let whole = |along: f64| (from.0 + place(along).0.round() as i32, from.1 + place(along).1.round() as i32);
        let straight = |along: f64| whole(straightest(along, length, &place));
        let mut along = 0.0;
        while along < length {
            let end = (along + left).min(length);
            if at % 2 == 0 {
                // Of short ones nothing would be left.
                let is_long = pattern[at] >= SHIFTED_FROM;
                pieces.push([along, end].map(|end| if is_long { straight(end) } else { whole(end) }).into());
            }
            left -= end - along;
            along = end;
            if left <= 0.0 {
                at = (at + 1) % pattern.len();
                left = f64::from(pattern[at]);
            }
        }
    }
    pieces
}
