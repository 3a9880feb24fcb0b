//! Arguments of `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use forkcast_replay::what_if::WhatIf;
use forkcast_scenarios::cast::otherwise::{Alteration, Otherwise};
use forkcast_scenarios::cast::recorded::Play;
use forkcast_scenarios::format::set::Change;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::cache::PRESETS;
use forkcast_sim::wire::Ttl;

use super::behaviour::BehaviourArgs;
use super::fanout::{placement, ttl};
use super::{ExportArgs, OutputArgs, OwnPriceArgs, SumArgs, TalkArgs, number, table, what_if_help};

const RUN_EXAMPLES: &str = "\
Examples:
  forkcast run                        five forks of a warm parent, embedded
  forkcast run day/working-day --ttl 1h
                                      another lifetime
  forkcast new mine                   a scenario to start from, mine.yaml
  forkcast run mine.yaml --format json
                                      one JSON object, forkcast.run/1
  forkcast run mine.yaml --out result
                                      also ledger, table and picture
  forkcast run mine.yaml --set session.model=claude-haiku-4-5
  forkcast run --breakpoints both     also mark the end of the shared part
  forkcast run --breakpoints both --launch primed
                                      and start one fork before the others
  forkcast run E15+cold               a variant of a scenario
  forkcast run --what-if ttl=1h --max-cost 0.70
                                      another lifetime; exit code 1 above $0.70
  forkcast run --out result --bodies  and forkcast explain result 3
  forkcast run mine.yaml --twice      in two processes, compared
  forkcast run --recording session.jsonl
                                      a recorded session, played again
  forkcast run --recording session.jsonl --ttl 1h --launch primed
                                      the same with another lifetime, with one
                                      agent first, and with both
  forkcast run --recording session.jsonl --with forks
                                      had its agents been forks
  forkcast list scenarios             built-in scenarios

A scenario is a YAML file, or the name of one that is built in. Several are a list in JSON and one table in CSV. Exit code 1: an expectation failed.";

/// What `--out` of this verb writes.
const OUT: &str = "Also write run.json, ledger.jsonl, requests.csv and the pictures timeline and ribbon (.svg, .png) into this \
                   folder; an older result is replaced; several scenarios get a subfolder each";

/// Arguments of `run`.
#[derive(Debug, ClapArgs)]
#[command(after_help = RUN_EXAMPLES, mut_arg("out", |out| out.help("Also write ledger, table and pictures into this folder").long_help(OUT)))]
pub struct RunArgs {
    /// Scenarios: files, or names from `forkcast list scenarios` [default: five forks of a warm parent]
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<PathBuf>,

    /// Play recorded sessions of an agent client instead: a file or a folder
    #[arg(long, value_name = "PATH", conflicts_with_all = ["scenarios", "twice", "log"])]
    pub recording: Option<PathBuf>,

    /// Only the recorded session whose id begins with this
    #[arg(long, value_name = "ID", requires = "recording")]
    pub session: Option<String>,

    /// How requests find their recorded answers: by what asked, byte for byte (exit code 1 at the first difference), or by
    /// position
    #[arg(long, value_name = "HOW", default_value = "cast", value_parser = fidelity(), requires = "recording")]
    pub fidelity: Play,

    /// Run in two processes and report the first event that differs
    #[arg(long)]
    pub twice: bool,

    /// Set a field of the scenario; repeatable
    #[arg(long, value_name = "FIELD=VALUE", value_parser = change)]
    pub set: Vec<String>,

    /// When the agents of one message start: burst, primed, serial, stagger=MS, waves=N
    #[arg(long, value_name = "POLICY", value_parser = LaunchPolicy::named)]
    pub launch: Option<LaunchPolicy>,

    /// Breakpoints of requests
    #[arg(long, value_name = "NAME", value_parser = placement())]
    pub breakpoints: Option<Placement>,

    /// Lifetime of cache entries
    #[arg(long, value_name = "TTL", value_parser = ttl())]
    pub ttl: Option<Ttl>,

    /// Cache rules (see `forkcast list profiles`)
    #[arg(long, value_name = "PRESET", value_parser = preset())]
    pub cache: Option<String>,

    /// Pick the next ready task at random (seeded) instead of FIFO
    #[arg(long, value_name = "SEED", value_parser = number::<u64, 0>)]
    pub interleave: Option<u64>,

    /// Random seed
    #[arg(long, value_name = "N", value_parser = number::<u64, 0>)]
    pub seed: Option<u64>,

