//! The bill over time: bars of dollars by category, the avoidable part on top, and the dearest misses named.
//!
//! A few requests have a bar each. Many are drawn over real time, in a lane for each day or week, or for each session if
//! they all fall within a day; a bar is then the sum of a few minutes or hours. The number of lanes and bars is bounded,
//! and sums are taken while the requests pass, so a picture of any number of requests is as large and takes as much
//! memory as that of a few thousand.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use forkcast_sim::pricing::Money;

use super::axis::{self, Scale};
use super::canvas::{Area, Canvas, EDGE, HEAD, WIDTH, ink, picture};
use super::legend::{Legend, ROW};
use crate::report::{Recorded, Report, Zone};

mod bar;
mod caption;
mod labels;
mod lane;
mod plan;

use bar::{Bar, Unit};
use lane::{Drawn, Lane};
use plan::{Place, Plan, Spot};

/// The right edge of the plots; sums of lanes are beside them.
const RIGHT: i32 = 872;

/// The left edge, with and without names of lanes.
const LEFT: i32 = 220;
const LEFT_UNNAMED: i32 = 84;

/// From the legend to the first lane: the title of the axis.
const ABOVE: i32 = 34;

/// Room under the lanes: labels, and what they are.
const BELOW: i32 = 56;

/// The approximate height of all lanes together, and the limits of one.
const LANES_HIGH: i32 = 900;
const LANE_MIN: i32 = 56;
const LANE_MAX: i32 = 160;
const LONE_LANE: i32 = 400;

/// Room for names above the dearest bar; of low lanes the bar takes at least this part.
const NAMES: f64 = 34.0;
const TALLEST: f64 = 0.66;

/// Lanes of this height have several lines across.
const TALL: i32 = 110;

/// The dearest bars are broken if the dearest is more than so many times as high as all but these: one of so many bars,
/// at most this many.
const BROKEN_FROM: u64 = 2;
const BROKEN_EVERY: usize = 30;
const BROKEN_MAX: usize = 5;

/// Bars without a broken one.
const WHOLE_MAX: usize = 10;

/// A timeline of the requests that a report counts.
#[derive(Debug)]
pub struct Timeline {
    unit: Unit,
    plan: Plan,
    lanes: BTreeMap<u64, Lane>,
    /// Requests without a place: without an instant, where others have one, or of too many sessions without instants.
    not_drawn: u64,
}

impl Timeline {
    /// An empty timeline for the requests of a report.
    pub fn of(report: &Report<'_>) -> Self {
        let unit = if report.totals.billed.cost.is_some() { Unit::Dollars } else { Unit::Tokens };
        Self { unit, plan: Plan::of(report), lanes: BTreeMap::new(), not_drawn: 0 }
    }

    /// Adds a request.
    pub fn add(&mut self, report: &Report<'_>, entry: &Recorded<'_>) {
        let Some(usage) = entry.line.billed().filter(|_| report.counted.counts(entry)) else { return };
        self.put(Spot::of(entry), Bar::of(&entry.line, &usage, self.unit), &report.view.zone);
    }

    fn put(&mut self, spot: Spot, bar: Bar, zone: &Zone) {
        let Some(lane) = self.plan.lane(&spot, zone) else {
            self.not_drawn += 1;
            return;
        };
        let lane = self.lanes.entry(lane).or_default();
        let place = self.plan.place(&spot, lane.requests, zone);
        lane.add(place, bar);
    }

    /// The picture as SVG.
    pub fn svg(&self, report: &Report<'_>) -> String {
        let count = i32::try_from(self.lanes.len()).unwrap_or(i32::MAX).max(1);
        let high = if count == 1 { LONE_LANE } else { (LANES_HIGH / count).clamp(LANE_MIN, LANE_MAX) };
        let top = HEAD + ROW + ABOVE;
        let left = if self.plan.has_names() { LEFT } else { LEFT_UNNAMED };
        let plot = Area {
            left,
            top,
            right: if self.plan.has_names() { RIGHT } else { WIDTH - EDGE },
            bottom: top + count * high,
        };
        let zone = &report.view.zone;
        picture(&caption::of(self, report), plot.bottom + BELOW, |canvas| {
            legend(canvas);
            axis::title_above(&self.upwards(), plot, canvas);
            for lane in self.lanes.values().take(1) {
                axis::below(&self.plan.ticks(&lane.bars, plot, zone), plot.bottom, canvas);
            }
            axis::title_below(&self.plan.to_the_right(zone), plot, canvas);
            let drawn: Vec<Drawn<'_>> = self.drawn(report, plot, high);
            drawn.iter().for_each(|lane| lane.draw(self.unit, canvas));
            labels::draw(&drawn, self.unit, least_named(report), canvas);
        })
    }

