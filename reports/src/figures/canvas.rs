//! A sheet to draw on, in whole pixels, with the colours of all figures.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

/// The font of the bitmaps first, then those of the same widths that readers of the SVG have.
const FONTS: &str = "DejaVu Sans, Verdana, sans-serif";

/// What plotters divides sizes by on their way into an SVG.
const PLOTTERS_SIZE_FACTOR: f64 = 1.24;

/// Average width of a character of the font, as a part of its size.
const CHARACTER_WIDTH: f64 = 0.6;

/// Colours by meaning; distinguishable with colour blindness (Okabe and Ito, 2008) and in greyscale.
pub(super) mod ink {
    use super::RGBColor;

    pub const TEXT: RGBColor = RGBColor(34, 34, 34);
    pub const FAINT: RGBColor = RGBColor(110, 110, 110);
    pub const GRID: RGBColor = RGBColor(228, 228, 228);
    pub const PAPER: RGBColor = RGBColor(255, 255, 255);
    pub const READ: RGBColor = RGBColor(0, 114, 178);
    pub const WRITTEN: RGBColor = RGBColor(240, 190, 80);
    pub const INPUT: RGBColor = RGBColor(170, 170, 170);
    pub const MISSED: RGBColor = RGBColor(166, 54, 3);
    /// Levels of a prompt: of one lightness, so that on grey paper it speaks of something else.
    pub const TOOLS: RGBColor = RGBColor(0, 104, 172);
    pub const SYSTEM: RGBColor = RGBColor(0, 118, 86);
    pub const MESSAGES: RGBColor = RGBColor(142, 68, 140);
    /// Colours of causes, the most expensive first. Shapes distinguish them too.
    pub const MARKS: [RGBColor; 5] = [
        RGBColor(213, 94, 0),
        RGBColor(0, 158, 115),
        RGBColor(204, 121, 167),
        RGBColor(86, 180, 233),
        RGBColor(34, 34, 34),
    ];
}

/// A rectangle; the right and the lower edge do not belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

impl Area {
    pub const fn width(&self) -> i32 {
        self.right.saturating_sub(self.left)
    }

    pub const fn height(&self) -> i32 {
        self.bottom.saturating_sub(self.top)
    }

    pub const fn is_empty(&self) -> bool {
        self.width() <= 0 || self.height() <= 0
    }

    /// The part of it that lies within `other`.
    fn within(&self, other: &Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    pub const fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// The position of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// The text begins there.
    Start,
    /// The text is centred there.
    Middle,
    /// The text ends there.
    End,
}

/// Pixels between hatching lines.
const HATCH_STEP: usize = 6;

/// The sheet. Drawing into memory cannot fail, so no result is looked at. Areas are cut at its edges, so that the work
/// depends on its size alone, whatever numbers are drawn.
pub(super) struct Canvas<'a> {
    backend: SVGBackend<'a>,
    sheet: Area,
}

impl<'a> Canvas<'a> {
    pub fn new(target: &'a mut String, width: u32, height: u32) -> Self {
        let whole = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
        let sheet = Area { left: 0, top: 0, right: whole(width), bottom: whole(height) };
        let mut canvas = Self { backend: SVGBackend::with_string(target, (width, height)), sheet };
        canvas.fill(sheet, ink::PAPER);
        canvas
    }

    pub fn fill(&mut self, area: Area, colour: RGBColor) {
        let area = area.within(&self.sheet);
        if !area.is_empty() {
            let corners = ((area.left, area.top), (area.right, area.bottom));
            drop(self.backend.draw_rect(corners.0, corners.1, &colour.to_backend_color(), true));
        }
    }

    pub fn outline(&mut self, area: Area, colour: RGBColor) {
        let area = area.within(&self.sheet);
        if !area.is_empty() {
            let corners = ((area.left, area.top), (area.right, area.bottom));
            drop(self.backend.draw_rect(corners.0, corners.1, &colour.to_backend_color(), false));
        }
    }

