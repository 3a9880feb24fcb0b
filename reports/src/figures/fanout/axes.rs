//! The axes of a panel: what varies to the right, money upwards from nothing.

use forkcast_scenarios::fanout::breakeven::{Counted, Panel, Point, Quantity, Question};
use forkcast_sim::pricing::Money;

use crate::figures::axis::{self, Scale};
use crate::figures::canvas::{Area, Canvas, ink};

/// About this many lines across, and numbers below.
const LINES: f64 = 6.0;
const NUMBERS: f64 = 8.0;

/// Room above the dearest point, as a part of the height.
const HEADROOM: f64 = 0.06;

/// Room beside measured places, as a part of the width.
const SIDES: f64 = 0.12;

/// Picodollars of a dollar.
const PICOUSD: f64 = 1e12;

/// From places and money to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    pub area: Area,
    pub right: Scale,
    up: Scale,
    /// Places are whole numbers.
    is_whole: bool,
}

impl Axes {
    /// Axes on which every point of a panel lies; `is_continuous` where places are measured, not counted.
    pub fn of(panel: &Panel, area: Area, is_continuous: bool) -> Self {
        let points = || panel.curves.iter().flat_map(|curve| &curve.points);
        let least = points().map(|point| point.at).fold(f64::INFINITY, f64::min);
        let most = points().map(|point| point.at).fold(f64::NEG_INFINITY, f64::max);
        let (least, most) = match most - least {
            range if range > 0.0 => (least, most),
            // All at one place, or none at all.
            _ if most > 0.0 && most.is_finite() => (0.0, 2.0 * most),
            _ => (0.0, 1.0),
        };
        let margin = if is_continuous { (most - least) * SIDES } else { 0.0 };
        let dearest = points().map(|point| dollars(point.cost)).fold(0.0, f64::max);
        let top = if dearest > 0.0 { dearest * (1.0 + HEADROOM) } else { 1.0 };
        Self {
            area,
            right: Scale { from: least - margin, to: most + margin, start: area.left, end: area.right },
            up: Scale { from: 0.0, to: top, start: area.bottom, end: area.top },
            is_whole: !is_continuous,
        }
    }

    pub fn y(&self, cost: Money) -> i32 {
        self.up.at(dollars(cost))
    }

    pub fn place(&self, point: &Point) -> (i32, i32) {
        (self.right.at(point.at), self.y(point.cost))
    }

    /// Lines across with amounts, places below, and what both are.
    pub fn draw(&self, question: Question, canvas: &mut Canvas<'_>) {
        let area = self.area;
        let step = axis::step(self.up.to / LINES);
        axis::across(&self.up.ticks(step, |amount| axis::dollars(amount, step)), area, canvas);
        canvas.line((area.left, area.bottom), (area.right, area.bottom), ink::FAINT);
        let rough = (self.right.to - self.right.from) / NUMBERS;
        let step = axis::step(if self.is_whole { rough.max(1.0) } else { rough });
        axis::below(&self.right.ticks(step, |place| axis::number(place, step)), area.bottom, canvas);
        axis::title_below(right_of(question), area, canvas);
        axis::title_above(upwards_of(question), area, canvas);
    }
}

const fn right_of(question: Question) -> &'static str {
    match question {
        Question::Children | Question::LookBack => "children",
        Question::ForkOrSpawn => "turns (requests of each child)",
        Question::Ttl => "children that wait once for more than five minutes",
        Question::Prime => "seconds until the last child is done (assumed speeds)",
        Question::Grid(quantity) => match quantity {
            Quantity::Children => "children",
            Quantity::Turns => "turns (requests of each child)",
            Quantity::Prefix => "tokens of the parent's context",
            Quantity::Tail => "tokens of the tail that all children share",
            Quantity::Directive => "tokens of each directive",
            Quantity::Waiting => "children that wait once for more than five minutes",
            Quantity::Growth => "tokens by which a child's prompt grows each turn",
        },
    }
}

/// What a cost counts.
const fn upwards_of(question: Question) -> &'static str {
    match (question, question.counts()) {
        (Question::LookBack, _) => "cost of one child, USD",
        (_, Counted::WithParent) => "cost of the children and of their parent, USD",
        (_, Counted::Started) => "cost of all children and of the words that start them, USD",
        (_, Counted::Children) => "cost of all children without their parent, USD",
    }
}

fn dollars(cost: Money) -> f64 {
    cost.picousd() as f64 / PICOUSD
}
