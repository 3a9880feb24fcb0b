//! Arguments of `report`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{ReplayArgs, TalkArgs};

const REPORT_EXAMPLES: &str = "\
Examples:
  forkcast replay recordings/ --out result
  forkcast report result -o page.html
                                      its page
  forkcast run --out a --bodies
  forkcast run --launch primed --out b --bodies
  forkcast report a b -o page.html    several results on one page";

/// Arguments of `report`.
#[derive(Debug, ClapArgs)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArgs {
    /// Folders that `replay --out` or `run --out --bodies` wrote
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,

    /// The page: one file for a browser, without prompts
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// Messages on standard error
    #[command(flatten)]
    talk: TalkArgs,
}

impl ReportArgs {
    /// A replay of the folders that prints nothing and writes the page.
    pub fn replay(&self) -> ReplayArgs {
        let html = Some(self.out.clone());
        ReplayArgs { html, talk: self.talk, prints_nothing: true, ..ReplayArgs::of(self.folders.clone()) }
    }
}
