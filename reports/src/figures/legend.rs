//! What colours, lines and marks mean: swatches with their names, in rows.

use plotters::style::RGBColor;

use super::canvas::{Anchor, Area, Canvas, EDGE, HEAD, WIDTH, ink, text_width};

/// Size of a swatch.
const WIDE: i32 = 30;
const HIGH: i32 = 14;

/// Between a swatch and its name, and between two entries.
const GAP: i32 = 7;
const APART: i32 = 18;

/// Height of a row.
pub(super) const ROW: i32 = 22;

const SIZE: f64 = 12.0;

/// The legend under the head of a picture; the next entry comes to `left`.
pub(super) struct Legend {
    left: i32,
    middle: i32,
}

impl Legend {
    pub const fn new() -> Self {
        Self { left: EDGE, middle: HEAD + ROW / 2 }
    }

    /// Height of a legend with these names.
    pub fn height<'n>(names: impl Iterator<Item = &'n str>) -> i32 {
        let mut legend = Self::new();
        for name in names {
            legend.place(name);
        }
        legend.middle + ROW / 2 - HEAD
    }

    /// The left edge of the next entry.
    fn place(&mut self, name: &str) -> i32 {
        let width = WIDE + GAP + text_width(name, SIZE);
        if self.left > EDGE && self.left + width > WIDTH - EDGE {
            self.wrap();
        }
        let left = self.left;
        self.left += width + APART;
        left
    }

    /// An entry whose swatch is drawn by the caller.
    pub fn entry<'b>(&mut self, name: &str, canvas: &mut Canvas<'b>, draw: impl FnOnce(Area, &mut Canvas<'b>)) {
        let (left, top) = (self.place(name), self.middle - HIGH / 2);
        draw(Area { left, top, right: left + WIDE, bottom: top + HIGH }, canvas);
        canvas.text(name, (left + WIDE + GAP, self.middle), SIZE, ink::TEXT, Anchor::Start);
    }

    /// A colour.
    pub fn colour(&mut self, name: &str, colour: RGBColor, canvas: &mut Canvas<'_>) {
        self.entry(name, canvas, |area, canvas| canvas.fill(area, colour));
    }

    /// Goes on in the next row.
    pub const fn wrap(&mut self) {
        self.left = EDGE;
        self.middle += ROW;
    }
}
