//! The command line.

mod behaviour;
mod cast;
mod check;
mod compare;
mod explain;
mod export;
mod fanout;
mod list;
mod output;
mod pages;
mod prices;
mod report;
mod run;
mod short;
mod sizes;
mod strict;
mod sweep;
mod values;
mod view;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use forkcast_replay::error::Error;
use forkcast_replay::input::InputFormat;
use forkcast_replay::what_if::{KEYS, Key, WhatIf};
use forkcast_sim::cache::Rules;

pub use cast::CastArgs;
pub use check::{CheckArgs, CheckFormat, LockArgs, RULES, SourceArgs, WantedLock};
pub use compare::{CompareArgs, Period};
pub use explain::{DiffArgs, ExplainArgs};
pub use export::ExportArgs;
pub use fanout::FanoutArgs;
pub use list::{ListArgs, Listed};
pub use output::OutputArgs;
pub use pages::{CompletionsArgs, ManArgs};
pub use prices::{OwnPriceArgs, PriceArgs};
pub use report::ReportArgs;
pub use run::RunArgs;
use sizes::SizeArgs;
pub use strict::{Doubt, StrictArgs};
pub use sweep::{Engine, PartsArgs, SweepArgs, SweepPlanArgs, SweepRunArgs, SweepStatusArgs, SweepStep};
pub use values::date;
use values::{input_format, number, preset, table, whole};
use view::{SumArgs, ViewArgs};

/// Show what an agent session cost, why, and what other settings would have cost.
///
/// Without a command it finds the logs of Claude Code, Codex, OpenCode, pi, Gemini CLI and Copilot CLI, and shows what they cost
/// and why. No model is called and nothing leaves the machine.
#[derive(Debug, Parser)]
#[command(name = "forkcast", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Args {
    /// What to do [default: bill the logs of your clients]
    #[command(subcommand)]
    verb: Option<Verb>,
}

impl Args {
    /// Parses the command line.
    ///
    /// # Errors
    /// The mistake in it, or the requested help or version.
    pub fn read() -> Result<Self, clap::Error> {
        let command = short::help(Self::command()).override_usage(USAGE).after_help("");
        let typed = with_verb(std::env::args_os().collect(), &command);
        Self::from_arg_matches(&command.try_get_matches_from(typed).map_err(export::with_example)?)
    }

    /// What to do: without a verb, what `replay` does without a path.
    pub fn verb(self) -> Verb {
        self.verb.unwrap_or_else(|| Verb::Replay(ReplayArgs::of([])))
    }
}

/// The command line with a verb: options and existing paths without one are those of `replay`, as nothing at all is.
fn with_verb(mut typed: Vec<OsString>, command: &Command) -> Vec<OsString> {
    const OF_THE_PROGRAM: [&str; 4] = ["-h", "--help", "-V", "--version"];
    // Its own line in the list of verbs would be one too many for a small screen.
    if typed.get(1).is_some_and(|first| first == "help") {
        typed.remove(1);
        typed.push("--help".into());
    }
    let is_of_replay = typed.get(1).is_some_and(|first| {
        let word = first.to_string_lossy();
        let is_verb = command.find_subcommand(first).is_some();
        let is_option = word.starts_with('-') && !OF_THE_PROGRAM.contains(&&*word);
        !is_verb && (is_option || Path::new(first).exists())
    });
    if is_of_replay {
        typed.insert(1, "replay".into());
    }
    typed
}

/// What a call without a verb does is part of the usage, so that the short help fits a small screen.
const USAGE: &str = "forkcast [COMMAND]  (none: what your sessions cost, and why)";

const EXAMPLES: &str = "\
Examples:
  forkcast                            your sessions: the bill, and why
  forkcast --last 7d --by day         the last week by day
  forkcast demo                       the same on an embedded sample
  forkcast run                        a simulated agent with five forks
  forkcast replay recordings/ --out result
                                      cost of recorded requests, and why
  forkcast explain result             the dearest miss among them
  forkcast check bodies/              what breaks the cache, for CI
  forkcast diff before.json after.json
                                      the same between two requests

Exit codes:
  0  done
  1  a check, an expectation or a threshold failed
  2  bad input or usage, or output that cannot be written
  3  a fault of the program
  130, 143, 129  stopped by SIGINT (Ctrl-C), SIGTERM or SIGHUP before a check
                 or a lock was complete, or by a second signal

