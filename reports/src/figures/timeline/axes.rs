//! The axes: tokens upwards, requests to the right with the time beneath.

use super::Slots;
use super::bars::Bar;
use crate::figures::canvas::{Anchor, Area, Canvas, ink, text_width};
use crate::human::when;
use crate::report::Zone;

/// From tokens to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    plot: Area,
    /// Tokens at the upper edge of the plot.
    top_tokens: f64,
    tallest: u64,
}

/// About so many lines across.
const TICKS: f64 = 5.0;

impl Scale {
    /// A scale on which `tallest` takes `part` of the plot's height.
    pub fn new(tallest: u64, plot: Area, part: f64) -> Self {
        Self { plot, top_tokens: tallest as f64 / part, tallest }
    }

    /// The height of a number of tokens: no higher than the plot.
    pub fn y(&self, tokens: u64) -> i32 {
        let part = (tokens as f64 / self.top_tokens).min(1.0);
        self.plot.bottom - (f64::from(self.plot.height()) * part).round() as i32
    }

    /// Round numbers up to the tallest bar.
    fn ticks(&self) -> impl Iterator<Item = u64> {
        let step = step(self.tallest);
        (0..).map(move |at| at * step).take_while(move |tokens| *tokens <= self.tallest + step / 2)
    }
}

/// 1, 2 or 5 times a power of ten, at least 1.
fn step(tallest: u64) -> u64 {
    let rough = (tallest as f64 / TICKS).max(1.0);
    let power = 10f64.powi(rough.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough);
    (step.unwrap_or(rough) as u64).max(1)
}

/// Lines across with their numbers.
pub(super) fn tokens(scale: &Scale, canvas: &mut Canvas<'_>) {
    let plot = scale.plot;
    for tokens in scale.ticks() {
        let y = scale.y(tokens);
        canvas.line((plot.left, y), (plot.right, y), ink::GRID);
        canvas.text(&thousands(tokens), (plot.left - 10, y), 12.0, ink::FAINT, Anchor::End);
    }
    canvas.text("Input tokens", (plot.left, plot.top - 18), 12.0, ink::FAINT, Anchor::Start);
}

/// `500`, `12k`, `1.5k`, `2M`.
fn thousands(tokens: u64) -> String {
    let unit = |unit: u64, word: &str| {
        let text = format!("{:.1}", tokens as f64 / unit as f64);
        format!("{}{word}", text.trim_end_matches('0').trim_end_matches('.'))
    };
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => unit(1_000, "k"),
        _ => unit(1_000_000, "M"),
    }
}

/// Room that a number or a time needs, in pixels.
const NUMBER_ROOM: i32 = 34;
const TIME_ROOM: i32 = 100;

const TIME_SIZE: f64 = 11.0;

/// The right edge of the sheet, and what stays free before it: digits are wider than the average character.
const SHEET_RIGHT: i32 = super::WIDTH.cast_signed();
const SHEET_MARGIN: i32 = 6;

/// Numbers and times beneath the bars.
pub(super) fn requests(bars: &[Bar], slots: &Slots, canvas: &mut Canvas<'_>) {
    let plot = super::PLOT;
    canvas.line((plot.left, plot.bottom), (plot.right, plot.bottom), ink::FAINT);
    let many = bars.first().map(|bar| bar.requests).filter(|many| *many > 1);
    // Many requests in a bar have no number that anybody could ask for.
    for (at, bar) in every(bars, NUMBER_ROOM, slots.pitch).filter(|_| many.is_none()) {
        canvas.text(&bar.first.to_string(), (slots.middle(at), plot.bottom + 14), 12.0, ink::FAINT, Anchor::Middle);
    }
    let instants = || bars.iter().filter_map(|bar| bar.at);
    let span = instants().min().zip(instants().max());
    let clock = |at| span.and_then(|span| when::clock(at, span, &Zone::default()));
    for (at, bar) in every(bars, TIME_ROOM, slots.pitch) {
        if let Some(clock) = bar.at.and_then(clock) {
            // The sheet ends shortly after the last bar.
            let room = text_width(&clock, TIME_SIZE) / 2 + SHEET_MARGIN;
            let middle = slots.middle(at).min(SHEET_RIGHT - room);
            canvas.text(&clock, (middle, plot.bottom + 34), TIME_SIZE, ink::FAINT, Anchor::Middle);
        }
    }
    let timed = bars.iter().any(|bar| bar.at.is_some());
    let mut title = "request, in order of time".to_owned();
    if let Some(many) = many {
        title = format!("each bar is the average of {many} requests, in order of time");
    }
    let title = if timed { format!("{title}, sent at (UTC)") } else { title };
    canvas.text(&title, (i32::midpoint(plot.left, plot.right), plot.bottom + 56), 12.0, ink::FAINT, Anchor::Middle);
}

/// Every n-th bar, n being round and large enough that each has `room` pixels.
fn every(bars: &[Bar], room: i32, pitch: i32) -> impl Iterator<Item = (usize, &Bar)> {
    let least = usize::try_from(room.div_euclid(pitch.max(1)) + i32::from(room % pitch.max(1) > 0)).unwrap_or(1).max(1);
    let round = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000].into_iter().find(|step| *step >= least);
    bars.iter().enumerate().step_by(round.unwrap_or(least))
}

#[cfg(test)]
mod tests {
    use super::{step, thousands};

    #[test]
    fn steps_are_round() {
        assert_eq!([1, 9, 47, 1_200, 98_000, 1_000_000].map(step), [1, 2, 10, 500, 20_000, 200_000]);
    }

    #[test]
    fn large_numbers_are_short() {
        assert_eq!([0, 500, 1_500, 20_000, 2_000_000].map(thousands), ["0", "500", "1.5k", "20k", "2M"]);
    }
}
