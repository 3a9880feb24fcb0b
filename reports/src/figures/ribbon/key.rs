//! What colours, fills and marks mean.

use forkcast_scenarios::run::Run;
use forkcast_sim::wire::Level;

use super::super::canvas::{Anchor, Area, Canvas, ink, text_width};
use super::bars::{State, fill, hue};
use super::{EDGE, marks};

/// Swatches are in two lines.
const LINES: [i32; 2] = [62, 86];
const SWATCH: (i32, i32) = (26, 14);

/// Levels and states in the first line, marks in the second, if there are any.
pub fn draw(run: &Run, canvas: &mut Canvas<'_>) {
    let mut pen = Pen { left: EDGE, middle: LINES[0], canvas };
    for (name, level) in [("Tools", Level::Tools), ("System", Level::System), ("Messages", Level::Messages)] {
        pen.swatch(name, |area, canvas| fill(hue(level), State::Read, area, canvas));
    }
    pen.left += 30;
    let states = [
        ("Read from the cache", State::Read),
        ("Written into it", State::Written),
        ("Fresh: plain input", State::Fresh),
    ];
    for (name, state) in states {
        pen.swatch(name, |area, canvas| fill(ink::FAINT, state, area, canvas));
    }
    pen = Pen { left: EDGE, middle: LINES[1], canvas: pen.canvas };
    if run.agents.iter().any(|agent| agent.fork.is_some()) {
        pen.swatch("Up to here the parent had sent it", |area, canvas| {
            marks::dashes((area.left + area.right) / 2, area.top - 2, area.bottom + 3, canvas);
        });
    }
    if run.requests.iter().any(|request| !request.line.charge.causes.is_empty()) {
        for (name, is_content) in
            [("Departs from what it continues", true), ("Sent before and not read from here on", false)]
        {
            pen.swatch(name, |area, canvas| {
                marks::tick((area.left + area.right) / 2, area.top + 2, area.bottom, is_content, canvas);
            });
        }
    }
}

struct Pen<'a, 'b> {
    left: i32,
    middle: i32,
    canvas: &'a mut Canvas<'b>,
}

impl<'b> Pen<'_, 'b> {
    fn swatch(&mut self, name: &str, draw: impl FnOnce(Area, &mut Canvas<'b>)) {
        let (wide, high) = SWATCH;
        let (top, bottom) = (self.middle - high / 2, self.middle + high / 2);
        draw(Area { left: self.left, top, right: self.left + wide, bottom }, self.canvas);
        self.canvas.text(name, (self.left + wide + 7, self.middle), 12.0, ink::TEXT, Anchor::Start);
        self.left += wide + 7 + text_width(name, 12.0) + 16;
    }
}
