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
    let firsts = first_requests(run);
    let rows = run.agents.iter().zip(run.sums_of_agents()).zip(firsts);
    let rows: Vec<AgentRow<'_>> = rows.map(|((agent, sums), first)| AgentRow { agent, sums, first }).collect();
    let mut table = Table::of("agents", &rows).with(Column::left("Agent", "agent"), |row| Cell::text(label(row.agent)));
    if run.agents.iter().any(|agent| agent.fork.is_some()) {
        // Place among its siblings, from one; the tokens that its first request read of its parent's and added.
        let place = |row: &AgentRow<'_>| row.agent.fork.as_ref().map(|fork| u64::from(fork.place) + 1);
        table = table
            .with(Column::right("Fork", "place"), |row| place(row).map_or(Cell::Empty, Cell::Count))
            .with(Column::right("Read of parent", "read_from_parent_tokens"), |row| {
                row.shared(|share| share.read_tokens)
            })
            .with(Column::right("Own", "own_tokens").optional(), |row| row.shared(|share| share.own_tokens));
    }
    let ended =
        |row: &AgentRow<'_>| row.agent.ended.map_or(Cell::Missing("–"), |ended| Cell::text(since_start(ended)));
    let waited_for = |row: &AgentRow<'_>| match &row.agent.parent {
        None => Cell::Empty,
        Some(_) => Cell::Truth { holds: !row.agent.background, yes: "yes", no: "no" },
    };
    table
        .with(Column::right("Began", "began").optional(), |row| Cell::text(since_start(row.agent.began)))
        .with(Column::right("Ended", "ended"), ended)
        .with(Column::right("Turns", "turns"), |row| Cell::Count(row.agent.turns.into()))
        .with(Column::right("Input", "input_tokens"), |row| Cell::Count(row.sums.usage.total_input_tokens()))
        .with(Column::right("Read", "hit_rate"), |row| Cell::Share(row.sums.usage.hit_rate()))
        .with(Column::right("Output", "output_tokens").optional(), |row| Cell::Count(row.sums.usage.output_tokens))
        .with(Column::right("Cost", "cost_usd").kept(), |row| Cell::Money(row.sums.cost))
        .with(Column::left("Waited for", "waited_for").optional(), waited_for)
        .with(Column::left("End", "state").kept(), |row| Cell::text(row.agent.state))
        .shown(AGENTS_MAX, "agents")
}

/// An agent with its sums, and its first request.
struct AgentRow<'r> {
    agent: &'r Agent,
    sums: Sums,
    first: Option<&'r Request>,
}

impl AgentRow<'_> {
    /// Of a fork, tokens of its first request.
    fn shared(&self, tokens: fn(Share) -> u64) -> Cell {
        match self.first.map(Share::of) {
            _ if self.agent.fork.is_none() => Cell::Empty,
            share => share.map_or(Cell::Missing("–"), |share| Cell::Count(tokens(share))),
        }
    }
}

/// Most requests shown to people.
const SHOWN_MAX: usize = 60;

/// The requests in order of sending.
pub(super) fn requests(run: &Run) -> Table {
    let calls = calls(run);
    let label = |request: &Request| run.agents.get(request.agent).map_or("main", |agent| &agent.label);
    let causes = |request: &Request| request.causes().iter().map(|(cause, _)| cause.word()).collect::<Vec<_>>();
    Table::of("requests", &run.requests)
        .with(Column::right("At", "at"), |request| {
            request.line.at.map_or(Cell::Empty, |at| Cell::text(since_start(at)))
        })
        .with(Column::left("Agent", "agent"), |request| Cell::text(label(request)))
        .with(Column::left("Answered with", "answered_with"), |request| Cell::text(answered_with(run, request, &calls)))
        .with(Column::right("Read", "cache_read_input_tokens"), |request| {
            Cell::Count(request.usage().cache_read_input_tokens)
        })
        .with(Column::right("Written", "cache_creation_input_tokens"), |request| {
            Cell::Count(request.usage().cache_creation_input_tokens())
        })
        .with(Column::right("Fresh", "input_tokens").optional(), |request| Cell::Count(request.usage().input_tokens))
        .with(Column::right("Output", "output_tokens").optional(), |request| Cell::Count(request.usage().output_tokens))
        .with(Column::right("Cost", "cost_usd").kept(), |request| Cell::Money(request.cost()))
        .with(Column::left("Cache", "verdict").kept(), |request| Cell::text(request.verdict.word()))
        .with(Column::left("Missed for", "causes").kept(), |request| Cell::text(causes(request).join(" ")))
        .shown(SHOWN_MAX, "requests")
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
