//! Lanes that many agents share: at each instant as high as the part of them that waits for an answer, or works.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_scenarios::run::{Request, Run};

use super::{Area, Canvas, Found, LEFT, RIGHT, SECOND, Sheet, ink, name};

/// Lanes of one agent each at most; more agents share about this many lanes.
const ALONE_MAX: usize = 60;
const SHARED_MAX: usize = 24;

/// Pixels of a step in time.
const STEP: i32 = 3;

/// The states of an agent, from the ground up; the last one is an agent that works or waits.
const STATES: usize = 5;

/// How many agents are in each state.
type Counts = [u32; STATES];

/// The agents of each lane, in the order of the run. If there are too many agents, siblings of a kind that start no
/// others share lanes, and then neighbours.
pub(super) fn lanes(run: &Run) -> Vec<Vec<usize>> {
    let all = 0..run.agents.len();
    if all.len() <= ALONE_MAX {
        return all.map(|agent| vec![agent]).collect();
    }
    let parents: BTreeSet<&str> = run.agents.iter().filter_map(|agent| agent.parent.as_deref()).collect();
    let alone = run.agents.iter().filter(|agent| parents.contains(&*agent.id)).count();
    let each = (run.agents.len() - alone).div_ceil(SHARED_MAX.saturating_sub(alone).max(1));
    let mut lanes: Vec<Vec<usize>> = Vec::new();
    let mut open: BTreeMap<(Option<&str>, &str), usize> = BTreeMap::new();
    for agent in all {
        let found = &run.agents[agent];
        if parents.contains(&*found.id) {
            lanes.push(vec![agent]);
            continue;
        }
        let lane = open.entry((found.parent.as_deref(), found.kind_name())).or_insert(usize::MAX);
        match lanes.get_mut(*lane).filter(|agents| agents.len() < each) {
            Some(agents) => agents.push(agent),
            None => {
                *lane = lanes.len();
                lanes.push(vec![agent]);
            }
        }
    }
    let shared = lanes.len().div_ceil(ALONE_MAX);
    lanes.chunks(shared).map(<[Vec<usize>]>::concat).collect()
}

/// What a lane is.
pub(super) fn of_a_lane(lanes: &[Vec<usize>]) -> String {
    match lanes.iter().map(Vec::len).max() {
        Some(2..) => "a lane of several agents is as high as the part of them that waits for an answer".to_owned(),
        _ => "a lane is an agent".to_owned(),
    }
}

impl Sheet<'_> {
    /// A lane of several agents.
    pub(super) fn crowd(&self, agents: &[usize], requests: &[Vec<&Request>], top: i32, canvas: &mut Canvas<'_>) {
        let steps: Vec<Counts> =
            (LEFT..RIGHT).step_by(STEP as usize).map(|x| self.counts(agents, requests, x)).collect();
        let mut x = LEFT;
        // Steps that look alike are one piece.
        for alike in steps.chunk_by(|one, next| one == next) {
            let right = alike.iter().fold(x, |x, _| x + STEP);
            let area = Area { left: x, top, right: right.min(RIGHT), bottom: top + self.high - 1 };
            self.column(alike[0], agents.len(), area, canvas);
            x = right;
        }
        if let Some((first, last)) = agents.first().zip(agents.last()) {
            let (first, last) = (&self.run.agents[*first], &self.run.agents[*last]);
            let name_of_last =
                last.label.strip_prefix(&*first.agent_type).unwrap_or(&last.label).trim_start_matches('#');
            name(&format!("{}–{name_of_last}", first.label), first.depth, top + self.high / 2, canvas);
        }
    }

    /// How many of some agents are in each state between `x` and the next step.
    fn counts(&self, agents: &[usize], requests: &[Vec<&Request>], x: i32) -> Counts {
        let [from, to] = [x, x + STEP].map(|x| self.instant(x));
        let mut counts = Counts::default();
        for agent in agents {
            let within = |began: u64, ended: u64| began < to && ended >= from;
            let under_way = requests[*agent].iter().rev().find(|request| {
                let Some(sent) = request.line.at else { return false };
                within(sent.0, request.ended_at.or(request.line.first_byte_at).unwrap_or(sent).0)
            });
            let found = &self.run.agents[*agent];
            match under_way {
                Some(request) => counts[Found::of(request) as usize] += 1,
                None if within(found.began.0, found.ended.unwrap_or(self.run.makespan).0) => counts[STATES - 1] += 1,
                None => {}
            }
        }
        counts
    }

    /// The instant at a pixel, in nanoseconds.
    fn instant(&self, x: i32) -> u64 {
        let part = f64::from(x - self.time.start) / f64::from(self.time.end - self.time.start);
        (part * self.time.to * SECOND) as u64
    }

    fn column(&self, counts: Counts, agents: usize, area: Area, canvas: &mut Canvas<'_>) {
        let high = |below: u32| (f64::from(area.height()) * f64::from(below) / agents as f64).round() as i32;
        let mut below = 0;
        for (state, number) in counts.into_iter().enumerate() {
            let part = Area { top: area.bottom - high(below + number), bottom: area.bottom - high(below), ..area };
            below += number;
            match Found::ALL.get(state) {
                _ if part.is_empty() => {}
                Some(found) => found.fill(part, canvas),
                None => canvas.fill(part, ink::IDLE),
            }
        }
    }
}
