//! The same run in a second process, event by event.

use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use forkcast_scenarios::run::Run;

use crate::args::RunArgs;
use crate::signals::interrupted;

/// Writes the log: a line for each event, the digest at the end.
pub fn write_log(run: &Run, target: &mut dyn Write) -> io::Result<()> {
    for line in log(run) {
        writeln!(target, "{line}")?;
    }
    Ok(())
}

fn log(run: &Run) -> impl Iterator<Item = String> + '_ {
    let event = |logged: &forkcast_sim::simulation::Logged| {
        let event = serde_json::to_string(&logged.event);
        let event = event.unwrap_or_else(|error| unreachable!("an event is JSON: {error}"));
        format!("{} ns {event}", logged.at.0)
    };
    run.events.iter().map(event).chain([format!("digest {:032x}", run.digest)])
}

/// Runs the scenario in another process; returns the first event that differs.
pub fn compare(run: &Run, path: &Path, args: &RunArgs) -> anyhow::Result<Option<String>> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("run").arg(path).args(["--log", "--quiet"]);
    for change in args.changes() {
        command.args(["--set", &change]);
    }
    if let Some(seed) = args.interleave {
        command.args(["--interleave", &seed.to_string()]);
    }
    let other = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("the second process")?;
    let other = String::from_utf8_lossy(&other.stdout);
    if interrupted() {
        return Ok(None);
    }
    let mut lines = other.lines();
    for (number, here) in log(run).enumerate() {
        let there = lines.next().unwrap_or("nothing more");
        if here != there {
            let name = &run.scenario.name;
            return Ok(Some(format!(
                "{name}: the runs of two processes differ. Event {number} is the first that differs:\n  here:  {here}\n  there: {there}"
            )));
        }
    }
    args.talk.note(format_args!("forkcast: two processes, one digest: {:032x}", run.digest));
    Ok(None)
}
