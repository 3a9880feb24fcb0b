//! The requests of a run as if they had been recorded, so that a run has the same reports as a replay.

use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_replay::what_if::WhatIf;
use forkcast_scenarios::capture::Recorder;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::Run;
use forkcast_sim::pricing::Date;

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
    /// Replays the requests of `run` under its own rules and prices, with what-ifs; with `composes` entries say what
    /// prompts are made of.
    pub fn new(run: &Run, what_if: &[WhatIf], view: View, composes: bool) -> Self {
        let inputs = Recorder::new(run).inputs();
        let options = Options {
            rules: Some(run.scenario.cache.unwrap_or_default()),
            book: (*run.book).clone(),
            prices_of: Some(run.scenario.prices.unwrap_or(NEWEST)),
            what_if: what_if.to_vec(),
            composes,
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
