//! Names of what was missed, above the bars, without overlaps: the price, and what most of it goes back to.

use forkcast_sim::pricing::Money;

use super::Bar;
use super::lane::{Drawn, Pillar};
use crate::document::money;
use crate::figures::canvas::{Anchor, Area, Canvas, ink, text_width};

const SIZE: f64 = 12.0;
const ROW: i32 = 15;
const ROWS: i32 = 6;

/// Misses that are named, at most.
const NAMED_MAX: usize = 16;

/// Between the highest bar beneath a name and the name.
const LIFT: i32 = 3;

/// Room between a name and the line to its bar.
const PAD: i32 = 5;

/// Beneath names that are longer than estimated.
const SLACK: i32 = 4;

struct Label {
    text: String,
    /// The line from the name down to the bar.
    x: i32,
    bar_top: i32,
    area: Area,
}

/// Names the dearest misses of all lanes as long as there is room; `least` is the cost from which on one has a name.
pub(super) fn draw(lanes: &[Drawn<'_>], least: Money, canvas: &mut Canvas<'_>) {
    let bars = lanes.iter().flat_map(|lane| lane.pillars.iter().map(move |pillar| (lane, pillar)));
    let mut missed: Vec<(Money, &Drawn<'_>, &Pillar<'_>)> =
        bars.map(|(lane, pillar)| (pillar.bar.causes.values().copied().sum(), lane, pillar)).collect();
    missed.retain(|(cost, ..)| *cost >= least);
    missed.sort_by_key(|(cost, _, pillar)| (std::cmp::Reverse(*cost), pillar.area.bottom, pillar.area.left));
    let mut labels: Vec<Label> = Vec::new();
    for (cost, lane, pillar) in missed {
        if labels.len() < NAMED_MAX {
            labels.extend(placed(&text(cost, pillar.bar), lane, pillar, &labels));
        }
    }
    for label in &labels {
        let middle = i32::midpoint(label.area.top, label.area.bottom);
        if label.bar_top > label.area.bottom + 1 {
            canvas.line((label.x, label.area.bottom - 1), (label.x, label.bar_top), ink::FAINT);
        }
        canvas.text(&label.text, (label.area.left, middle), SIZE, ink::MISSED, Anchor::Start);
    }
}

/// `$1.54 expired`, `$3.31 mostly expired` of several causes.
fn text(cost: Money, bar: &Bar) -> String {
    let dearest = bar.causes.iter().max_by_key(|(_, cost)| **cost);
    let mostly = if bar.causes.len() > 1 { "mostly " } else { "" };
    let cause = dearest.map_or_else(String::new, |(cause, _)| format!(" {mostly}{cause}"));
    format!("{}{cause}", money(cost))
}

/// The lowest place in its lane at which a name covers nothing; `None` if there is none.
fn placed(text: &str, lane: &Drawn<'_>, pillar: &Pillar<'_>, labels: &[Label]) -> Option<Label> {
    let x = i32::midpoint(pillar.area.left, pillar.area.right);
    let width = text_width(text, SIZE);
    // After the line, before it, across it; among equal ones the last is taken.
    let lefts = [x - PAD, x + PAD - width, x - width / 2];
    let areas = lefts.into_iter().flat_map(|left| rows(lane, left, width));
    let places = areas.map(|area| Label { text: text.to_owned(), x, bar_top: pillar.area.top, area });
    let fitting = places.filter(|label| labels.iter().all(|other| clear(label, other)));
    fitting.max_by_key(|label| label.area.bottom)
}

/// The rows of a lane above the bars beneath a name.
fn rows(lane: &Drawn<'_>, left: i32, width: i32) -> impl Iterator<Item = Area> {
    let right = left + width;
    let beneath = lane.pillars.iter().filter(move |pillar| pillar.area.left < right && left < pillar.area.right);
    let highest = beneath.map(|pillar| pillar.area.top).min().unwrap_or(lane.area.bottom);
    let areas = (0..ROWS).map(move |row| {
        let bottom = highest - LIFT - row * ROW;
        Area { left, top: bottom - ROW, right, bottom }
    });
    let plot = lane.area;
    areas.filter(move |area| area.top >= plot.top - 2 && area.left >= plot.left && area.right <= plot.right + SLACK)
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
