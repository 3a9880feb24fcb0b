//! Names above the bars, without overlaps: missed tokens, by their price and its dearest cause; the amounts of broken bars.

use std::cmp::Reverse;

use forkcast_sim::pricing::Money;
use plotters::style::RGBColor;

use super::Unit;
use super::lane::{Drawn, Pillar, amount};
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
    colour: RGBColor,
    /// The line from the name down to the bar.
    x: i32,
    bar_top: i32,
    area: Area,
}

/// A bar that has a name, if there is room.
struct Named<'a> {
    /// What it missed.
    cost: Money,
    lane: &'a Drawn<'a>,
    pillar: &'a Pillar<'a>,
}

/// Names broken bars, then the dearest misses of all lanes as long as there is room; `least` is the cost from which on
/// one has a name.
pub(super) fn draw(lanes: &[Drawn<'_>], unit: Unit, least: Money, canvas: &mut Canvas<'_>) {
    let bars = lanes.iter().flat_map(|lane| lane.pillars.iter().map(move |pillar| (lane, pillar)));
    let mut named: Vec<Named<'_>> = bars
        .map(|(lane, pillar)| Named { cost: pillar.bar.causes.values().copied().sum(), lane, pillar })
        .filter(|named| named.cost >= least || named.pillar.is_broken)
        .collect();
    named.sort_by_key(|named| {
        let area = named.pillar.area;
        (!named.pillar.is_broken, Reverse(named.cost), area.bottom, area.left)
    });
    let mut labels: Vec<Label> = Vec::new();
    for found in named {
        if labels.len() < NAMED_MAX {
            labels.extend(placed(&found.text(unit, least), &found, &labels));
        }
    }
    for label in &labels {
        let middle = i32::midpoint(label.area.top, label.area.bottom);
        if label.bar_top > label.area.bottom + 1 {
            canvas.line((label.x, label.area.bottom - 1), (label.x, label.bar_top), ink::FAINT);
        }
        canvas.text(&label.text, (label.area.left, middle), SIZE, label.colour, Anchor::Start);
    }
}

impl Named<'_> {
    /// `$1.54 expired`, `$3.31 mostly expired` of several causes; `$43.10`, of it `$3.31 mostly expired` of a broken bar.
    fn text(&self, unit: Unit, least: Money) -> String {
        let total = || amount(self.pillar.bar.total(), unit);
        match self.pillar.is_broken {
            true if self.cost >= least => format!("{}, of it {}", total(), self.missed()),
            true => total(),
            false => self.missed(),
        }
    }

    fn missed(&self) -> String {
        let causes = &self.pillar.bar.causes;
        let dearest = causes.iter().max_by_key(|(_, cost)| **cost);
        let mostly = if causes.len() > 1 { "mostly " } else { "" };
        let cause = dearest.map_or_else(String::new, |(cause, _)| format!(" {mostly}{cause}"));
        format!("{}{cause}", money(self.cost))
    }
}

/// The lowest place in its lane at which a name covers nothing; `None` if there is none.
fn placed(text: &str, named: &Named<'_>, labels: &[Label]) -> Option<Label> {
    let Named { lane, pillar, .. } = named;
    let colour = if pillar.is_broken { ink::TEXT } else { ink::MISSED };
    let x = i32::midpoint(pillar.area.left, pillar.area.right);
    let width = text_width(text, SIZE);
    // After the line, before it, across it; among equal ones the last is taken.
    let lefts = [x - PAD, x + PAD - width, x - width / 2];
    let areas = lefts.into_iter().flat_map(|left| rows(lane, left, width));
    let places = areas.map(|area| Label { text: text.to_owned(), colour, x, bar_top: pillar.area.top, area });
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
