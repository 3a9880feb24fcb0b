//! Misses marked above their bars by cause, in colour and shape, and the legend of causes by money.

use std::cmp::Reverse;

use forkcast_sim::diagnosis::Cause;
use plotters::style::RGBColor;

use super::Slots;
use super::axes::Scale;
use super::bars::Bar;
use crate::document::money;
use crate::figures::canvas::{Anchor, Canvas, ink, text_width};
use crate::report::Report;

/// Causes with a mark of their own, the dearest first; all others share one.
const MARKS: [(&str, RGBColor); 5] =
    [("●", ink::MARKS[0]), ("■", ink::MARKS[1]), ("▲", ink::MARKS[2]), ("◆", ink::MARKS[3]), ("▼", ink::MARKS[4])];
const OTHER: (&str, RGBColor) = ("×", ink::FAINT);

/// More marks than these hide each other.
const MARKED_MAX: usize = 160;

const SIZE: f64 = 12.0;
const MARK_SIZE: f64 = 9.0;

/// From the top of a bar to the middle of its mark.
const LIFT: i32 = 7;

/// The height of the legend.
const LEGEND_Y: i32 = 108;

/// Between two entries of the legend.
const GAP: i32 = 16;

/// The causes of a report in the order of their money, each with its mark.
pub(super) struct Marks {
    causes: Vec<(Cause, String)>,
}

impl Marks {
    pub fn of(report: &Report<'_>) -> Self {
        let priced = report.totals.billed.cost.is_some();
        let name = |(cause, total): (Cause, forkcast_sim::ledger::CauseTotal)| {
            let cost = if priced { format!(" {}", money(total.cost)) } else { String::new() };
            (cause, format!("{}{cost}", cause.word()))
        };
        Self { causes: report.totals.causes().into_iter().map(name).collect() }
    }

    fn mark(&self, cause: Cause) -> (&'static str, RGBColor) {
        let at = self.causes.iter().position(|(known, _)| *known == cause);
        at.and_then(|at| MARKS.get(at)).copied().unwrap_or(OTHER)
    }

    /// The legend, as far as it fits from `left` to `right`.
    pub fn legend(&self, (left, right): (i32, i32), canvas: &mut Canvas<'_>) {
        let mut left = left;
        for (at, (cause, name)) in self.causes.iter().enumerate() {
            let is_other = at >= MARKS.len();
            let name = if is_other { "others" } else { name };
            let end = left + 14 + text_width(name, SIZE);
            if end > right {
                return;
            }
            let (shape, colour) = self.mark(*cause);
            canvas.text(shape, (left + 4, LEGEND_Y), MARK_SIZE, colour, Anchor::Middle);
            canvas.text(name, (left + 14, LEGEND_Y), SIZE, ink::TEXT, Anchor::Start);
            left = end + GAP;
            if is_other {
                return;
            }
        }
    }

    /// Marks the dearest misses.
    pub fn draw(&self, bars: &[Bar], slots: &Slots, scale: &Scale, canvas: &mut Canvas<'_>) {
        let mut missed: Vec<(usize, &Bar, Cause)> =
            bars.iter().enumerate().filter_map(|(at, bar)| Some((at, bar, bar.cause?.0))).collect();
        missed.sort_by_key(|(at, bar, _)| (Reverse(bar.cause.map(|(_, cost)| cost)), *at));
        missed.truncate(MARKED_MAX);
        missed.sort_by_key(|(at, ..)| *at);
        for (at, bar, cause) in missed {
            let (shape, colour) = self.mark(cause);
            let place = (slots.middle(at), scale.y(bar.tokens()) - LIFT);
            canvas.text(shape, place, MARK_SIZE, colour, Anchor::Middle);
        }
    }
}
