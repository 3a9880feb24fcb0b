//! A run over time: a lane for each agent, a bar for each request from its sending to the end of its answer, coloured
//! by the result in the cache; below it the time.

use forkcast_scenarios::run::{Agent, Request, Run};
use forkcast_sim::service::Verdict;
use plotters::style::RGBColor;

use super::canvas::{Anchor, Area, Canvas, ink, text_width};
use crate::document::{money, share};

const WIDTH: u32 = 1200;
const LEFT: i32 = 190;
const RIGHT: i32 = 1172;
const TOP: i32 = 110;

/// The approximate maximum height of all lanes together; each lane has its limits, and a name if there is room.
const LANES_MAX: i32 = 1_600;
const LANE: (i32, i32) = (2, 34);
const NAMED_MIN: i32 = 13;

/// About so many instants are named.
const TICKS: u64 = 10;

/// The picture as SVG.
pub fn svg(run: &Run) -> String {
    let lanes = i32::try_from(run.agents.len()).unwrap_or(i32::MAX).clamp(1, 1_000_000);
    let high = (LANES_MAX / lanes).clamp(LANE.0, LANE.1);
    let bottom = TOP + lanes * high;
    let mut text = String::new();
    let mut canvas = Canvas::new(&mut text, WIDTH, u32::try_from(bottom + 50).unwrap_or(u32::MAX));
    head(run, &mut canvas);
    legend(&mut canvas);
    time(run, bottom, &mut canvas);
    for (at, agent) in run.agents.iter().enumerate() {
        let middle = TOP + i32::try_from(at).unwrap_or(0) * high + high / 2;
        lane(run, (at, agent), (middle, high), &mut canvas);
    }
    canvas.finish();
    text
}

fn head(run: &Run, canvas: &mut Canvas<'_>) {
    let totals = run.totals();
    let cost = totals.cost.map_or_else(|| "no price".to_owned(), money);
    let rate = totals.usage.hit_rate().map(|rate| format!(", hit rate {}", share(rate))).unwrap_or_default();
    let title = format!("{}: {} requests, {cost}{rate}", run.scenario.name, totals.requests);
    canvas.text(&title, (28, 32), 20.0, ink::TEXT, Anchor::Start);
}

fn legend(canvas: &mut Canvas<'_>) {
    let names = [
        ("Read from the cache", ink::READ),
        ("Read in part", ink::WRITTEN),
        ("Nothing read", ink::MISSED),
        ("The agent works or waits", ink::GRID),
    ];
    let mut left = 28;
    for (name, colour) in names {
        canvas.fill(Area { left, top: 63, right: left + 17, bottom: 77 }, colour);
        canvas.text(name, (left + 24, 70), 12.0, ink::TEXT, Anchor::Start);
        left += 24 + text_width(name, 12.0) + 22;
    }
}

/// The column of an instant.
fn x(run: &Run, nanos: u64) -> i32 {
    let whole = u128::from(run.makespan.0.max(1));
    let width = u128::from(u32::try_from(RIGHT - LEFT).unwrap_or(0));
    LEFT + i32::try_from(u128::from(nanos) * width / whole).unwrap_or(i32::MAX).min(RIGHT - LEFT)
}

fn time(run: &Run, bottom: i32, canvas: &mut Canvas<'_>) {
    let seconds = run.makespan.0 / 1_000_000_000;
    let step = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400];
    let step = step.into_iter().find(|step| seconds / step <= TICKS).unwrap_or(604_800);
    for tick in (0..=seconds / step).map(|tick| tick * step) {
        let at = x(run, tick * 1_000_000_000);
        canvas.line((at, TOP), (at, bottom), ink::GRID);
        canvas.text(&format!("{tick} s"), (at, bottom + 16), 12.0, ink::FAINT, Anchor::Middle);
    }
}

fn lane(run: &Run, (at, agent): (usize, &Agent), (middle, high): (i32, i32), canvas: &mut Canvas<'_>) {
    let indent = i32::try_from(agent.depth).unwrap_or(0) * 14;
    if high >= NAMED_MIN {
        canvas.text(&agent.label, (28 + indent, middle), 13.0_f64.min(f64::from(high)), ink::TEXT, Anchor::Start);
    }
    let ended = agent.ended.map_or(run.makespan.0, |ended| ended.0);
    let area = |from: u64, to: u64, bar: i32| Area {
        left: x(run, from),
        top: middle - bar / 2,
        right: x(run, to).max(x(run, from) + 2),
        bottom: middle + (bar + 1) / 2,
    };
    canvas.fill(area(agent.began.0, ended, (high / 8).max(1)), ink::GRID);
    for request in run.requests.iter().filter(|request| request.agent == at) {
        if let Some((from, to)) = span(request) {
            canvas.fill(area(from, to, (high * 9 / 17).max(1)), colour(request.verdict));
        }
    }
}

fn span(request: &Request) -> Option<(u64, u64)> {
    let from = request.line.at?.0;
    let to = request.ended_at.or(request.line.first_byte_at).map_or(from, |at| at.0);
    Some((from, to))
}

const fn colour(verdict: Verdict) -> RGBColor {
    match verdict {
        Verdict::Full => ink::READ,
        Verdict::Partial => ink::WRITTEN,
        Verdict::Cold => ink::MISSED,
    }
}
