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
}

/// Darker and lighter in turn, so that neighbours differ on grey paper too (Okabe and Ito, 2008).
const LOOKS: [Look; 5] = [
    Look { colour: RGBColor(0, 114, 178), dashes: &[], marker: Marker::Disc },
    Look { colour: RGBColor(213, 94, 0), dashes: &[12, 5], marker: Marker::Square },
    Look { colour: RGBColor(0, 158, 115), dashes: &[3, 4], marker: Marker::Triangle },
    Look { colour: RGBColor(150, 70, 120), dashes: &[12, 4, 3, 4], marker: Marker::Diamond },
    Look { colour: RGBColor(60, 60, 60), dashes: &[6, 4], marker: Marker::Ring },
];

const BOUND: Look = Look { colour: ink::TEXT, dashes: &[2, 5], marker: Marker::Nothing };

impl Look {
    /// Of the curve at this place of its panel.
    pub fn of(at: usize, is_bound: bool) -> Self {
        if is_bound { BOUND } else { LOOKS[at % LOOKS.len()] }
    }

    /// Draws the line through these points.
    pub fn line(self, points: &[(i32, i32)], canvas: &mut Canvas<'_>) {
        if self.dashes.is_empty() {
            return canvas.path(points, self.colour, 2);
        }
        for dash in dashed(points, self.dashes) {
            canvas.path(&dash, self.colour, 2);
        }
    }

    /// Marks a point.
    pub fn mark(self, (x, y): (i32, i32), canvas: &mut Canvas<'_>) {
        let colour = self.colour;
        match self.marker {
            Marker::Nothing => {}
            Marker::Disc => canvas.disc((x, y), 4, colour),
            Marker::Ring => {
                canvas.disc((x, y), 4, ink::PAPER);
                canvas.ring((x, y), 4, colour);
            }
            Marker::Square => canvas.polygon(&[(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4)], colour),
            Marker::Diamond => canvas.polygon(&[(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)], colour),
            Marker::Triangle => canvas.polygon(&[(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)], colour),
        }
    }
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
            (from.0 + (wide * part).round() as i32, from.1 + (high * part).round() as i32)
        };
        let mut along = 0.0;
        while along < length {
            let end = (along + left).min(length);
            if at % 2 == 0 {
                pieces.push(vec![place(along), place(end)]);
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