    /// The lanes from top to bottom, all on one scale.
    fn drawn(&self, report: &Report<'_>, plot: Area, high: i32) -> Vec<Drawn<'_>> {
        let part = (1.0 - NAMES / f64::from(high)).max(TALLEST);
        let tallest = self.tallest().max(1) as f64;
        let lanes = (0..).zip(&self.lanes).map(|(at, (key, lane))| {
            let area = Area { top: plot.top + at * high, bottom: plot.top + (at + 1) * high, ..plot };
            let up = Scale { from: 0.0, to: tallest / part, start: area.bottom, end: area.top };
            let name = self.plan.name(*key, report);
            Drawn { lane, name, area, up, tallest, pillars: lane.pillars(&self.plan, &up, area, tallest) }
        });
        lanes.collect()
    }

    /// The highest amount on the scale; dearer bars are drawn up to it, broken.
    fn tallest(&self) -> u64 {
        let mut amounts: Vec<u64> = self.lanes.values().flat_map(Lane::amounts).collect();
        amounts.sort_unstable_by_key(|amount| Reverse(*amount));
        let Some(highest) = amounts.first().copied() else { return 0 };
        let broken = amounts.len().div_ceil(BROKEN_EVERY).min(BROKEN_MAX);
        match amounts.get(broken) {
            Some(next) if amounts.len() > WHOLE_MAX && highest / BROKEN_FROM > *next => next.saturating_add(next / 4),
            _ => highest,
        }
    }

    /// The number of bars that are higher than drawn.
    fn broken(&self) -> usize {
        let tallest = self.tallest();
        self.lanes.values().flat_map(Lane::amounts).filter(|amount| *amount > tallest).count()
    }

    fn upwards(&self) -> String {
        let unit = match self.unit {
            Unit::Dollars => "USD",
            Unit::Tokens => "tokens",
        };
        format!("{unit} {}", self.plan.of_a_bar())
    }
}

/// Bars in dollars, kept until the report is complete and their places are known; in pieces, which never move.
#[derive(Debug, Default)]
pub struct Bars(Vec<Vec<(Spot, Bar)>>);

/// Bars of a piece.
const PIECE: usize = 1_024;

impl Bars {
    /// Keeps the bar of a request.
    pub fn take(&mut self, entry: &Recorded<'_>) {
        let Some(usage) = entry.line.billed() else { return };
        let kept = (Spot::of(entry), Bar::of(&entry.line, &usage, Unit::Dollars));
        match self.0.last_mut().filter(|piece| piece.len() < PIECE) {
            Some(piece) => piece.push(kept),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(kept);
                self.0.push(piece);
            }
        }
    }

    /// The timeline of them; `None` if its unit is another one.
    pub fn timeline(self, report: &Report<'_>) -> Option<Timeline> {
        let mut timeline = Timeline::of(report);
        if timeline.unit != Unit::Dollars {
            return None;
        }
        self.0.into_iter().flatten().for_each(|(spot, bar)| timeline.put(spot, bar, &report.view.zone));
        Some(timeline)
    }
}

/// What costs less than a cent has no name, since it changes no decision; nor less than a thousandth of the bill.
fn least_named(report: &Report<'_>) -> Money {
    let bill = report.totals.billed.cost.map_or(0, Money::picousd);
    NAMED_MIN.max(Money::from_picousd(bill / 1_000))
}

/// A cent.
const NAMED_MIN: Money = Money::from_picousd(10_000_000_000);

fn legend(canvas: &mut Canvas<'_>) {
    let mut legend = Legend::new();
    for part in Bar::default().parts() {
        legend.colour(part.name, part.colour, canvas);
    }
}
