//! Prefixes of a run: a bar for each request, its prompt from left to right in tokens, coloured by level and by the
//! result in the cache, parents and children above one another. Shared parts are in one column; breaks of sharing are
//! marked.
//!
//! Up to `rows::NAMED_MAX` requests each has a bar with its numbers. Beyond that, bars are a few pixels high and close
//! together: forks of one message by their turns, all others by agent, with sums beside them.

mod bars;
mod key;
mod marks;
mod rows;

use forkcast_scenarios::run::{Run, Sums};

use super::canvas::{Anchor, Area, Canvas, ink, shortened, text_width};
use crate::document::{count, money, share};
use rows::{Section, Stack};

const WIDTH: u32 = 1200;
const LEFT: i32 = 196;
const RIGHT: i32 = 872;
const TOP: i32 = 134;
const EDGE: i32 = 28;

/// Right edges of the columns of numbers.
const COLUMNS: [(&str, i32); 4] = [("Read", 956), ("Written", 1032), ("Fresh", 1104), ("Cost", 1172)];

/// About so many places of the scale are named.
const TICKS: u64 = 8;

/// Room under a stack, and under a section.
const GAPS: (i32, i32) = (5, 6);

/// The picture as SVG.
pub fn svg(run: &Run) -> String {
    let sections = rows::sections(run);
    let heights = rows::Heights::of(&sections);
    let mut places = Places::default();
    let mut bottom = TOP;
    for section in &sections {
        for stack in &section.stacks {
            let high = heights.stack(stack);
            places.tops.push((bottom, high));
            bottom += high + GAPS.0;
        }
        bottom += GAPS.1;
    }
    let mut text = String::new();
    let mut canvas = Canvas::new(&mut text, WIDTH, u32::try_from(bottom + 30).unwrap_or(u32::MAX));
    let scale = Scale::of(run);
    head(run, &mut canvas);
    key::draw(run, &mut canvas);
    axis(&scale, bottom, &mut canvas);
    let mut tops = places.tops.iter();
    for section in &sections {
        label(section, tops.as_slice().first().map_or(TOP, |(top, _)| *top), &mut canvas);
        for (stack, (top, high)) in section.stacks.iter().zip(tops.by_ref()) {
            let area = Area { left: LEFT, top: *top, right: RIGHT, bottom: top + high };
            bars::draw(run, stack, area, &scale, &mut canvas);
            numbers(run, stack, top + high.min(&HEAD) / 2, &mut canvas);
        }
    }
    marks::draw(run, &sections, &places, &scale, &mut canvas);
    foot(&heights, bottom, &mut canvas);
    canvas.finish();
    text
}

/// Labels and numbers of a high stack are at its head, within this many pixels.
const HEAD: i32 = 16;

/// Positions of the stacks: upper edge and height, in their order.
#[derive(Default)]
struct Places {
    tops: Vec<(i32, i32)>,
}

/// Tokens to columns.
struct Scale {
    tokens_max: u64,
}

impl Scale {
    fn of(run: &Run) -> Self {
        let longest = run.requests.iter().map(|request| request.layout.level_ends[2]).max();
        Self { tokens_max: longest.unwrap_or(0).max(1) }
    }

    /// The column of a place in a prompt.
    fn x(&self, tokens: u64) -> i32 {
        let width = u128::from((RIGHT - LEFT).unsigned_abs());
        let across = u128::from(tokens.min(self.tokens_max)) * width / u128::from(self.tokens_max);
        LEFT + i32::try_from(across).unwrap_or(RIGHT - LEFT)
    }
}

fn head(run: &Run, canvas: &mut Canvas<'_>) {
    let totals = run.totals();
    let cost = totals.cost.map_or_else(|| "no price".to_owned(), money);
    let rate = totals.usage.hit_rate().map(|rate| format!(", hit rate {}", share(rate))).unwrap_or_default();
    let plural = if run.agents.len() == 1 { "" } else { "s" };
    let (agents, requests) = (count(run.agents.len() as u64), count(totals.requests));
    let title = format!("{}: {requests} requests of {agents} agent{plural}, {cost}{rate}", run.scenario.name);
    canvas.text(&title, (EDGE, 32), 20.0, ink::TEXT, Anchor::Start);
}

fn axis(scale: &Scale, bottom: i32, canvas: &mut Canvas<'_>) {
    let step = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    let step = step.into_iter().find(|step| scale.tokens_max / step < TICKS).unwrap_or(u64::MAX);
    let mut named = LEFT;
    for tokens in (0..=scale.tokens_max / step).map(|tick| tick * step) {
        let at = scale.x(tokens);
        canvas.line((at, TOP - 8), (at, bottom), ink::GRID);
        canvas.text(&count(tokens), (at, TOP - 17), 11.0, ink::FAINT, Anchor::Middle);
        named = at + text_width(&count(tokens), 11.0) / 2;
    }
    if named + text_width("tokens", 11.0) + 12 < RIGHT + 20 {
        canvas.text("tokens", (RIGHT, TOP - 17), 11.0, ink::FAINT, Anchor::End);
    }
    for (name, at) in COLUMNS {
        canvas.text(name, (at, TOP - 17), 11.0, ink::FAINT, Anchor::End);
    }
}

fn label(section: &Section, top: i32, canvas: &mut Canvas<'_>) {
    let left = EDGE + 12 * i32::try_from(section.depth).unwrap_or(0).min(4);
    let room = LEFT - 34 - left;
    canvas.text(&shortened(&section.label, 12.0, room), (left, top + HEAD / 2), 12.0, ink::TEXT, Anchor::Start);
    for (line, about) in (1..).zip(&section.about) {
        canvas.text(about, (left, top + line * HEAD + HEAD / 2), 10.0, ink::FAINT, Anchor::Start);
    }
}

fn numbers(run: &Run, stack: &Stack, middle: i32, canvas: &mut Canvas<'_>) {
    canvas.text(&stack.note, (LEFT - 8, middle), 10.0, ink::FAINT, Anchor::End);
    let sums = Sums::of(stack.requests.iter().filter_map(|at| run.requests.get(*at)));
    let usage = sums.usage;
    let cost = sums.cost.map_or_else(|| "–".to_owned(), money);
    let shown = [
        count(usage.cache_read_input_tokens),
        count(usage.cache_creation_input_tokens()),
        count(usage.input_tokens),
        cost,
    ];
    for (number, (_, at)) in shown.iter().zip(COLUMNS) {
        canvas.text(number, (at, middle), 11.0, ink::TEXT, Anchor::End);
    }
}

fn foot(heights: &rows::Heights, bottom: i32, canvas: &mut Canvas<'_>) {
    if heights.each > 1 {
        let said = format!("Of every {} requests that lie close together one is drawn; sums are of all", heights.each);
        canvas.text(&said, (LEFT, bottom + 12), 11.0, ink::FAINT, Anchor::Start);
    }
}