A closed pipe (`| head`) changes no exit code.

Data goes to standard output, everything else to standard error.";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a scenario: simulated agents, their cache and their bill
    Run(RunArgs),
    /// Compare the cost of forks and other children of an agent
    Fanout(FanoutArgs),
    /// Run a grid of scenarios or fan-outs on many cores and machines
    Sweep(SweepArgs),
    /// Bill recorded sessions and explain every cache miss
    Replay(ReplayArgs),
    /// Run `replay` on an embedded sample
    Demo(DemoArgs),
    /// Write a recorded session as a scenario
    Cast(CastArgs),
    /// Write a scenario to start from
    New(NewArgs),
    /// Write digests of an agent's prompts, for reviews and `check`
    Lock(LockArgs),
    /// Name the first byte that breaks a cached prefix, and its price
    Check(CheckArgs),
    /// Name the first byte in which two requests differ, and its price
    Diff(DiffArgs),
    /// Compare two results or two periods: what moved, by cause
    Compare(CompareArgs),
    /// Write the page of results
    Report(ReportArgs),
    /// Explain what one request read and missed, or what a cause means
    Explain(ExplainArgs),
    /// List causes, models, prices, formats, scenarios, schemas
    List(ListArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print a manual page
    Man(ManArgs),
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  forkcast replay                     the logs of your clients
  forkcast replay recordings/         everything readable in a folder
  forkcast replay a.yaml b.jsonl --format json
                                      one JSON object, forkcast.replay/1
  forkcast replay recordings/ --out result
                                      also ledger, table and picture
  forkcast replay - < session.jsonl   standard input
  forkcast replay recordings/ --cache docs-2026-09 --prices 2026-11-01
  forkcast replay recordings/ --price-book contract.toml --discount 15
  forkcast replay recordings/ --by week --since 2026-11-01
  forkcast replay ~/.claude/projects --session 6c0a
                                      one session
  forkcast replay recordings/ --table requests > requests.csv
                                      for pandas, DuckDB, a spreadsheet
  forkcast replay recordings/ --max-cost 5 --min-hit-rate 80%
                                      exit code 1 if exceeded
  forkcast replay recordings/ --sizes both --calibrate
                                      counted tokens against the bill
  forkcast replay recordings/ --what-if model=claude-haiku-4-5
                                      with another model
  forkcast replay recordings/ --what-if ttl=1h,breakpoints=both \\
      --what-if keepalive=3@240
  forkcast replay recordings/ --compact-at 60k..160k:20k
                                      compacted earlier or later

Requests of one path share a cache. Damaged parts are listed, and the rest is replayed.";

/// Arguments of `replay`.
#[derive(Debug, ClapArgs)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayArgs {
    /// Files and folders with recordings, `-` for standard input [default: logs of known clients, else a sample]
    pub paths: Vec<PathBuf>,

    /// The paths were found, not named.
    #[arg(skip)]
    pub are_found: bool,

    /// Only files are written.
    #[arg(skip)]
    pub prints_nothing: bool,

    /// Read every file as this format instead of detecting it
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = input_format())]
    pub input_format: InputFormat,

    /// Cache rules (see `forkcast list profiles`) [default: by the date of each recording]
    #[arg(long, value_name = "PRESET", value_parser = preset())]
    pub cache: Option<Rules>,

    // The table of keys writes this help.
    #[allow(missing_docs)]
    #[arg(long, value_name = "SPEC", help = what_if_help())]
    pub what_if: Vec<WhatIf>,

    /// The same requests, had the client compacted conversations at these lengths, as in `60k..160k:20k`; short for
    /// `--what-if compact-at=60k …`
    #[arg(long, value_name = "LIST", value_parser = compactions)]
    pub compact_at: Option<Compactions>,

    /// Sources of prompt sizes
    #[command(flatten)]
    pub sizes: SizeArgs,

    /// Whether the result must be sure
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Which prices hold
    #[command(flatten)]
    pub prices: PriceArgs,

    /// Which requests count, how they are grouped, and limits on their sums
    #[command(flatten)]
    pub view: ViewArgs,

    /// Form of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: Format,

    /// Show everything: causes, the largest misses, what-ifs, recorded against predicted, limits of the numbers; JSON and
    /// CSV always have it
    #[arg(long, help_heading = "Output")]
    pub details: bool,

    /// Print only this table, as comma-separated values with a header line
    #[arg(long, value_name = "NAME", value_parser = table(), help_heading = "Output")]
    pub table: Option<String>,

    /// Also write ledger, table and picture into this folder
    ///
    /// The files are run.json, ledger.jsonl, requests.csv, timeline.svg and timeline.png; an older result is replaced.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Write into a folder with other files; they are never replaced
    #[arg(long, requires = "out", help_heading = "Output")]
    pub overwrite: bool,

    /// Also write the requests' bodies into that folder (bodies/NNNNN.json); `explain` then works without the recordings
    #[arg(long, requires = "out", help_heading = "Output")]
    pub bodies: bool,

    /// Also write a page for a browser: one file, without prompts
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Files of viewers
    #[command(flatten)]
    pub export: ExportArgs,

    /// Replace names of files, agents and tools by stable ids
    #[arg(long, help_heading = "Output")]
    pub anonymize: bool,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// A what-if for each length at which conversations are compacted.
