//! `forkcast completions`.

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::screen;

/// Runs the verb.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "forkcast", &mut script);
    screen::print(|target| target.write_all(&script))
}
