//! A lane: its bars side by side on one ground.

use std::collections::BTreeMap;

use forkcast_sim::pricing::Money;

use super::plan::{Plan, slot};
use super::{Area, Bar, Canvas, EDGE, NAMED_MIN, Place, Scale, TALL, Unit, WIDTH, axis, ink};
use crate::document::money;
use crate::figures::canvas::{Anchor, shortened};

const SIZE: f64 = 12.0;

/// Room of a lane's name.
const NAME: i32 = 138;

/// The least step between lines as a part of the highest amount: in a low lane there is one line, since the next round
/// step is at most two and a half times as long.
const TALL_STEP: f64 = 0.2;
const LOW_STEP: f64 = 0.4;

/// Picodollars of a dollar.
const PICOUSD: f64 = 1e12;

/// Bars by their places.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub requests: u64,
    pub sum: Bar,
    pub bars: BTreeMap<Place, Bar>,
}

/// A bar on the sheet.
pub(super) struct Pillar<'a> {
    pub area: Area,
    pub bar: &'a Bar,
    /// It is higher than drawn.
    pub is_broken: bool,
}

/// A lane on the sheet.
pub(super) struct Drawn<'a> {
    pub lane: &'a Lane,
    pub name: String,
    pub area: Area,
    pub up: Scale,
    /// The highest amount of all lanes.
    pub tallest: f64,
    pub pillars: Vec<Pillar<'a>>,
}

impl Lane {
    pub fn add(&mut self, place: Place, bar: Bar) {
        self.requests += 1;
        self.sum += bar.clone();
        *self.bars.entry(place).or_default() += bar;
    }

    /// The amounts of its bars.
    pub fn amounts(&self) -> impl Iterator<Item = u64> {
        self.bars.values().map(Bar::total)
    }

    /// Its bars on the sheet, none higher than `tallest`.
    pub fn pillars(&self, plan: &Plan, up: &Scale, plot: Area, tallest: f64) -> Vec<Pillar<'_>> {
        let across = plan.across(self.bars.len());
        let pillars = (0..).zip(&self.bars).map(|(at, (place, bar))| {
            let at = if plan.has_names() { place.number } else { at };
            let amount = bar.total() as f64;
            let area = Area { top: up.at(amount.min(tallest)), ..slot(at, across, plot) };
            Pillar { area, bar, is_broken: amount > tallest }
        });
        pillars.collect()
    }
}

impl Drawn<'_> {
    pub fn draw(&self, unit: Unit, canvas: &mut Canvas<'_>) {
        self.grid(unit, canvas);
        self.pillars.iter().for_each(|pillar| self.pillar(pillar, canvas));
        canvas.line((self.area.left, self.area.bottom), (self.area.right, self.area.bottom), ink::FAINT);
        if !self.name.is_empty() {
            self.names(unit, canvas);
        }
    }

    /// A bar from its ground up; a broken one keeps the shares of its parts and has a gap.
    fn pillar(&self, pillar: &Pillar<'_>, canvas: &mut Canvas<'_>) {
        let shrunk = if pillar.is_broken { self.tallest / pillar.bar.total() as f64 } else { 1.0 };
        let mut below = 0_u64;
        for part in pillar.bar.parts() {
            let above = below.saturating_add(part.amount);
            let (bottom, top) = (self.up.at(below as f64 * shrunk), self.up.at(above as f64 * shrunk));
            canvas.fill(Area { top, bottom, ..pillar.area }, part.colour);
            below = above;
        }
        if pillar.is_broken {
            let middle = i32::midpoint(pillar.area.top, pillar.area.bottom);
            let gap =
                Area { left: pillar.area.left - 2, right: pillar.area.right + 2, top: middle - 2, bottom: middle + 2 };
            canvas.fill(gap, ink::PAPER);
            for y in [gap.top, gap.bottom] {
                canvas.line((gap.left, y + 2), (gap.right, y - 2), ink::TEXT);
            }
        }
    }

    /// Lines across: several in a tall lane, one in others.
    fn grid(&self, unit: Unit, canvas: &mut Canvas<'_>) {
        let is_tall = self.area.height() >= TALL;
        let per_unit = match unit {
            Unit::Dollars => PICOUSD,
            Unit::Tokens => 1.0,
        };
        let step = axis::step(self.tallest / per_unit * if is_tall { TALL_STEP } else { LOW_STEP });
        let up = Scale { from: 0.0, to: self.tallest / per_unit, start: self.up.start, end: self.up.at(self.tallest) };
        let mut ticks = up.ticks(step, |amount| match unit {
            Unit::Dollars => axis::dollars(amount, step),
            Unit::Tokens => axis::thousands(amount),
        });
        if !is_tall {
            ticks = ticks.split_off(ticks.len().saturating_sub(1));
        }
        axis::across(&ticks, self.area, canvas);
    }

    /// The lane's name to the left of its ground, its sum and the avoidable part of it to the right.
    fn names(&self, unit: Unit, canvas: &mut Canvas<'_>) {
        let (low, high) = (self.area.bottom - 8, self.area.bottom - 24);
        canvas.text(&shortened(&self.name, SIZE, NAME), (EDGE, low), SIZE, ink::TEXT, Anchor::Start);
        canvas.text(&amount(self.lane.sum.total(), unit), (WIDTH - EDGE, high), SIZE, ink::TEXT, Anchor::End);
        let missed = amount(self.lane.sum.missed, unit);
        if is_worth_a_name(self.lane.sum.missed, unit) {
            canvas.text(&format!("missed {missed}"), (WIDTH - EDGE + 4, low), SIZE, ink::MISSED, Anchor::End);
        }
    }
}

fn is_worth_a_name(amount: u64, unit: Unit) -> bool {
    match unit {
        Unit::Dollars => i128::from(amount) >= NAMED_MIN.picousd(),
        Unit::Tokens => amount > 0,
    }
}

/// An amount as text.
pub(super) fn amount(amount: u64, unit: Unit) -> String {
    match unit {
        Unit::Dollars => money(Money::from_picousd(amount.into())),
        Unit::Tokens => axis::thousands(amount as f64),
    }
}
