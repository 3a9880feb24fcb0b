//! The requests of a run as if they had been recorded, so that a run has the same reports as a replay.

use std::collections::BTreeSet;

use forkcast_replay::exchange::{Exchange, Origin};
use forkcast_replay::formats::Format;
use forkcast_replay::input::{FileInput, Inputs, ScopeInput};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_replay::what_if::WhatIf;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::pricing::Date;

use crate::format::ledger::exchange::Stored;
use crate::report::{Report, View};

/// Prices of a run are the newest if its scenario gives no day. Its own clock begins in 1970 and has no meaning for
/// prices.
const NEWEST: Date = Date(9999, 12, 31);

/// See the module.
#[derive(Debug)]
pub struct Rerun {
    inputs: Inputs,
    options: Options,
    replay: Replay,
    view: View,
}

impl Rerun {
    /// Replays the requests of `run` under its own rules and prices, with what-ifs.
    pub fn new(run: &Run, what_if: &[WhatIf], view: View) -> Self {
        let inputs = inputs(run);
        let options = Options {
            rules: Some(run.scenario.cache.unwrap_or_default()),
            book: (*run.book).clone(),
            prices_of: Some(run.scenario.prices.unwrap_or(NEWEST)),
            what_if: what_if.to_vec(),
            ..Options::default()
        };
        let mut replay = replay(&inputs, &options);
        replay.partial |= run.ends == Ends::Interrupted;
        Self { inputs, options, replay, view: View { is_of_run: true, ..view } }
    }

    /// Notes on it.
    pub fn report(&self) -> Report<'_> {
        Report::new(&self.inputs, &self.replay, &self.options, self.view.clone())
    }
}

/// All requests as one recording: all requests of a run share a cache, and an agent is a chain.
fn inputs(run: &Run) -> Inputs {
    let file = run.scenario.file.to_string();
    let labels: BTreeSet<&str> = run.agents.iter().map(|agent| agent.label.as_str()).collect();
    let are_distinct = labels.len() == run.agents.len();
    let chain = |agent: usize| {
        let agent = run.agents.get(agent)?;
        Some(if are_distinct { agent.label.clone() } else { agent.id.to_string() })
    };
    let parent = |agent: usize| {
        let parent = run.agents.get(agent)?.parent.as_deref()?;
        chain(run.agents.iter().position(|agent| *agent.id == *parent)?)
    };
    let mut recount = run.recount();
    let mut recorded = |request: &Request| -> Exchange {
        let (line, draft) = (&request.line, request.draft());
        let origin = Origin { file: file.clone(), index: line.index, line: 0 };
        let sizes = Some(recount.cumulative(&draft));
        let (chain, parent) = (chain(request.agent), parent(request.agent));
        let agent_kind = run.agents.get(request.agent).map(|agent| agent.kind_name().to_owned());
        Exchange {
            chain,
            parent,
            sizes,
            agent_kind,
            ..Stored::simulated(run, request).exchange(origin, line.model.clone(), draft.body())
        }
    };
    let exchanges = run.requests.iter().map(&mut recorded).collect();
    let input =
        FileInput { file: file.clone(), format: Format::Bodies, exchanges, traces: Vec::new(), notes: Vec::new() };
    Inputs {
        files: 1,
        scopes: vec![ScopeInput { name: run.scenario.name.to_string(), files: vec![input] }],
        ..Inputs::default()
    }
}
