//! The look of a line: colour, dashes, marker.

use plotters::style::RGBColor;

use crate::figures::canvas::{Canvas, ink};

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    colour: RGBColor,
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
    /// The look of the curve at this place of its panel.
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
    pub fn mark(self, place: (i32, i32), above: u32, canvas: &mut Canvas<'_>) {
        let (x, y) = place;
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

/// A straight part of a path.
struct Straight {
    from: (i32, i32),
    wide: f64,
    high: f64,
    length: f64,
}

impl Straight {
    fn between(from: (i32, i32), to: (i32, i32)) -> Self {
        let wide = f64::from(to.0) - f64::from(from.0);
        let high = f64::from(to.1) - f64::from(from.1);
        Self { from, wide, high, length: wide.hypot(high) }
    }

    /// The pixel so far along it.
    fn pixel(&self, along: f64) -> (i32, i32) {
        let part = if self.length > 0.0 { along.clamp(0.0, self.length) / self.length } else { 0.0 };
        let at = |from: i32, length: f64| from.saturating_add((length * part).round() as i32);
        (at(self.from.0, self.wide), at(self.from.1, self.high))
    }
}

/// Where the dash or the gap with this number ends, from the beginning of the path.
fn end_of(number: usize, pattern: &[i32]) -> f64 {
    let rounds = number / pattern.len();
    let period: f64 = pattern.iter().copied().map(f64::from).sum();
    let within: f64 = pattern.iter().take(number % pattern.len() + 1).copied().map(f64::from).sum();
    (rounds as f64).mul_add(period, within)
}

/// The pieces of a path that a pattern of lengths draws: at most one for each dash, and one more for each corner.
///
/// Dashes are counted in whole numbers. Remainders of dashes must not be added up: a remainder smaller than the
/// precision of the place along the path would never be used up.
fn dashed(points: &[(i32, i32)], pattern: &[i32]) -> Vec<[(i32, i32); 2]> {
    debug_assert!(pattern.len().is_multiple_of(2) && pattern.iter().all(|length| *length > 0));
    let mut pieces = Vec::new();
    let mut start = 0.0;
    let mut number = 0;
    for pair in points.windows(2) {
        let straight = Straight::between(pair[0], pair[1]);
        let mut along = 0.0;
        while along < straight.length {
            let end = end_of(number, pattern) - start;
            if end > along && number.is_multiple_of(2) {
                pieces.push([along, end].map(|along| straight.pixel(along)));
            }
            along = along.max(end);
            number += usize::from(end <= straight.length);
        }
        start += straight.length;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::dashed;

    proptest! {
        #[test]
        fn dashes_end_and_cover_their_part_of_the_path(
            points in vec((0..1_200_i32, 0..640_i32), 0..40),
            dashes in vec((1..20_i32, 1..20_i32), 1..4),
        ) {
            let pattern: Vec<i32> = dashes.iter().flat_map(|(dash, gap)| [*dash, *gap]).collect();
            let length = |from: (i32, i32), to: (i32, i32)| f64::from(to.0 - from.0).hypot(f64::from(to.1 - from.1));
            let whole: f64 = points.windows(2).map(|pair| length(pair[0], pair[1])).sum();
            let period: f64 = pattern.iter().copied().map(f64::from).sum();
            let drawn: f64 = dashes.iter().map(|(dash, _)| f64::from(*dash)).sum();
            let pieces = dashed(&points, &pattern);

            let most = (whole / period).ceil() as usize * dashes.len() + points.len();
            prop_assert!(pieces.len() <= most, "{} pieces, expected at most {most}", pieces.len());
            // Each end is rounded to a pixel.
            let covered: f64 = pieces.iter().map(|[from, to]| length(*from, *to)).sum();
            let expected = whole / period * drawn;
            let error = 4.0 * pieces.len() as f64 + period;
            prop_assert!((covered - expected).abs() <= error, "{covered} pixels drawn, expected {expected}");
        }
    }

    #[test]
    fn a_dash_continues_after_a_corner() {
        let pieces = dashed(&[(0, 0), (10, 0), (10, 20)], &[12, 4]);
        assert_eq!(pieces, [[(0, 0), (10, 0)], [(10, 0), (10, 2)], [(10, 6), (10, 18)]]);
    }
}
