//! Agents and requests of a run as tables.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::agent::Event;

use super::lanes::label;
use super::span;
use crate::document::{Cell, Column, Table};

/// The agents as a tree, with what each cost.
pub(super) fn agents(run: &Run) -> Table {
    let mut table = Table::new(
        "agents",
        vec![
            Column::left("Agent", "agent"),
            Column::right("Began", "began"),
            Column::right("Ended", "ended"),
            Column::right("Turns", "turns"),
            Column::right("Input", "input_tokens"),
            Column::right("Read", "hit_rate"),
            Column::right("Output", "output_tokens"),
            Column::right("Cost", "cost_usd"),
            Column::left("Waited for", "waited_for").optional(),
            Column::left("End", "state"),
        ],
    );
    table.rows_are = "agents";
    for (at, agent) in run.agents.iter().enumerate() {
        let sums = run.sums_of(at);
        let usage = sums.usage;
        table.rows.push(vec![
            Cell::text(label(agent)),
            Cell::text(span(agent.began.0)),
            agent.ended.map_or(Cell::Missing("–"), |ended| Cell::text(span(ended.0))),
            Cell::Count(agent.turns.into()),
            Cell::Count(usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens()),
            Cell::Share(usage.hit_rate()),
            Cell::Count(usage.output_tokens),
            Cell::Money(sums.cost),
            match &agent.parent {
                None => Cell::Empty,
                Some(_) => Cell::Truth { holds: !agent.background, yes: "yes", no: "no" },
            },
            Cell::text(agent.state),
        ]);
    }
    table
}

/// Requests that people see.
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
            Column::right("Fresh", "input_tokens"),
            Column::right("Output", "output_tokens"),
            Column::right("Cost", "cost_usd"),
            Column::left("Cache", "verdict"),
            Column::left("Missed for", "causes"),
        ],
    );
    table.rows_are = "requests";
    table.shown_max = SHOWN_MAX;
    let calls = calls(run);
    table.rows = run.requests.iter().map(|request| row(run, request, &calls)).collect();
    table
}

/// Tools that each agent called, by the turn in which its model asked for them.
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
        request.line.at.map_or(Cell::Empty, |at| Cell::text(span(at.0))),
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

/// The tools that this answer asked for and that ran, else that it was text.
fn answered_with(run: &Run, request: &Request, calls: &Calls) -> String {
    let agent = run.agents.get(request.agent).map(|agent| agent.id.clone());
    let named = agent.and_then(|agent| calls.get(&(agent, request.turn))).map(|names| names.join(", "));
    named.unwrap_or_else(|| "text".to_owned())
}
