//! The axes of a panel: what varies to the right, money upwards from nothing.

use forkcast_scenarios::fanout::breakeven::{Panel, Point, Question};
use forkcast_sim::pricing::Money;

use crate::figures::canvas::{Anchor, Area, Canvas, ink};

/// About so many lines across, and instants or numbers below.
const TICKS: f64 = 6.0;

/// Room above the dearest point, as a part of the height.
const HEADROOM: f64 = 0.06;

/// Picodollars of a dollar.
const PICOUSD: f64 = 1e12;

/// From places and money to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub area: Area,
    from: f64,
    to: f64,
    /// Dollars at the upper edge.
    top: f64,
    /// Places are whole numbers.
    is_whole: bool,
}

impl Scale {
    /// A scale on which every point of a panel lies; `is_continuous` where places are measured, not counted.
    pub fn of(panel: &Panel, area: Area, is_continuous: bool) -> Self {
        let points = || panel.curves.iter().flat_map(|curve| &curve.points);
        let least = points().map(|point| point.at).fold(f64::INFINITY, f64::min);
        let most = points().map(|point| point.at).fold(f64::NEG_INFINITY, f64::max);
        let (least, most) = if least.is_finite() && most > least { (least, most) } else { (0.0, 1.0) };
        let margin = if is_continuous { (most - least) * 0.12 } else { 0.0 };
        let dearest = points().map(|point| dollars(point.cost)).fold(0.0, f64::max);
        let top = if dearest > 0.0 { dearest * (1.0 + HEADROOM) } else { 1.0 };
        Self { area, from: least - margin, to: most + margin, top, is_whole: !is_continuous }
    }

    pub fn x(&self, at: f64) -> i32 {
        let part = ((at - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.area.left + (f64::from(self.area.width()) * part).round() as i32
    }

    pub fn y(&self, cost: Money) -> i32 {
        self.y_of(dollars(cost))
    }

    fn y_of(&self, dollars: f64) -> i32 {
        let part = dollars / self.top;
        self.area.bottom - (f64::from(self.area.height()) * part.clamp(0.0, 1.0)).round() as i32
    }

    pub fn place(&self, point: &Point) -> (i32, i32) {
        (self.x(point.at), self.y(point.cost))
    }

    /// Whether a place lies on the axis.
    pub fn holds(&self, at: f64) -> bool {
        (self.from..=self.to).contains(&at)
    }

    /// Lines across with amounts, places below, and what both are.
    pub fn draw(&self, question: Question, canvas: &mut Canvas<'_>) {
        let area = self.area;
        let step = step(self.top / TICKS);
        for amount in ticks(0.0, self.top, step) {
            let y = self.y_of(amount);
            canvas.line((area.left, y), (area.right, y), ink::GRID);
            canvas.text(&amount_text(amount, step), (area.left - 10, y), 12.0, ink::FAINT, Anchor::End);
        }
        canvas.line((area.left, area.bottom), (area.right, area.bottom), ink::FAINT);
        let step = step_of_places((self.to - self.from) / (TICKS + 2.0), self.is_whole);
        for place in ticks((self.from / step).ceil() * step, self.to, step) {
            let x = self.x(place);
            canvas.line((x, area.bottom), (x, area.bottom + 5), ink::FAINT);
            let text = if self.is_whole { format!("{place:.0}") } else { decimals(place, step) };
            canvas.text(&text, (x, area.bottom + 18), 12.0, ink::FAINT, Anchor::Middle);
        }
        let (across, up) = titles(question);
        canvas.text(across, (i32::midpoint(area.left, area.right), area.bottom + 44), 12.0, ink::FAINT, Anchor::Middle);
        canvas.text(up, (area.left, area.top - 8), 12.0, ink::FAINT, Anchor::Start);
    }
}

/// What lies to the right, and what upwards.
const fn titles(question: Question) -> (&'static str, &'static str) {
    match question {
        Question::Children => ("children", "cost of all children, USD"),
        Question::ForkOrSpawn => ("turns (requests of each child)", "cost of all children and their briefs, USD"),
        Question::Ttl => ("children that wait once for more than five minutes", "cost of all children, USD"),
        Question::Prime => ("makespan: until the last child is done, seconds", "cost of all children, USD"),
        Question::LookBack => ("children", "cost of one child, USD"),
    }
}

fn dollars(cost: Money) -> f64 {
    cost.picousd() as f64 / PICOUSD
}

/// 1, 2 or 5 times a power of ten, at least `rough`.
fn step(rough: f64) -> f64 {
    let power = 10f64.powi(rough.max(1e-9).log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough).unwrap_or(rough)
}

fn step_of_places(rough: f64, is_whole: bool) -> f64 {
    if is_whole { step(rough.max(1.0)) } else { step(rough) }
}

fn ticks(from: f64, to: f64, step: f64) -> impl Iterator<Item = f64> {
    (0..100).map(move |at| step.mul_add(f64::from(at), from)).take_while(move |tick| *tick <= to + step * 1e-6)
}

/// As many decimals as the step needs.
fn decimals(number: f64, step: f64) -> String {
    let places = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
    format!("{number:.places$}")
}

fn amount_text(amount: f64, step: f64) -> String {
    if amount == 0.0 { "$0".to_owned() } else { format!("${}", decimals(amount, step)) }
}

#[cfg(test)]
mod tests {
    use super::{amount_text, step};

    #[test]
    fn steps_are_round_and_numbers_as_long_as_they_need() {
        assert_eq!([0.07, 0.021, 1.0, 3.0, 700.0].map(step), [0.1, 0.05, 1.0, 5.0, 1_000.0]);
        assert_eq!(
            [(0.15, 0.05), (2.0, 1.0), (0.0, 1.0)].map(|(at, step)| amount_text(at, step)),
            ["$0.15", "$2", "$0"]
        );
    }
}