    pub fn line(&mut self, from: (i32, i32), to: (i32, i32), colour: RGBColor) {
        drop(self.backend.draw_line(from, to, &colour.to_backend_color()));
    }

    /// A line through all points, `width` thick.
    pub fn path(&mut self, points: &[(i32, i32)], colour: RGBColor, width: u32) {
        let style = ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: width };
        drop(self.backend.draw_path(points.iter().copied(), &style));
    }

    /// A filled shape.
    pub fn polygon(&mut self, corners: &[(i32, i32)], colour: RGBColor) {
        drop(self.backend.fill_polygon(corners.iter().copied(), &colour.to_backend_color()));
    }

    /// A filled circle.
    pub fn disc(&mut self, middle: (i32, i32), radius: u32, colour: RGBColor) {
        drop(self.backend.draw_circle(middle, radius, &colour.to_backend_color(), true));
    }

    /// A circle.
    pub fn ring(&mut self, middle: (i32, i32), radius: u32, colour: RGBColor) {
        let style = ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: 2 };
        drop(self.backend.draw_circle(middle, radius, &style, false));
    }

    /// Diagonal lines.
    pub fn hatch(&mut self, area: Area, colour: RGBColor) {
        let area = area.within(&self.sheet);
        if area.is_empty() {
            return;
        }
        for reach in (0..area.width() + area.height()).step_by(HATCH_STEP).skip(1) {
            // From the left or the lower edge up to the upper or the right edge.
            let from = (area.left + (reach - area.height()).max(0), area.top + reach.min(area.height()));
            let to = (area.left + reach.min(area.width()), area.top + (reach - area.width()).max(0));
            self.line(from, to, colour);
        }
    }

    /// Writes `text` beside a point, in the middle of its height.
    pub fn text(&mut self, text: &str, at: (i32, i32), size: f64, colour: RGBColor, anchor: Anchor) {
        let h_pos = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let font = FontDesc::new(FontFamily::Name(FONTS), size * PLOTTERS_SIZE_FACTOR, FontStyle::Normal);
        let style = TextStyle { font, color: colour.to_backend_color(), pos: Pos::new(h_pos, VPos::Center) };
        drop(self.backend.draw_text(text, &style, at));
    }

    pub fn finish(mut self) {
        drop(self.backend.present());
    }
}

/// How wide a text is, about.
pub(super) fn text_width(text: &str, size: f64) -> i32 {
    (text.chars().count() as f64 * size * CHARACTER_WIDTH).ceil() as i32
}

/// The text, cut at its end so that it is no wider than `room`. Of a longer one at least one character stays.
pub(super) fn shortened(text: &str, size: f64, room: i32) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let fitting = (f64::from(room) / (size * CHARACTER_WIDTH)).floor() as usize;
    text.chars().take(fitting.saturating_sub(1).max(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::{Area, Canvas, ink, shortened};

    #[test]
    fn a_long_text_is_cut_to_its_room() {
        assert_eq!(shortened("explorer", 10.0, 48), "explorer");
        assert_eq!(shortened("explorers", 10.0, 48), "explore…");
        assert_eq!(shortened("explorers", 10.0, -5), "e…");
        assert_eq!(shortened(&"e".repeat(1_000_000), 10.0, 48), "eeeeeee…");
    }

    #[test]
    fn shapes_outside_the_sheet_are_not_drawn() {
        let endless = Area { left: i32::MIN, top: i32::MIN, right: i32::MAX, bottom: i32::MAX };
        let drawn = |area: Area| {
            let mut text = String::new();
            let mut canvas = Canvas::new(&mut text, 60, 30);
            canvas.fill(area, ink::READ);
            canvas.hatch(area, ink::MISSED);
            canvas.outline(area, ink::MISSED);
            canvas.finish();
            text
        };
        let sheet = Area { left: 0, top: 0, right: 60, bottom: 30 };
        assert_eq!(drawn(endless), drawn(sheet));
        assert_eq!(drawn(sheet).matches("<line").count(), (60 + 30) / 6 - 1);
    }
}
