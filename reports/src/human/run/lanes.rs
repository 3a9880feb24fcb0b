//! The timeline as lines of text: a lane for each agent, dark while a model answers, light while the agent lives.

use std::ops::RangeInclusive;

use forkcast_scenarios::run::{Agent, Run};

use crate::document::since_start;
use crate::document::{Marked, Part};

/// Columns of a label and its lane together.
const WIDTH: usize = 76;

/// Columns of a lane: with labels that are longer than a line, it stays readable.
const LANE: RangeInclusive<usize> = 24..=64;

/// Most lanes shown to people.
const SHOWN_MAX: usize = 40;

const ANSWERS: char = '█';
const LIVES: char = '░';

/// The lanes.
pub(super) fn part(run: &Run) -> Part {
    // One lane takes no more room than "… and 1 more".
    let all = run.agents.len();
    let shown = if all <= SHOWN_MAX + 1 { all } else { SHOWN_MAX };
    let longest = run.agents.iter().take(shown).map(label).map(|label| label.chars().count()).max().unwrap_or(0);
    let width = WIDTH.saturating_sub(longest).clamp(*LANE.start(), *LANE.end());
    let mut lines: Vec<Marked> = run
        .agents
        .iter()
        .enumerate()
        .take(shown)
        .map(|(at, agent)| lane(run, at, agent, Columns { label: longest, lane: width }))
        .collect();
    if shown < all {
        lines.push(plain(format!("… and {} more agents", all - shown)));
    }
    let end = since_start(run.makespan);
    let gap = width.saturating_sub(1 + end.chars().count());
    lines.push(plain(format!("{:longest$}  0{:gap$}{end}", "", "")));
    lines.push(plain(format!("{:longest$}  {ANSWERS} a model answers   {LIVES} the agent works or waits", "")));
    Part::Verbatim(lines)
}

fn plain(before: String) -> Marked {
    Marked { before, ..Marked::default() }
}

/// The agent's label, indented by its depth.
pub(super) fn label(agent: &Agent) -> String {
    let indent = "  ".repeat(agent.depth as usize);
    let name = agent.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{indent}{}{name}", agent.label)
}

/// How wide the two parts of a line are.
#[derive(Clone, Copy)]
struct Columns {
    label: usize,
    lane: usize,
}

fn lane(run: &Run, at: usize, agent: &Agent, columns: Columns) -> Marked {
    let whole = run.makespan.0.max(1);
    let width = columns.lane as u128;
    let column = |nanos: u64| u128::from(nanos) * width / u128::from(whole);
    let answered: Vec<(u128, u128)> = run
        .requests
        .iter()
        .filter(|request| request.agent == at)
        .filter_map(|request| {
            Some((column(request.line.at?.0), column(request.ended_at.or(request.line.first_byte_at)?.0)))
        })
        .collect();
    let lives = (column(agent.began.0), column(agent.ended.map_or(run.makespan.0, |ended| ended.0)));
    let drawn: String = (0..width)
        .map(|place| {
            let covers = |(from, to): &(u128, u128)| (*from..=*to).contains(&place);
            if answered.iter().any(covers) {
                ANSWERS
            } else if covers(&lives) {
                LIVES
            } else {
                ' '
            }
        })
        .collect();
    plain(format!("{:label$}  {}", label(agent), drawn.trim_end(), label = columns.label))
}
