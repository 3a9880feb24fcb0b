//! A run over time: a lane for each agent, a bar for each request from its sending to the end of its answer, coloured
//! by the result in the cache; below it the time. Many agents share lanes.

mod crowd;

use forkcast_scenarios::run::{Agent, Request, Run};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::service::Verdict;

use super::axis::{self, Scale};
use super::canvas::{Anchor, Area, Canvas, EDGE, WIDTH, ink, picture, shortened};
use super::legend::Legend;
use super::svg::Caption;
use crate::document::{count, money, share, since_start};

const LEFT: i32 = 170;
const RIGHT: i32 = WIDTH - EDGE;

/// From the legend to the lanes.
const GAP: i32 = 14;

/// Room under the lanes.
const FOOT: i32 = 50;

/// The approximate maximum height of all lanes together, and the limits of one.
const LANES_HIGH: i32 = 1_600;
const LANE_MIN: i32 = 24;
const LANE_MAX: i32 = 34;

const SIZE: f64 = 13.0;

/// About this many instants are named.
const TICKS: u64 = 8;

const SECOND: f64 = 1e9;

/// The picture as SVG.
pub fn svg(run: &Run) -> String {
    let lanes = crowd::lanes(run);
    let count = i32::try_from(lanes.len()).unwrap_or(i32::MAX).max(1);
    let high = (LANES_HIGH / count).clamp(LANE_MIN, LANE_MAX);
    let top = super::canvas::HEAD + super::legend::ROW + GAP;
    let plot = Area { left: LEFT, top, right: RIGHT, bottom: top + count * high };
    let seconds = (run.makespan.0 as f64 / SECOND).max(1e-9);
    let sheet = Sheet { run, high, time: Scale { from: 0.0, to: seconds, start: plot.left, end: plot.right } };
    picture(&caption(run, &lanes), plot.bottom + FOOT, |canvas| {
        legend(canvas);
        let step = axis::time_step((seconds / TICKS as f64).ceil() as u64);
        let ticks = sheet.time.ticks(step as f64, |second| format!("{second:.0}"));
        axis::down(&ticks, plot, canvas);
        axis::title_below("seconds into the run", plot, canvas);
        let requests = requests(run);
        for (at, agents) in (0..).zip(&lanes) {
            let top = plot.top + at * high;
            match agents[..] {
                [agent] => sheet.lane(&run.agents[agent], &requests[agent], top + high / 2, canvas),
                _ => sheet.crowd(agents, &requests, top, canvas),
            }
        }
    })
}

fn caption(run: &Run, lanes: &[Vec<usize>]) -> Caption {
    let totals = run.totals();
    let cost = totals.cost.map_or_else(|| "has no price".to_owned(), |cost| format!("costs {}", money(cost)));
    let read = totals.usage.hit_rate().map(|rate| format!("; the cache gives {} of its input", share(rate)));
    let takes = since_start(run.makespan);
    let (agents, requests) = (run.agents.len() as u64, totals.requests);
    let per_agent = run.sums_of_agents();
    let told = run.agents.iter().zip(&per_agent).take(TOLD_MAX).map(|(agent, sums)| {
        let cost = sums.cost.map_or_else(String::new, |cost| format!(", {}", money(cost)));
        format!("{}: {} requests{cost}", agent.label, sums.requests)
    });
    Caption {
        title: format!("{} {cost} and takes {takes}{}", run.scenario.name, read.unwrap_or_default()),
        note: format!(
            "{} requests of {} agents: a bar is a request from its sending to the end of its answer; {}",
            count(requests),
            count(agents),
            crowd::of_a_lane(lanes)
        ),
        description: told.collect::<Vec<_>>().join("; "),
    }
}

/// Agents that the description lists.
const TOLD_MAX: usize = 40;

fn legend(canvas: &mut Canvas<'_>) {
    let mut legend = Legend::new();
    for (name, found) in
        [("Read from the cache", Found::Read), ("Read in part", Found::Part), ("Nothing read", Found::Nothing)]
    {
        legend.entry(name, canvas, |area, canvas| found.fill(area, canvas));
    }
    legend.entry("Nothing to read yet", canvas, |area, canvas| Found::New.fill(area, canvas));
    legend.entry("Works or waits", canvas, |area, canvas| {
        let middle = i32::midpoint(area.top, area.bottom);
        canvas.fill(Area { top: middle - 2, bottom: middle + 2, ..area }, ink::IDLE);
    });
}

/// What a request found in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Read,
    Part,
    Nothing,
    /// Nothing, since nothing of it had been sent before: that is no fault.
    New,
}

impl Found {
    /// All, in the order of their numbers.
    const ALL: [Self; 4] = [Self::Read, Self::Part, Self::Nothing, Self::New];

    fn of(request: &Request) -> Self {
        let missed = |cause: &Cause| *cause != Cause::FirstRequest;
        match request.verdict {
            Verdict::Full => Self::Read,
            Verdict::Partial => Self::Part,
            Verdict::Cold if request.line.charge.causes.iter().any(|part| missed(&part.cause)) => Self::Nothing,
            Verdict::Cold => Self::New,
        }
    }

    fn fill(self, area: Area, canvas: &mut Canvas<'_>) {
        match self {
            Self::Read => canvas.fill(area, ink::READ),
            Self::Part => canvas.fill(area, ink::WRITTEN),
            Self::Nothing => canvas.fill(area, ink::MISSED),
            Self::New => {
                canvas.fill(area, ink::PAPER);
                canvas.hatch(area, ink::FAINT);
                canvas.outline(area, ink::FAINT);
            }
        }
    }
}

/// The requests of each agent.
fn requests(run: &Run) -> Vec<Vec<&Request>> {
    let mut requests = vec![Vec::new(); run.agents.len()];
    for request in &run.requests {
        if let Some(found) = requests.get_mut(request.agent) {
            found.push(request);
        }
    }
    requests
}

/// The name of a lane.
fn name(name: &str, depth: u32, middle: i32, canvas: &mut Canvas<'_>) {
    let left = EDGE + i32::try_from(depth).unwrap_or(i32::MAX).min(4) * 14;
    canvas.text(&shortened(name, SIZE, LEFT - 10 - left), (left, middle), SIZE, ink::TEXT, Anchor::Start);
}

struct Sheet<'a> {
    run: &'a Run,
    /// Height of a lane.
    high: i32,
    time: Scale,
}

impl Sheet<'_> {
    fn lane(&self, agent: &Agent, requests: &[&Request], middle: i32, canvas: &mut Canvas<'_>) {
        name(&agent.label, agent.depth, middle, canvas);
        let ended = agent.ended.unwrap_or(self.run.makespan).0;
        canvas.fill(self.area(agent.began.0, ended, middle, self.high / 8), ink::IDLE);
        for request in requests {
            let Some(sent) = request.line.at else { continue };
            let end = request.ended_at.or(request.line.first_byte_at).unwrap_or(sent);
            Found::of(request).fill(self.area(sent.0, end.0, middle, self.high * 9 / 17), canvas);
        }
    }

    /// From one instant to another, at least two pixels wide and one high.
    fn area(&self, from: u64, to: u64, middle: i32, high: i32) -> Area {
        let [left, right] = [from, to].map(|nanos| self.time.at(nanos as f64 / SECOND));
        let high = high.max(1);
        Area { left, top: middle - high / 2, right: right.max(left + 2), bottom: middle + (high + 1) / 2 }
    }
}
