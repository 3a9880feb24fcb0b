//! Arguments of `lock` and `check`.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use forkcast_replay::input::InputFormat;
use forkcast_reports::names::Names;
use forkcast_sim::cache;
use forkcast_sim::guard::REQUESTS_PER_DAY_MAX;

use super::{PriceArgs, StrictArgs, TalkArgs, input_format, preset};

/// The default lock file.
const LOCK: &str = "forkcast.lock";

/// The default rules file.
const RULES: &str = "forkcast.toml";

const CHECK_EXAMPLES: &str = "\
Examples:
  forkcast check bodies/                           request bodies in the order of their names
  forkcast check bodies/ --requests-per-day 10000  and what each change costs a day
  forkcast check session.jsonl --lock none         a recording or a transcript, without a lock
  forkcast check forks/fan-out --conformance forks a scenario, and what forks need
  forkcast check bodies/ --update                  write the lock anew, and say what that changes
  forkcast check bodies/ --format github           annotations; also junit, sarif, json, csv

Rules stand in a file. Without one, prefixes and what forks share must be kept, and what differs from the lock is told.

  stability = \"fail\"       each request keeps the prefix of the one before: off, note or fail
  sharing = \"fail\"         forks and siblings share what they can
  equality = \"note\"        prompts are those of the lock
  missing = \"fail\"         every request of the lock is sent; \"note\" if there may be fewer
  pinned = [\"tools\"]       levels in which a difference from the lock always fails
  [budget]                 min_hit_rate = 0.9, max_cost_per_turn = 0.05, max_breakpoints = 3
  [[allow]]                cause = \"compacted\", path = \"messages\": may happen

Exit code 1 if a rule is broken, 2 for bad input and if anything could not be read, 130 if Ctrl-C left a part. Causes of
time never fail.";

/// Arguments of `check`.
#[derive(Debug, ClapArgs)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// The input
    #[command(flatten)]
    pub sources: SourceArgs,

    /// The lock to compare with, `none` for none [default: forkcast.lock if it exists]
    #[arg(long, value_name = "FILE|none")]
    pub lock: Option<PathBuf>,

    /// Rewrite the lock, and show the changes and their cost; a file that is not a lock is not replaced
    #[arg(long)]
    pub update: bool,

    /// Also hold forks to everything that they need to share a prefix, with a score card
    #[arg(long, value_name = "SUITE", value_enum)]
    pub conformance: Option<Suite>,

    /// Say what each change costs a day at so many requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=REQUESTS_PER_DAY_MAX))]
    pub requests_per_day: Option<u64>,

    /// Which prices hold
    #[command(flatten)]
    pub prices: PriceArgs,

    /// Form of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: CheckFormat,

    /// What of the prompts is shown
    #[command(flatten)]
    pub prompts: PromptArgs,

    /// Whether the result must be sure
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

const LOCK_EXAMPLES: &str = "\
Examples:
  forkcast lock bodies/                            writes forkcast.lock
  forkcast lock session.jsonl -o tests/agent.lock  another file
  forkcast lock forks/fan-out                      a scenario
  forkcast lock bodies/ --anonymize                without names of tools and agents

A lock is a text for reviews: of each block its kind, place, size and digests, of each request what it is expected to
read and to cost. `forkcast check` holds prompts against it.";

/// Arguments of `lock`.
#[derive(Debug, ClapArgs)]
#[command(after_help = LOCK_EXAMPLES)]
pub struct LockArgs {
    /// The input
    #[command(flatten)]
    pub sources: SourceArgs,

    /// The lock file; a file that is no lock is not replaced
    #[arg(long, short, value_name = "FILE", default_value = LOCK, help_heading = "Output")]
    pub output: PathBuf,

    /// Which prices hold
    #[command(flatten)]
    pub prices: PriceArgs,

    /// The form of the summary on standard output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: super::Format,

    /// What of the prompts is shown
    #[command(flatten)]
    pub prompts: PromptArgs,

    /// Whether the result must be sure
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// What files and other programs are given of the prompts.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub struct PromptArgs {
    /// Let files and other programs have text of the prompts too: of each difference 48 bytes on each side, in a lock all
    #[arg(long, help_heading = "Output")]
    pub show_content: bool,

    /// Replace names of files, agents and tools by stable ids, and leave bytes out
    #[arg(long, conflicts_with = "show_content", help_heading = "Output")]
    pub anonymize: bool,
}

impl PromptArgs {
    /// How names are shown.
    pub const fn names(self) -> Names {
        if self.anonymize { Names::Anonymous } else { Names::Plain }
    }
}

/// Where requests come from, and by which rules they are judged.
#[derive(Debug, ClapArgs)]
pub struct SourceArgs {
    /// Folders of request bodies, recordings, transcripts, scenarios
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Read every file as this format instead of finding it out by content
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = input_format())]
    pub input_format: InputFormat,

    /// The rules [default: forkcast.toml if it exists]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,

    /// Prompts are short ones of tests: every breakpoint counts, and there are some where bodies have none
    #[arg(long)]
    pub in_tests: bool,

    /// Cache rules (see `forkcast list profiles`) [default: those of the rules, else docs-2026-09]
    #[arg(long, value_name = "PRESET", value_parser = preset())]
    pub cache: Option<cache::Rules>,
}

/// What forks can be held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Everything that a fork needs to read what its parent sent
    Forks,
}

/// Forms of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people
    #[default]
    Human,
    /// One JSON object, forkcast.check/1
    Json,
    /// All tables as comma-separated values, an empty line between them; the first column names the table
    Csv,
    /// Markdown
    Markdown,
    /// JUnit XML: a suite for each rule, a test for each chain
    Junit,
    /// Annotations of a GitHub workflow
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// Which lock is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedLock<'a> {
    /// None.
    None,
    /// This one, which must be there.
    Named(&'a Path),
    /// The default file, if it exists.
    Usual(&'a Path),
}

impl CheckArgs {
    /// Which lock is meant.
    pub fn wanted_lock(&self) -> WantedLock<'_> {
        match self.lock.as_deref() {
            Some(file) if file == Path::new("none") => WantedLock::None,
            Some(file) => WantedLock::Named(file),
            None => WantedLock::Usual(Path::new(LOCK)),
        }
    }
}

impl SourceArgs {
    /// The file with rules, and whether the user named it.
    pub fn rules_file(&self) -> (&Path, bool) {
        match &self.rules {
            Some(file) => (file, true),
            None => (Path::new(RULES), false),
        }
    }
}
