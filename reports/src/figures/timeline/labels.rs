//! Names of the most expensive misses, above their bars, without overlaps.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;

use super::Slots;
use super::axes::Scale;
use super::bars::Bar;
use crate::document::money;
use crate::figures::canvas::{Anchor, Area, Canvas, ink, text_width};

const SIZE: f64 = 12.0;
const ROW_HEIGHT: i32 = 17;
const ROWS: i32 = 5;

/// Misses that are named, at most.
const NAMED_MAX: usize = 12;

/// What costs less is not worth a name: a hundredth of a cent, the least that is shown as a number.
const NAMED_MIN: Money = Money::from_picousd(100_000_000);

/// Between the highest bar beneath a name and the name; marks are there.
const LIFT: i32 = 18;

/// Names may reach a little beyond the plot.
const EDGE: i32 = 16;

/// Room between a name and the line to its bar.
const PAD: i32 = 5;

struct Label {
    text: String,
    /// The line from the name down to the bar.
    x: i32,
    bar_top: i32,
    area: Area,
}

/// Names the misses as long as there is room: first the dearest of each cause, then the dearest of all.
pub(super) fn draw(bars: &[Bar], slots: &Slots, scale: &Scale, canvas: &mut Canvas<'_>) {
    let sheet = Sheet { bars, slots, scale };
    let mut labels: Vec<Label> = Vec::new();
    for at in order(bars).into_iter().take(NAMED_MAX) {
        labels.extend(sheet.place(at, &labels));
    }
    for label in &labels {
        let middle = i32::midpoint(label.area.top, label.area.bottom);
        canvas.line((label.x, label.area.bottom - 3), (label.x, label.bar_top - 13), ink::FAINT);
        canvas.text(&label.text, (label.area.left, middle), SIZE, ink::MISSED, Anchor::Start);
    }
}

/// The bars with a cause in the order in which they are named.
fn order(bars: &[Bar]) -> Vec<usize> {
    let mut named: Vec<(usize, Cause, Option<Money>)> =
        bars.iter().enumerate().filter_map(|(at, bar)| bar.cause.map(|(cause, cost)| (at, cause, cost))).collect();
    named.retain(|(_, _, cost)| cost.is_none_or(|cost| cost >= NAMED_MIN));
    named.sort_by_key(|(at, _, cost)| (Reverse(*cost), *at));
    let mut seen = BTreeSet::new();
    let (first, further): (Vec<_>, Vec<_>) = named.into_iter().partition(|(_, cause, _)| seen.insert(*cause));
    first.into_iter().chain(further).map(|(at, ..)| at).collect()
}

/// What names must keep clear of.
struct Sheet<'a> {
    bars: &'a [Bar],
    slots: &'a Slots,
    scale: &'a Scale,
}

impl Sheet<'_> {
    /// The lowest place at which the name of bar `at` covers nothing; `None` if there is none.
    fn place(&self, at: usize, labels: &[Label]) -> Option<Label> {
        let text = text(&self.bars[at])?;
        let x = self.slots.middle(at);
        let bar_top = self.scale.y(self.bars[at].tokens());
        let width = text_width(&text, SIZE);
        // After the line, before it, across it; among equal ones the last is taken.
        let lefts = [x - PAD, x + PAD - width, x - width / 2];
        let places = lefts.into_iter().flat_map(|left| self.rows(left, width));
        let fitting = places.map(|area| Label { text: text.clone(), x, bar_top, area });
        let fitting = fitting.filter(|label| labels.iter().all(|other| clear(label, other)));
        fitting.max_by_key(|label| label.area.bottom)
    }

    /// The rows above the bars beneath a name.
    fn rows(&self, left: i32, width: i32) -> impl Iterator<Item = Area> {
        let right = left + width;
        let beneath = self.bars.iter().enumerate().filter(|(at, _)| {
            let (bar_left, bar_right) = self.slots.bar(*at);
            bar_left < right && left < bar_right
        });
        let highest = beneath.map(|(_, bar)| self.scale.y(bar.tokens())).min().unwrap_or(super::PLOT.bottom);
        let rows = (0..ROWS).map(move |row| highest - LIFT - row * ROW_HEIGHT);
        let areas = rows.map(move |bottom| Area { left, top: bottom - ROW_HEIGHT, right, bottom });
        areas.filter(|area| {
            area.top >= super::PLOT.top - 4 && area.left >= super::PLOT.left && area.right <= super::PLOT.right + EDGE
        })
    }
}

/// Neither name covers the other, and neither line crosses the other's name.
fn clear(one: &Label, other: &Label) -> bool {
    !one.area.overlaps(&other.area) && !one.area.overlaps(&stem(other)) && !other.area.overlaps(&stem(one))
}

fn stem(label: &Label) -> Area {
    Area {
        left: label.x - 2,
        top: label.area.bottom,
        right: label.x + 3,
        bottom: label.bar_top.max(label.area.bottom + 1),
    }
}

fn text(bar: &Bar) -> Option<String> {
    let (cause, cost) = bar.cause?;
    Some(match cost {
        Some(cost) => format!("{cause} {}", money(cost)),
        None => cause.to_string(),
    })
}
