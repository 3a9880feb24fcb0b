//! A sheet to draw on, in whole pixels, with the head and the colours of all figures.

use forkcast_sim::outside::visible;
use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

use super::svg::{Caption, finished};

/// Width of all pictures: shown in a page of 840 pixels, a text of size 12 is ten pixels high.
pub(super) const WIDTH: i32 = 1000;

/// What stays free at both sides.
pub(super) const EDGE: i32 = 28;

/// Height of the title and of the note under it.
pub(super) const HEAD: i32 = 92;

/// Title and note: their sizes, and the middles of their lines if the title is short, and if it is long.
const TITLE: f64 = 17.0;
const NOTE: f64 = 12.0;
const SHORT: [&[i32]; 2] = [&[30], &[56, 74]];
const LONG: [&[i32]; 2] = [&[19, 41], &[64, 80]];

/// The font of the bitmaps first, then those of the same widths that readers of the SVG have.
const FONTS: &str = "DejaVu Sans, Verdana, sans-serif";

/// What plotters divides sizes by on their way into an SVG.
const PLOTTERS_SIZE_FACTOR: f64 = 1.24;

/// Thousandths of the font's size that the characters from `FIRST` to `~` are wide, from DejaVu Sans 2.37.
const WIDTHS: [i32; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
];
const FIRST: char = ' ';

/// The same for all others: as wide as the widest ones.
const OTHER_WIDTH: i32 = 1_000;

/// Colours by meaning, those of tokens as on pages (`page/assets/base.css`). All kinds of tokens differ in lightness, so
/// that they differ in grey and for the colour-blind too; a test measures it.
pub(super) mod ink {
    use super::RGBColor;

    pub const TEXT: RGBColor = RGBColor(34, 34, 34);
    pub const FAINT: RGBColor = RGBColor(98, 98, 98);
    pub const GRID: RGBColor = RGBColor(228, 228, 228);
    pub const PAPER: RGBColor = RGBColor(255, 255, 255);
    pub const READ: RGBColor = RGBColor(70, 140, 200);
    pub const WRITTEN: RGBColor = RGBColor(146, 72, 0);
    pub const INPUT: RGBColor = RGBColor(168, 170, 173);
    pub const ANSWER: RGBColor = RGBColor(176, 224, 198);
    pub const MISSED: RGBColor = RGBColor(120, 0, 20);
    /// An agent without a request under way.
    pub const IDLE: RGBColor = RGBColor(205, 205, 205);
    /// A line that matters.
    pub const LINE: RGBColor = RGBColor(0, 104, 172);
    /// Levels of a prompt, from dark to light.
    pub const TOOLS: RGBColor = RGBColor(0, 78, 138);
    pub const SYSTEM: RGBColor = RGBColor(0, 125, 92);
    pub const MESSAGES: RGBColor = RGBColor(178, 102, 172);
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

/// A picture of this height with its head; `draw` draws the rest.
pub(super) fn picture(caption: &Caption, height: i32, draw: impl FnOnce(&mut Canvas<'_>)) -> String {
    let mut drawing = String::new();
    let sheet = Area { left: 0, top: 0, right: WIDTH, bottom: height.max(1) };
    let mut canvas = Canvas::new(&mut drawing, sheet);
    canvas.head(caption);
    draw(&mut canvas);
    canvas.finish();
    finished(&drawing, caption)
}

impl<'a> Canvas<'a> {
    fn new(target: &'a mut String, sheet: Area) -> Self {
        let size = (sheet.right.unsigned_abs(), sheet.bottom.unsigned_abs());
        let mut canvas = Self { backend: SVGBackend::with_string(target, size), sheet };
        canvas.fill(sheet, ink::PAPER);
        canvas
    }

    /// The title and the note, in two lines each at most.
    fn head(&mut self, caption: &Caption) {
        let is_short = text_width(&caption.title, TITLE) <= WIDTH - 2 * EDGE;
        let [title, note] = if is_short { SHORT } else { LONG };
        self.lines(&caption.title, title, TITLE, ink::TEXT);
        self.lines(&caption.note, note, NOTE, ink::FAINT);
    }

    /// A text between the edges, in lines with these middles; what does not fit into the last one is cut.
    fn lines(&mut self, text: &str, middles: &[i32], size: f64, colour: RGBColor) {
        let room = WIDTH - 2 * EDGE;
        let mut words = text.split(' ').peekable();
        for (at, y) in middles.iter().enumerate() {
            let is_last = at + 1 == middles.len();
            let mut line = String::new();
            while let Some(word) =
                words.next_if(|word| is_last || text_width(&line, size) + text_width(word, size) < room)
            {
                line.push_str(word);
                line.push(' ');
            }
            self.text(&shortened(line.trim_end(), size, room), (EDGE, *y), size, colour, Anchor::Start);
        }
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
        drop(self.backend.draw_text(&visible(text), &style, at));
    }

    fn finish(mut self) {
        drop(self.backend.present());
    }
}

/// How wide a text is in the font of the bitmaps.
pub(super) fn text_width(text: &str, size: f64) -> i32 {
    let thousandths = text.chars().map(character_width).fold(0, i32::saturating_add);
    (f64::from(thousandths) * size / 1e3).ceil() as i32
}

fn character_width(c: char) -> i32 {
    let place = (c as usize).checked_sub(FIRST as usize);
    place.and_then(|place| WIDTHS.get(place)).copied().unwrap_or(OTHER_WIDTH)
}

/// The text, cut at its end so that it is no wider than `room`; the number of a name stays, `general…#3`. Of a longer one at
/// least one character stays.
pub(super) fn shortened(text: &str, size: f64, room: i32) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let number = number(text).filter(|number| text_width(number, size) * 2 <= room).unwrap_or("");
    let name = &text[..text.len() - number.len()];
    let ending = text_width("…", size) + text_width(number, size);
    let fits = |end: &usize| text_width(&name[..*end], size) + ending <= room;
    let mut ends = name.char_indices().map(|(at, c)| at + c.len_utf8());
    let first = ends.next().unwrap_or(name.len());
    let end = ends.take_while(fits).last().unwrap_or(first);
    format!("{}…{number}", &name[..end])
}

/// The number at the end of a name: `#3`.
fn number(text: &str) -> Option<&str> {
    let ending = &text[text.rfind('#')?..];
    (ending.len() > 1 && ending[1..].bytes().all(|digit| digit.is_ascii_digit())).then_some(ending)
}

#[cfg(test)]
mod tests {
    use super::{Area, Canvas, ink, shortened, text_width};

    #[test]
    fn a_long_text_is_cut_to_its_room() {
        assert_eq!(text_width("explorer", 10.0), 42);
        assert_eq!(shortened("explorer", 10.0, 42), "explorer");
        assert_eq!(shortened("explorers", 10.0, 42), "explor…");
        assert_eq!(shortened("explorers", 10.0, -5), "e…");
        assert_eq!(shortened("explorers#12", 10.0, 52), "exp…#12");
        // The number would take more than half of the room.
        assert_eq!(shortened("explorers#12", 10.0, 42), "explor…");
        assert_eq!(shortened("#123456789", 10.0, 20), "#…");
        assert_eq!(shortened(&"é".repeat(1_000_000), 10.0, 48), "ééé…");
    }

    #[test]
    fn shapes_outside_the_sheet_are_not_drawn() {
        let endless = Area { left: i32::MIN, top: i32::MIN, right: i32::MAX, bottom: i32::MAX };
        let drawn = |area: Area| {
            let mut text = String::new();
            let mut canvas = Canvas::new(&mut text, Area { left: 0, top: 0, right: 60, bottom: 30 });
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
