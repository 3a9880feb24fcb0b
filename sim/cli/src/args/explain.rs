//! Arguments of `diff` and `explain`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use forkcast_reports::names::Names;
use forkcast_reports::report::Zone;
use forkcast_sim::cache::Rules;

use super::{Format, PriceArgs, StrictArgs, TalkArgs, preset, whole};

const DIFF_EXAMPLES: &str = "\
Examples:
  forkcast diff yesterday.json today.json
                                      two request bodies
  forkcast diff log.jsonl#4 log.jsonl#5
                                      requests of a recording, from 0 on
  forkcast diff a.json b.json --format json
                                      forkcast.diff/1, without prompts";

/// Arguments of `diff`.
#[derive(Debug, ClapArgs)]
#[command(after_help = DIFF_EXAMPLES)]
pub struct DiffArgs {
    /// The older request: a body, FILE#N for the N-th request of a recording, or FILE:LINE
    #[arg(value_name = "A")]
    pub older: String,

    /// The newer request
    #[arg(value_name = "B")]
    pub newer: String,

    /// Cache rules whose normal forms decide what counts as a difference
    #[arg(long, value_name = "PRESET", value_parser = preset())]
    pub cache: Option<Rules>,

    /// Which prices hold
    #[command(flatten)]
    pub prices: PriceArgs,

    /// What is shown
    #[command(flatten)]
    pub shown: ShownArgs,

    /// Whether the result must be sure
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  forkcast replay recordings/ --out result
                                      a run folder
  forkcast explain result             its dearest miss
  forkcast explain result 7           request 7 of its ledger.jsonl
  forkcast explain result session.yaml#4
                                      the request with number 4 in that file
  forkcast explain recordings/ 7      without a run folder
  forkcast explain                    the dearest miss in the logs found here
  forkcast explain --session 6c0a     that of one session
  forkcast explain 6c0a:17            the answer in that line of it, as reports
                                      name requests
  forkcast explain projects/ session.jsonl:17
                                      the answer in that line of a transcript
  forkcast explain result 7 --format json
                                      forkcast.explain/1, without prompts
  forkcast explain level_parameter    a cause: what it means and what to do
  forkcast run --out result --bodies  a simulated run; explain it as above

A run folder lists its recordings, which are read again; with --bodies it contains all requests. For a simulated run, \
--bodies is required.";

/// Arguments of `explain`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainArgs {
    /// A folder that `replay --out` or `run --out` wrote, or a recording; or a cause of `forkcast list causes`; by default
    /// the logs of all clients on this machine, or else the embedded sample
    #[arg(value_name = "RUN")]
    pub run: Option<PathBuf>,

    /// The request: its number in the ledger, FILE#N, FILE:LINE or SESSION:LINE, of whose name the beginning is enough; by
    /// default the one with the highest cost for text that had been sent before
    #[arg(value_name = "REQUEST")]
    pub request: Option<String>,

    /// Only requests of the session whose id begins with this
    #[arg(long, value_name = "ID", conflicts_with = "request")]
    pub session: Option<String>,

    /// Other cache rules than those of the run
    #[arg(long, value_name = "PRESET", value_parser = preset())]
    pub cache: Option<Rules>,

    /// Other prices than those of the run
    #[command(flatten)]
    pub prices: PriceArgs,

    /// Time zone of times: an IANA name, `local` or `UTC` [default: local for people, UTC for machines]
    #[arg(long, value_name = "ZONE")]
    pub timezone: Option<Zone>,

    /// What is shown
    #[command(flatten)]
    pub shown: ShownArgs,

    /// Whether the result must be sure
    #[command(flatten)]
    pub strict: StrictArgs,

    /// Messages on standard error
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// Options for the display of compared requests.
#[derive(Debug, ClapArgs)]
pub struct ShownArgs {
    /// Form of the output
    #[arg(long, default_value = "human", value_parser = whole(), help_heading = "Output")]
    pub format: Format,

    /// Also write a page for a browser: one file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Also show the differing bytes, with 48 on each side, in JSON, markdown and the page
    #[arg(long, help_heading = "Output")]
    pub show_content: bool,

    /// Replace names of files, agents and tools by stable ids, and leave bytes out
    #[arg(long, conflicts_with = "show_content", help_heading = "Output")]
    pub anonymize: bool,
}

impl ShownArgs {
    /// How names are shown.
    pub const fn names(&self) -> Names {
        if self.anonymize { Names::Anonymous } else { Names::Plain }
    }

    /// Whether a document shows bytes of prompts: always on the terminal, because its reader gave the files; otherwise
    /// on request.
    pub const fn windows(&self) -> bool {
        matches!(self.format, Format::Human) || self.show_content
    }
}
