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

use super::axis::{self, Scale};
use super::canvas::{Anchor, Area, Canvas, EDGE, HEAD, WIDTH, ink, picture, shortened};
use super::svg::Caption;
use crate::document::{count, money, share};
use crate::forks::fan_outs;
use rows::{Section, Stack};

const LEFT: i32 = 160;
const RIGHT: i32 = 650;

/// Words at marks end before the numbers.
const WORDS_RIGHT: i32 = 720;

/// A column of numbers, and its right edge.
struct Column {
    name: &'static str,
    right: i32,
}

const COLUMNS: [Column; 4] = [
    Column { name: "Read", right: 764 },
    Column { name: "Written", right: 836 },
    Column { name: "Fresh", right: 900 },
    Column { name: "Cost", right: WIDTH - EDGE },
];

/// From the legend to the bars: the title of the axis, and its numbers.
const AXIS: i32 = 52;
const NUMBERS: i32 = 14;

/// About this many places of the scale are named.
const TICKS: f64 = 6.0;

/// Room under a stack, and under a section.
const UNDER_STACK: i32 = 5;
const UNDER_SECTION: i32 = 6;

const SIZE: f64 = 12.0;

/// The picture as SVG.
pub fn svg(run: &Run) -> String {
    let sections = rows::sections(run);
    let heights = rows::Heights::of(&sections);
    let top = HEAD + key::height(run) + AXIS;
    let mut places = Places::default();
    let mut bottom = top;
    for section in &sections {
        for stack in &section.stacks {
            let high = heights.stack(stack);
            places.tops.push((bottom, high));
            bottom += high + UNDER_STACK;
        }
        bottom += UNDER_SECTION;
    }
    let plot = Area { left: LEFT, top, right: RIGHT, bottom };
    picture(&caption(run), bottom + 30, |canvas| {
        let scale = scale(run);
        key::draw(run, canvas);
        grid(&scale, plot, canvas);
        let mut tops = places.tops.iter();
        for section in &sections {
            label(section, tops.as_slice().first().map_or(top, |(top, _)| *top), canvas);
            for (stack, (top, high)) in section.stacks.iter().zip(tops.by_ref()) {
                let area = Area { left: LEFT, top: *top, right: RIGHT, bottom: top + high };
                bars::draw(run, stack, area, &scale, canvas);
                numbers(run, stack, top + high.min(&STACK_HEAD) / 2, canvas);
            }
        }
        marks::draw(run, &sections, &places, &scale, canvas);
        foot(&heights, bottom, canvas);
    })
}

/// Labels and numbers of a high stack are at its head, within this many pixels.
const STACK_HEAD: i32 = 16;

/// Positions of the stacks: upper edge and height, in their order.
#[derive(Default)]
struct Places {
    tops: Vec<(i32, i32)>,
}

/// Tokens to columns, as far as the longest prompt.
fn scale(run: &Run) -> Scale {
    let longest = run.requests.iter().map(|request| request.layout.level_ends[2]).max();
    let to = longest.map_or(1.0, |tokens| tokens.max(1) as f64);
    Scale { from: 0.0, to, start: LEFT, end: RIGHT }
}

/// How much the forks of the first fan-out share with their parent and read, or how much all requests read.
fn caption(run: &Run) -> Caption {
    let totals = run.totals();
    let cost = totals.cost.map_or_else(|| "no price".to_owned(), money);
    let rate = totals.usage.hit_rate().map_or_else(|| "nothing".to_owned(), share);
    let shared = fan_outs(run).into_iter().find_map(|fan_out| {
        let shares = || fan_out.shares.iter().flatten();
        let shared: u64 = shares().map(|share| share.shared_tokens).sum();
        let read: u64 = shares().map(|share| share.read_tokens).sum();
        let forks = shares().count();
        let read = share(read as f64 / shared.max(1) as f64);
        (shared > 0)
            .then(|| format!("{forks} forks read {read} of the {} tokens they share with their parent", count(shared)))
    });
    let read = shared.unwrap_or_else(|| format!("{rate} of all input is read from the cache"));
    let (agents, requests) = (count(run.agents.len() as u64), count(totals.requests));
    Caption {
        title: format!("{}: {read}", run.scenario.name),
        note: format!("{requests} requests of {agents} agents for {cost}; {rate} of all input is read from the cache"),
        description: format!(
            "A bar is the prompt of a request, from left to right in tokens: tools, system, messages. {} tokens are read, \
             {} are written, {} are plain input",
            count(totals.usage.cache_read_input_tokens),
            count(totals.usage.cache_creation_input_tokens()),
            count(totals.usage.input_tokens)
        ),
    }
}

fn grid(scale: &Scale, plot: Area, canvas: &mut Canvas<'_>) {
    let middle = plot.top - NUMBERS;
    canvas.text("position in the prompt, tokens", (LEFT, middle - 18), SIZE, ink::FAINT, Anchor::Start);
    for tick in scale.ticks(axis::step((scale.to / TICKS).max(1.0)), axis::thousands) {
        canvas.line((tick.at, plot.top - 6), (tick.at, plot.bottom), ink::GRID);
        canvas.text(&tick.label, (tick.at, middle), SIZE, ink::FAINT, Anchor::Middle);
    }
    for column in COLUMNS {
        canvas.text(column.name, (column.right, middle), SIZE, ink::FAINT, Anchor::End);
    }
}

fn label(section: &Section, top: i32, canvas: &mut Canvas<'_>) {
    let left = EDGE + 12 * i32::try_from(section.depth).unwrap_or(i32::MAX).min(4);
    let room = LEFT - 34 - left;
    canvas.text(&shortened(&section.label, SIZE, room), (left, top + STACK_HEAD / 2), SIZE, ink::TEXT, Anchor::Start);
    for (line, about) in (1..).zip(&section.about) {
        canvas.text(about, (left, top + line * STACK_HEAD + STACK_HEAD / 2), SIZE, ink::FAINT, Anchor::Start);
    }
}

fn numbers(run: &Run, stack: &Stack, middle: i32, canvas: &mut Canvas<'_>) {
    canvas.text(&stack.note, (LEFT - 8, middle), SIZE, ink::FAINT, Anchor::End);
    let sums = Sums::of(stack.requests.iter().filter_map(|at| run.requests.get(*at)));
    let usage = sums.usage;
    let cost = sums.cost.map_or_else(|| "–".to_owned(), money);
    let shown = [
        count(usage.cache_read_input_tokens),
        count(usage.cache_creation_input_tokens()),
        count(usage.input_tokens),
        cost,
    ];
    for (number, column) in shown.iter().zip(COLUMNS) {
        canvas.text(number, (column.right, middle), SIZE, ink::TEXT, Anchor::End);
    }
}

fn foot(heights: &rows::Heights, bottom: i32, canvas: &mut Canvas<'_>) {
    if heights.each > 1 {
        let said = format!("Of every {} requests that lie close together one is drawn; sums are of all", heights.each);
        canvas.text(&said, (LEFT, bottom + 12), SIZE, ink::FAINT, Anchor::Start);
    }
}
