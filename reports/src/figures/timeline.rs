//! The results in the cache, request by request: a bar each, stacked from read, written and other input, with the
//! missed part hatched, each miss marked by its cause and the most expensive ones named.

use forkcast_sim::pricing::Money;

use super::canvas::{Anchor, Area, Canvas, ink, text_width};
use crate::document::{count, money, share};
use crate::report::{Report, not_modelled};

mod axes;
mod bars;
mod labels;
mod marks;

use axes::Scale;
use bars::Bar;
use marks::Marks;

pub use bars::Requests;

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 644;
const PLOT: Area = Area { left: 76, top: 128, right: 1172, bottom: 572 };

/// The part of the plot's height of the tallest bar; names are above it.
const TALLEST: f64 = 0.84;

/// The picture as SVG; `requests` are those of the report.
pub fn svg(report: &Report<'_>, requests: Requests) -> String {
    let mut text = String::new();
    let mut canvas = Canvas::new(&mut text, WIDTH, HEIGHT);
    let bars = requests.bars(PLOT.width());
    head(report, &mut canvas);
    legend(&mut canvas);
    let marks = Marks::of(report);
    marks.legend((PLOT.left + 100, PLOT.right), &mut canvas);
    let tallest = bars.iter().map(Bar::tokens).max().unwrap_or(0).max(1);
    let scale = Scale::new(tallest, PLOT, TALLEST);
    axes::tokens(&scale, &mut canvas);
    let slots = Slots::new(bars.len());
    for (at, bar) in bars.iter().enumerate() {
        draw(bar, slots.bar(at), &scale, &mut canvas);
    }
    axes::requests(&bars, &slots, &mut canvas);
    marks.draw(&bars, &slots, &scale, &mut canvas);
    labels::draw(&bars, &slots, &scale, &mut canvas);
    canvas.finish();
    text
}

/// The positions of the bars.
struct Slots {
    bars: i32,
    left: i32,
    pitch: i32,
}

/// A few bars do not fill the sheet.
const PITCH_MAX: i32 = 90;

/// Narrower bars have no gaps, so that differences of one pixel are invisible.
const PITCH_WITH_GAPS: i32 = 4;

impl Slots {
    fn new(bars: usize) -> Self {
        let bars = i32::try_from(bars).unwrap_or(i32::MAX).max(1);
        let pitch = (PLOT.width() / bars).clamp(1, PITCH_MAX);
        let used = if pitch < PITCH_WITH_GAPS { PLOT.width() } else { pitch * bars };
        Self { bars, left: PLOT.left + (PLOT.width() - used) / 2, pitch }
    }

    /// Left and right edge of a bar.
    fn bar(&self, at: usize) -> (i32, i32) {
        let at = i32::try_from(at).unwrap_or(i32::MAX);
        if self.pitch < PITCH_WITH_GAPS {
            let edge = |at: i32| self.left + PLOT.width() * at / self.bars;
            return (edge(at), edge(at + 1));
        }
        let bar = self.pitch * 3 / 4;
        let left = self.left + self.pitch * at + (self.pitch - bar) / 2;
        (left, left + bar)
    }

    fn middle(&self, at: usize) -> i32 {
        let (left, right) = self.bar(at);
        i32::midpoint(left, right)
    }
}

fn head(report: &Report<'_>, canvas: &mut Canvas<'_>) {
    let billed = report.totals.billed;
    let cost = billed.cost.map_or_else(|| "no price".to_owned(), money);
    let rate = billed.usage.hit_rate().map_or_else(String::new, |rate| format!(", hit rate {}", share(rate)));
    let requests = report.tally.requests;
    let plural = if requests == 1 { "" } else { "s" };
    let title = format!("{} request{plural}, {cost}{rate}", count(requests));
    canvas.text(&title, (PLOT.left, 32), 20.0, ink::TEXT, Anchor::Start);
    if let Some(saved) = saved(report) {
        canvas.text(&saved, (PLOT.left, 58), 13.0, ink::FAINT, Anchor::Start);
    }
}

fn saved(report: &Report<'_>) -> Option<String> {
    let account = &report.totals;
    let (bill, perfect) = account.billed.cost.zip(account.perfect).filter(|_| account.is_explained())?;
    let saved = bill - perfect;
    let tokens = count(report.totals.ledger.missed_tokens);
    let said = if saved == Money::ZERO {
        "Every token that could have been read was read".to_owned()
    } else {
        format!("{tokens} tokens had been sent before and were not read: that cost {} more", money(saved))
    };
    Some(match not_modelled(report) {
        0 => said,
        number => format!("{said}; the cache of {} requests is not modelled", count(number)),
    })
}

fn legend(canvas: &mut Canvas<'_>) {
    let names = [
        ("Read from the cache", ink::READ, false),
        ("Written to the cache", ink::WRITTEN, false),
        ("Plain input", ink::INPUT, false),
        ("Missed", ink::PAPER, true),
    ];
    let mut right = PLOT.right;
    for (name, colour, hatched) in names.into_iter().rev() {
        let left = right - text_width(name, 12.0);
        canvas.text(name, (left, 86), 12.0, ink::TEXT, Anchor::Start);
        let swatch = Area { left: left - 24, top: 79, right: left - 7, bottom: 93 };
        canvas.fill(swatch, colour);
        if hatched {
            canvas.hatch(swatch, ink::MISSED);
            canvas.outline(swatch, ink::MISSED);
        }
        right = swatch.left - 18;
    }
}

/// Read at the bottom, then written, then plain input; the missed part begins at the end of the read part.
fn draw(bar: &Bar, (left, right): (i32, i32), scale: &Scale, canvas: &mut Canvas<'_>) {
    let part = |from: u64, to: u64| Area { left, top: scale.y(to), right, bottom: scale.y(from) };
    let written = bar.read + bar.written;
    canvas.fill(part(0, bar.read), ink::READ);
    canvas.fill(part(bar.read, written), ink::WRITTEN);
    canvas.fill(part(written, bar.tokens()), ink::INPUT);
    let missed = part(bar.read, bar.read + bar.missed);
    if bar.missed > 0 && right - left > 2 {
        canvas.hatch(missed, ink::MISSED);
        canvas.outline(missed, ink::MISSED);
    } else if bar.missed > 0 {
        // Too narrow for lines.
        canvas.fill(missed, ink::MISSED);
    }
}

#[cfg(test)]
mod tests {
    use super::axes::Scale;
    use super::bars::Bar;
    use super::{Canvas, HEIGHT, PLOT, TALLEST, WIDTH, draw};

    #[test]
    fn a_bar_is_no_higher_than_the_plot_whatever_its_numbers() {
        let drawn = |missed: u64| {
            let mut text = String::new();
            let mut canvas = Canvas::new(&mut text, WIDTH, HEIGHT);
            let bar = Bar { read: 1, missed, ..Bar::default() };
            draw(&bar, (PLOT.left, PLOT.left + 40), &Scale::new(1, PLOT, TALLEST), &mut canvas);
            canvas.finish();
            text
        };
        assert_eq!(drawn(u64::MAX - 1), drawn(1_000));
        assert!(drawn(1_000).matches("<line").count() < 100);
    }
}