#[derive(Clone, Debug)]
pub struct Compactions(Vec<WhatIf>);

fn compactions(text: &str) -> Result<Compactions, String> {
    let numbers = fanout::words::numbers(text)?.0.into_iter();
    let what_ifs = numbers.map(|tokens| format!("compact-at={tokens}").parse().map_err(|bad: Error| bad.to_string()));
    what_ifs.collect::<Result<_, _>>().map(Compactions)
}

impl ReplayArgs {
    /// The what-ifs that were asked for, whatever the option.
    pub fn what_ifs(&self) -> Vec<WhatIf> {
        self.what_if.iter().chain(self.compact_at.iter().flat_map(|asked| &asked.0)).cloned().collect()
    }

    /// `forkcast replay PATH…`.
    pub fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let Verb::Replay(plain) = Args::parse_from(["forkcast", "replay"]).verb() else {
            unreachable!("`replay` was parsed")
        };
        Self { paths: paths.into_iter().collect(), ..plain }
    }
}

const DEMO_EXAMPLES: &str = "\
Examples:
  forkcast demo                       the report
  forkcast demo --by day --what-if ttl=1h
                                      with the options of replay
  forkcast demo --out result          also a folder; forkcast explain result";

/// Arguments of `demo`: those of `replay` except the paths.
#[derive(Debug, ClapArgs)]
#[command(after_help = DEMO_EXAMPLES, mut_arg("paths", |paths| paths.hide(true)))]
pub struct DemoArgs {
    /// Options of the replay
    #[command(flatten)]
    pub replay: ReplayArgs,
}

const NEW_EXAMPLES: &str = "\
Examples:
  forkcast new my-day                 writes my-day.yaml, with comments
  forkcast run my-day.yaml";

/// Arguments of `new`.
#[derive(Debug, ClapArgs)]
#[command(after_help = NEW_EXAMPLES)]
pub struct NewArgs {
    /// The file; `.yaml` is added if it has no extension. Existing files are not replaced
    #[arg(value_name = "NAME")]
    pub name: PathBuf,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Human,
    /// One JSON object
    Json,
    /// All tables as comma-separated values, an empty line between them; the first column names the table
    Csv,
    /// Markdown
    Markdown,
    /// One JSON object a line for each request, as in ledger.jsonl
    Jsonl,
}

/// Messages on standard error.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub struct TalkArgs {
    /// No notes and no progress: only the report, and errors
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,

    /// Report the progress of long work
    #[arg(long, value_name = "HOW", value_enum, default_value_t, help_heading = "Output")]
    pub progress: Progress,
}

/// When to report progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// In one line on a terminal, removed at the end
    #[default]
    Auto,
    /// In lines, every two seconds
    Plain,
    /// Never
    None,
}

/// Values of a key that help lists, in characters.
const VALUES_MAX: usize = 40;

/// One line of help out of the table of keys.
fn what_if_help() -> String {
    // A word that is longer than a line would not be broken.
    let form = |key: &Key| if key.values.len() > VALUES_MAX { format!("{}=NAME", key.name) } else { key.form() };
    let forms: Vec<String> = KEYS.iter().map(form).collect();
    format!(
        "Add a column: the cost of the same requests with other settings. Repeatable; changes joined by commas are one \
         column: {} (see `forkcast list what-ifs`)",
        forms.join(", ")
    )
}
