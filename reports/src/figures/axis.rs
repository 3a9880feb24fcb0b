//! Scales: from values to pixels along one axis, round steps between lines, and these lines with their labels.

use super::canvas::{Anchor, Area, Canvas, ink};

const SIZE: f64 = 12.0;

/// From a label to the plot.
const GAP: i32 = 8;

/// From values to pixels along one axis; values beyond its ends lie on them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub from: f64,
    pub to: f64,
    /// The pixel of `from`, and that of `to`.
    pub start: i32,
    pub end: i32,
}

impl Scale {
    pub fn at(&self, value: f64) -> i32 {
        let part = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.start + (f64::from(self.end - self.start) * part).round() as i32
    }

    /// Whether a value lies on the axis.
    pub fn holds(&self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }

    /// The multiples of `step` on the axis, each with its label; at most a hundred.
    pub fn ticks(&self, step: f64, label: impl Fn(f64) -> String) -> Vec<Tick> {
        let first = (self.from / step).ceil();
        let values = (0..100).map(|at| step * (first + f64::from(at)));
        let values = values.take_while(|value| *value <= self.to + step * 1e-6);
        values.map(|value| Tick { at: self.at(value), label: label(value) }).collect()
    }
}

/// A line of a grid.
pub(super) struct Tick {
    /// Its pixel.
    pub at: i32,
    pub label: String,
}

/// 1, 2 or 5 times a power of ten, at least `rough`.
pub(super) fn step(rough: f64) -> f64 {
    let power = 10f64.powi(rough.max(1e-12).log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough).unwrap_or(rough)
}

/// Seconds of a round stretch of time, at least `rough`: beyond two weeks, whole weeks.
pub(super) fn time_step(rough: u64) -> u64 {
    const STEPS: [u64; 18] =
        [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, DAY];
    let weeks = || rough.div_ceil(7 * DAY) * 7 * DAY;
    STEPS.into_iter().find(|step| *step >= rough).unwrap_or_else(weeks)
}

/// Seconds of a day.
pub(super) const DAY: u64 = 86_400;

/// An amount with cents, or as many decimals as its step needs.
pub(super) fn dollars(amount: f64, step: f64) -> String {
    if amount == 0.0 {
        return "$0".to_owned();
    }
    let places = if step >= 1.0 { 0 } else { decimals(step).max(2) };
    format!("${amount:.places$}")
}

/// A number with as many decimals as its step needs; of long steps, thousands.
pub(super) fn number(number: f64, step: f64) -> String {
    let places = decimals(step);
    if step < 1_000.0 { format!("{number:.places$}") } else { thousands(number) }
}

fn decimals(step: f64) -> usize {
    (-step.log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize
}

/// `500`, `12k`, `1.5k`, `2M`.
pub(super) fn thousands(number: f64) -> String {
    let unit = |unit: f64, word: &str| {
        let text = format!("{:.1}", number / unit);
        format!("{}{word}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match number {
        number if number < 1e3 => format!("{number:.0}"),
        number if number < 1e6 => unit(1e3, "k"),
        _ => unit(1e6, "M"),
    }
}

/// Lines across a plot, with labels to the left.
pub(super) fn across(ticks: &[Tick], plot: Area, canvas: &mut Canvas<'_>) {
    for tick in ticks {
        canvas.line((plot.left, tick.at), (plot.right, tick.at), ink::GRID);
        canvas.text(&tick.label, (plot.left - GAP, tick.at), SIZE, ink::FAINT, Anchor::End);
    }
}

/// Lines down a plot, with labels under it.
pub(super) fn down(ticks: &[Tick], plot: Area, canvas: &mut Canvas<'_>) {
    for tick in ticks {
        canvas.line((tick.at, plot.top), (tick.at, plot.bottom), ink::GRID);
    }
    below(ticks, plot.bottom, canvas);
}

/// Labels under a plot.
pub(super) fn below(ticks: &[Tick], bottom: i32, canvas: &mut Canvas<'_>) {
    for tick in ticks {
        canvas.line((tick.at, bottom), (tick.at, bottom + 5), ink::FAINT);
        canvas.text(&tick.label, (tick.at, bottom + 16), SIZE, ink::FAINT, Anchor::Middle);
    }
}

/// What lies to the right, under the labels of `below`.
pub(super) fn title_below(title: &str, plot: Area, canvas: &mut Canvas<'_>) {
    canvas.text(title, (i32::midpoint(plot.left, plot.right), plot.bottom + 38), SIZE, ink::FAINT, Anchor::Middle);
}

/// What lies upwards, over the upper end of the axis.
pub(super) fn title_above(title: &str, plot: Area, canvas: &mut Canvas<'_>) {
    canvas.text(title, (plot.left, plot.top - 11), SIZE, ink::FAINT, Anchor::Start);
}

#[cfg(test)]
mod tests {
    use super::{DAY, Scale, dollars, step, thousands, time_step};

    #[test]
    fn steps_are_round_and_numbers_as_long_as_they_need() {
        assert_eq!([0.07, 0.021, 1.0, 3.0, 700.0].map(step), [0.1, 0.05, 1.0, 5.0, 1_000.0]);
        assert_eq!([9, 514, 90_000, 20 * DAY].map(time_step), [10, 600, 7 * DAY, 21 * DAY]);
        let amounts = [(0.15, 0.05), (2.0, 1.0), (0.5, 0.5), (0.004, 0.002), (0.0, 1.0)];
        assert_eq!(amounts.map(|(at, step)| dollars(at, step)), ["$0.15", "$2", "$0.50", "$0.004", "$0"]);
        assert_eq!([0.0, 500.0, 1_500.0, 20_000.0, 2e6].map(thousands), ["0", "500", "1.5k", "20k", "2M"]);
    }

    #[test]
    fn what_lies_beyond_an_axis_lies_on_its_end() {
        let scale = Scale { from: 0.0, to: 10.0, start: 100, end: 0 };
        assert_eq!([-5.0, 0.0, 5.0, 10.0, f64::MAX].map(|value| scale.at(value)), [100, 100, 50, 0, 0]);
        let ticks = scale.ticks(4.0, |value| value.to_string());
        assert_eq!(ticks.iter().map(|tick| &*tick.label).collect::<Vec<_>>(), ["0", "4", "8"]);
    }
}