    // The table of keys writes this help.
    #[allow(missing_docs)]
    #[arg(long, value_name = "SPEC", help = what_if_help())]
    pub what_if: Vec<WhatIf>,

    /// Recorded sessions whose agents are built otherwise
    #[command(flatten)]
    pub behaviour: BehaviourArgs,

    /// Groups of requests, and limits on their sums
    #[command(flatten)]
    pub sums: SumArgs,

    /// Prices other than list prices
    #[command(flatten)]
    pub prices: OwnPriceArgs,

    /// Output
    #[command(flatten)]
    pub result: OutputArgs,

    /// Files of viewers
    #[command(flatten)]
    pub export: ExportArgs,

    /// Print only this table, as comma-separated values with a header line
    #[arg(long, value_name = "NAME", value_parser = table(), help_heading = "Output")]
    pub table: Option<String>,

    /// Also write the requests' bodies into that folder (bodies/NNNNN.json), for `explain`, and all calls with their answers
    /// (exchanges.jsonl), for `replay`
    #[arg(long, requires = "out", help_heading = "Output")]
    pub bodies: bool,

    /// Print only the log, a line for each event; the second process of `--twice` uses this
    #[arg(long, hide = true)]
    pub log: bool,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Presets of cache rules by their names.
fn preset() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(PRESETS.iter().map(|rules| rules.name))
}

fn fidelity() -> impl TypedValueParser<Value = Play> {
    let words = PossibleValuesParser::new(Play::ALL.map(Play::name));
    words.try_map(|word| Play::named(&word).ok_or("expected one of these words"))
}

fn change(text: &str) -> Result<String, String> {
    text.parse::<Change>().map(|_| text.to_owned())
}

impl RunArgs {
    /// The first option that only means something for a recorded session.
    pub fn of_recordings(&self) -> Option<&'static str> {
        let behaviour = &self.behaviour;
        let options = [
            (self.session.is_some(), "--session"),
            (self.fidelity != Play::default(), "--fidelity"),
            (behaviour.with.is_some(), "--with"),
            (behaviour.background.is_some(), "--background"),
            (!behaviour.model.is_empty(), "--model"),
            (behaviour.agents_serial, "--agents-serial"),
            (behaviour.tools_sorted, "--tools-sorted"),
        ];
        options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// Whether an option needs a replay of the requests.
    pub const fn asks_a_replay(&self) -> bool {
        self.shows_a_replay() || self.is_written()
    }

    /// Whether the output shows a replay of the requests.
    pub const fn shows_a_replay(&self) -> bool {
        !self.what_if.is_empty() || self.table.is_some() || self.sums.is_asked()
    }

    /// Whether a file beside the printed output needs it.
    pub const fn is_written(&self) -> bool {
        self.result.html.is_some() || self.export.is_asked()
    }

    /// Everything that options set, in the form of `--set`.
    pub fn changes(&self) -> Vec<String> {
        let policies = Otherwise { alterations: self.policies(), ..Otherwise::default() };
        self.settings().into_iter().chain(policies.fields()).collect()
    }

    /// Fields that hold for a recorded session and for all variants of it.
    pub fn settings(&self) -> Vec<String> {
        let said =
            [self.seed.map(|seed| format!("seed={seed}")), self.cache.as_ref().map(|name| format!("cache={name}"))];
        self.set.iter().cloned().chain(said.into_iter().flatten()).collect()
    }

    /// Policies of launching and caching.
    fn policies(&self) -> Vec<Alteration> {
        let serial = self.behaviour.agents_serial.then_some(LaunchPolicy::Serial);
        let launch = self.launch.or(serial).map(Alteration::Launch);
        let breakpoints = self.breakpoints.map(Alteration::Breakpoints);
        launch.into_iter().chain(breakpoints).chain(self.ttl.map(Alteration::Ttl)).collect()
    }

    /// What a recorded session is played with: each change alone, then all together.
    pub fn variants(&self) -> Vec<Vec<Alteration>> {
        let BehaviourArgs { with, background, model, tools_sorted, .. } = &self.behaviour;
        let with = with.map(Alteration::With);
        let background = background.map(Alteration::Background);
        let tools = tools_sorted.then_some(Alteration::ToolsSorted);
        let agents = with.into_iter().chain(background).chain(model.iter().cloned()).chain(tools);
        let all: Vec<Alteration> = self.policies().into_iter().chain(agents).collect();
        let alone = all.iter().filter(|_| all.len() > 1).map(|one| vec![one.clone()]);
        let together = Some(all.clone()).filter(|all| !all.is_empty());
        alone.chain(together).collect()
    }
}
