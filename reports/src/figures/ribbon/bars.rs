//! The bars: each prompt in stretches of one level and one state.

use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::wire::Level;
use plotters::style::RGBColor;

use crate::figures::axis::Scale;
use crate::figures::canvas::{Area, Canvas, ink};

use super::rows::Stack;

/// What became of tokens. On grey paper the three differ in lightness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Read,
    Written,
    Fresh,
    /// The request was given up: nothing of it was billed.
    GivenUp,
}

/// The colour of a level.
pub const fn hue(level: Level) -> RGBColor {
    match level {
        Level::Tools => ink::TOOLS,
        Level::System => ink::SYSTEM,
        Level::Messages => ink::MESSAGES,
    }
}

/// A stretch of a bar, in columns.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stretch {
    level: Level,
    state: State,
    left: i32,
    right: i32,
}

/// Draws a stack into `area`. Bars that look alike are drawn as one.
pub fn draw(run: &Run, stack: &Stack, area: Area, scale: &Scale, canvas: &mut Canvas<'_>) {
    let shown = i32::try_from(stack.requests.len()).unwrap_or(i32::MAX).max(1);
    let row =
        |at: i32| area.top + i32::try_from(i64::from(area.height()) * i64::from(at) / i64::from(shown)).unwrap_or(0);
    let mut alike: Option<(Vec<Stretch>, i32)> = None;
    let mut next_row = area.top;
    for (at, request) in (0..).zip(stack.requests.iter().filter_map(|at| run.requests.get(*at))) {
        let (top, bottom) = (row(at), row(at + 1));
        // More requests than pixels: those without a pixel of their own are left out.
        if bottom <= top {
            continue;
        }
        let stretches = stretches(request, scale);
        if alike.as_ref().is_none_or(|(known, _)| *known != stretches)
            && let Some((known, from)) = alike.replace((stretches, top))
        {
            bar(&known, from, top, canvas);
        }
        next_row = bottom;
    }
    if let Some((known, from)) = alike {
        bar(&known, from, next_row, canvas);
    }
}

fn bar(stretches: &[Stretch], top: i32, bottom: i32, canvas: &mut Canvas<'_>) {
    for stretch in stretches {
        paint(stretch.level, stretch.state, Area { left: stretch.left, top, right: stretch.right, bottom }, canvas);
    }
    // A thin gap between levels.
    for pair in stretches.windows(2).filter(|pair| pair[0].level != pair[1].level) {
        canvas.fill(Area { left: pair[1].left - 1, top, right: pair[1].left, bottom }, ink::PAPER);
    }
}

/// Fills an area as a level in a state.
pub fn paint(level: Level, state: State, area: Area, canvas: &mut Canvas<'_>) {
    fill(hue(level), state, area, canvas);
}

/// Fills an area with a colour in a state: full, hatched, or an outline.
pub fn fill(colour: RGBColor, state: State, area: Area, canvas: &mut Canvas<'_>) {
    match state {
        State::Read => canvas.fill(area, colour),
        State::Written => {
            canvas.fill(area, paler(colour, 42));
            if area.height() >= HATCHED_MIN {
                canvas.hatch(area, paler(colour, 75));
            }
        }
        State::Fresh => {
            canvas.fill(area, paler(colour, 14));
            if area.height() >= HATCHED_MIN {
                canvas.outline(Area { right: area.right - 1, bottom: area.bottom - 1, ..area }, paler(colour, 60));
            }
        }
        State::GivenUp => canvas.fill(area, ink::GRID),
    }
}

/// Lower bars show states by lightness alone.
const HATCHED_MIN: i32 = 6;

/// A colour with this many hundredths of its strength.
fn paler(colour: RGBColor, strength: u16) -> RGBColor {
    let mixed = |channel: u8| {
        let white = 255 - (255 - u16::from(channel)) * strength / 100;
        u8::try_from(white).unwrap_or(u8::MAX)
    };
    RGBColor(mixed(colour.0), mixed(colour.1), mixed(colour.2))
}

/// A prompt from left to right: read, then written, then plain input (prompt-caching page, 2026-09), each cut where levels end.
fn stretches(request: &Request, scale: &Scale) -> Vec<Stretch> {
    let (usage, [tools, system, messages]) = (request.usage(), request.layout.level_ends);
    let total = messages.max(usage.total_input_tokens());
    let read = usage.cache_read_input_tokens;
    let written = read + usage.cache_creation_input_tokens();
    let states = match usage.total_input_tokens() {
        0 => [(State::GivenUp, 0), (State::GivenUp, 0), (State::GivenUp, total)],
        _ => [(State::Read, read), (State::Written, written), (State::Fresh, total)],
    };
    let levels = [(Level::Tools, tools), (Level::System, system), (Level::Messages, total)];
    let mut stretches = Vec::new();
    let mut from = 0;
    for (level, level_end) in levels {
        for (state, state_end) in states {
            let end = level_end.min(state_end);
            let (left, right) = (scale.at(from as f64), scale.at(end as f64));
            if end > from && right > left {
                stretches.push(Stretch { level, state, left, right });
            }
            from = from.max(end);
        }
    }
    stretches
}
