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
pub const RULES: &str = "forkcast.toml";

const CHECK_EXAMPLES: &str = "\
Examples:
  forkcast check bodies/              request bodies, ordered by name
  forkcast check bodies/ --requests-per-day 10000
                                      also the cost of each change per day
  forkcast check session.jsonl --lock none
                                      a recording, without a lock
  forkcast check forks/fan-out --conformance forks
                                      a scenario, with the checks for forks
  forkcast check bodies/ --update     rewrite the lock and print the changes
  forkcast check bodies/ --format github
                                      annotations; also junit, sarif, json, csv

Rules are read from a file. By default, changed prefixes and changed shared parts of forks fail, and differences from \
the lock are only reported.

  stability = \"fail\"    each request keeps the previous one's prefix;
                        or \"note\", \"off\"
  sharing = \"fail\"      forks and siblings share what they can
  equality = \"note\"     prompts equal those in the lock
  missing = \"fail\"      every request of the lock is sent
  pinned = [\"tools\"]    levels in which a difference from the lock always fails
  [budget]              min_hit_rate = 0.9, max_cost_per_turn = 0.05,
                        max_breakpoints = 3
  [[allow]]             cause = \"compacted\", path = \"messages\"

Exit code 1 if a rule is broken, 2 for bad or unreadable input, 130 if Ctrl-C made the result partial. Misses because \
of time never fail.";

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

    /// Every difference from the lock fails, as with `equality = "fail"`
    #[arg(long, conflicts_with = "update")]
    pub locked: bool,

    /// Also check that forks meet all conditions for sharing a prefix, with a score card
    #[arg(long, value_name = "SUITE", value_enum)]
    pub conformance: Option<Suite>,

    /// Also show the cost of each change per day at N requests a day
    #[arg(long, value_name = "N", value_parser = requests)]
    pub requests_per_day: Option<u64>,

    /// Which prices hold
    #[command(flatten)]
    pub prices: PriceArgs,

    /// Form of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: CheckFormat,

    /// Also write a page for a browser: one file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Which parts of the prompts are shown
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
  forkcast lock bodies/               writes forkcast.lock
  forkcast lock session.jsonl -o tests/agent.lock
                                      another file
  forkcast lock forks/fan-out         a scenario
  forkcast lock bodies/ --review      accept or reject what changed
  forkcast lock bodies/ --anonymize   without names of tools and agents

A lock is a text for reviews: kind, place, size and digests of each block, expected reads and cost of each request. \
`forkcast check` compares prompts with it.";

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

    /// Show what changed since the lock, and accept it change by change; without a terminal, only list it
    #[arg(long)]
    pub review: bool,

    /// Accept this change (`main:2`), those of a chain (`main`), or `all`; may be repeated
    #[arg(long, value_name = "CHANGE", requires = "review")]
    pub accept: Vec<String>,

    /// Which prices hold
    #[command(flatten)]
    pub prices: PriceArgs,

    /// The form of the summary on standard output
    #[arg(long, default_value = "human", value_parser = super::whole(), help_heading = "Output")]
    pub format: super::Format,

    /// Which parts of the prompts are shown
    #[command(flatten)]
    pub prompts: PromptArgs,

    /// Whether the result must be sure
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Which parts of the prompts are given to files and other programs.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub struct PromptArgs {
    /// Also write text of prompts to files: 48 bytes around each difference; in a lock, all
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

/// The source of requests and the rules for them.
#[derive(Debug, ClapArgs)]
pub struct SourceArgs {
    /// Folders of request bodies, recordings, transcripts, scenarios
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Read every file as this format instead of detecting it
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = input_format())]
    pub input_format: InputFormat,

    /// The rules [default: forkcast.toml if it exists]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,

    /// Treat bodies as short test prompts: no minimum length, assume breakpoints if none are set
    #[arg(long)]
    pub in_tests: bool,

    /// Cache rules (see `forkcast list profiles`) [default: those of the rules or of the run folder, else docs-2026-09]
    #[arg(long, value_name = "PRESET", value_parser = preset())]
    pub cache: Option<cache::Rules>,
}

/// Suites of conformance checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// All conditions for a fork to read its parent's prefix
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

/// The requested lock.
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
    /// The requested lock.
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

/// A number of requests.
fn requests(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|requests| *requests <= REQUESTS_PER_DAY_MAX);
    number.ok_or_else(|| format!("expected a number of requests up to {REQUESTS_PER_DAY_MAX}, such as 5000"))
}
