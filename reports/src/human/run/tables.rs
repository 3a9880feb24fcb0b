//! Agents and requests of a run as tables.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_scenarios::run::{Agent, Request, Run, Sums};
use forkcast_sim::agent::Event;

use super::lanes::label;
use crate::document::{Cell, Column, Table, count, since_start};
use crate::forks::{Share, first_requests};

/// Most agents shown to people.
const AGENTS_MAX: usize = 40;

/// The agents as a tree, with their costs; for forks also the reads from their parents.
pub(super) fn agents(run: &Run) -> Table {
    let mut columns = vec![
        Column::left("Agent", "agent"),
        Column::right("Began", "began").optional(),
        Column::right("Ended", "ended"),
        Column::right("Turns", "turns"),
        Column::right("Input", "input_tokens"),
        Column::right("Read", "hit_rate"),
        Column::right("Output", "output_tokens").optional(),
        Column::right("Cost", "cost_usd").kept(),
        Column::left("Waited for", "waited_for").optional(),
        Column::left("End", "state").kept(),
    ];
    let any_forks = run.agents.iter().any(|agent| agent.fork.is_some());
    if any_forks {
        let of_forks = [
            Column::right("Fork", "place"),
            Column::right("Read of parent", "read_from_parent_tokens"),
            Column::right("Own", "own_tokens").optional(),
        ];
        columns.splice(1..1, of_forks);
    }
    let mut table = Table::new("agents", columns);
    (table.rows_are, table.shown_max) = ("agents", AGENTS_MAX);
    let agents = run.agents.iter().zip(run.sums_of_agents()).zip(first_requests(run));
    for ((agent, sums), first) in agents {
        let mut row = agent_row(agent, &sums);
        if any_forks {
            row.splice(1..1, fork_cells(agent, first));
        }
        table.rows.push(row);
    }
    table
}

/// Place among its siblings, from one; the tokens that its first request read of its parent's and added.
fn fork_cells(agent: &Agent, first: Option<&Request>) -> [Cell; 3] {
    let Some(fork) = &agent.fork else { return [Cell::Empty, Cell::Empty, Cell::Empty] };
    let share = first.map(Share::of);
    let tokens = |of: fn(Share) -> u64| share.map_or(Cell::Missing("–"), |share| Cell::Count(of(share)));
    [Cell::Count(u64::from(fork.place) + 1), tokens(|share| share.read_tokens), tokens(|share| share.own_tokens)]
}

fn agent_row(agent: &Agent, sums: &Sums) -> Vec<Cell> {
    let usage = sums.usage;
    vec![
        Cell::text(label(agent)),
        Cell::text(since_start(agent.began)),
        agent.ended.map_or(Cell::Missing("–"), |ended| Cell::text(since_start(ended))),
        Cell::Count(agent.turns.into()),
        Cell::Count(usage.total_input_tokens()),
        Cell::Share(usage.hit_rate()),
        Cell::Count(usage.output_tokens),
        Cell::Money(sums.cost),
        match &agent.parent {
            None => Cell::Empty,
            Some(_) => Cell::Truth { holds: !agent.background, yes: "yes", no: "no" },
        },
        Cell::text(agent.state),
    ]
}

/// Most requests shown to people.
const SHOWN_MAX: usize = 60;

/// The requests in order of sending.
pub(super) fn requests(run: &Run) -> Table {
    let mut table = Table::new(
        "requests",
        vec![
            Column::right("At", "at"),
            Column::left("Agent", "agent"),
            Column::left("Answered with", "answered_with"),
            Column::right("Read", "cache_read_input_tokens"),
            Column::right("Written", "cache_creation_input_tokens"),
            Column::right("Fresh", "input_tokens").optional(),
            Column::right("Output", "output_tokens").optional(),
            Column::right("Cost", "cost_usd").kept(),
            Column::left("Cache", "verdict").kept(),
            Column::left("Missed for", "causes").kept(),
        ],
    );
    table.rows_are = "requests";
    table.shown_max = SHOWN_MAX;
    let calls = calls(run);
    table.rows = run.requests.iter().map(|request| row(run, request, &calls)).collect();
    table
}

/// Tools that each agent called, by the turn in which its model called them.
type Calls = BTreeMap<(Rc<str>, u32), Vec<Rc<str>>>;

fn calls(run: &Run) -> Calls {
    let (mut calls, mut turns) = (Calls::new(), BTreeMap::new());
    for logged in &run.events {
        match &logged.event {
            Event::RequestSent { agent, turn, .. } => _ = turns.insert(agent.clone(), *turn),
            Event::ToolStart { agent, name, .. } => {
                let turn = turns.get(agent).copied().unwrap_or_default();
                calls.entry((agent.clone(), turn)).or_default().push(name.clone());
            }
            _ => {}
        }
    }
    calls
}

fn row(run: &Run, request: &Request, calls: &Calls) -> Vec<Cell> {
    let usage = request.usage();
    let agent = run.agents.get(request.agent);
    let causes: Vec<&str> = request.causes().iter().map(|(cause, _)| cause.word()).collect();
    vec![
        request.line.at.map_or(Cell::Empty, |at| Cell::text(since_start(at))),
        Cell::text(agent.map_or("main", |agent| &agent.label)),
        Cell::text(answered_with(run, request, calls)),
        Cell::Count(usage.cache_read_input_tokens),
        Cell::Count(usage.cache_creation_input_tokens()),
        Cell::Count(usage.input_tokens),
        Cell::Count(usage.output_tokens),
        Cell::Money(request.cost()),
        Cell::text(request.verdict.word()),
        Cell::text(causes.join(" ")),
    ]
}

/// The tools that this answer called and that ran, else "text".
fn answered_with(run: &Run, request: &Request, calls: &Calls) -> String {
    let agent = run.agents.get(request.agent).map(|agent| agent.id.clone());
    let named = agent.and_then(|agent| calls.get(&(agent, request.turn)));
    named.map_or_else(|| "text".to_owned(), |names| listed(names))
}

/// Most calls listed in a row: the column is as wide as its longest row.
const CALLS_NAMED: usize = 8;

fn listed(names: &[Rc<str>]) -> String {
    match names.len().saturating_sub(CALLS_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {} more", names[..CALLS_NAMED].join(", "), count(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::listed;

    #[test]
    fn a_row_is_not_as_wide_as_a_fan_out() {
        let calls = |number: usize| listed(&vec![Rc::from("Agent"); number]);
        assert_eq!(calls(2), "Agent, Agent");
        assert_eq!(calls(8).matches("Agent").count(), 8);
        assert_eq!(calls(3_200), format!("{} and 3,192 more", calls(8)));
    }
}
