//! `forkcast sweep merge`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use forkcast_replay::output::file::{self, Kind, NotWritten, begins};
use forkcast_reports::human::sweep::Summary;
use forkcast_reports::{format, page};
use forkcast_scenarios::sweep::{Plan, Rows, gather};

use super::{LISTED_MAX, incomplete};
use crate::args::{Doubt, Format, PartsArgs, StrictArgs};
use crate::exit::{BadInput, Outcome};
use crate::{screen, written};

/// How a merged sweep is shown.
#[derive(Default)]
pub struct Shown<'a> {
    pub format: Format,
    /// A page to write.
    pub html: Option<&'a Path>,
    pub strict: Option<&'a StrictArgs>,
}

/// Merges all parts: the files of merged rows in the folder, and the result as it is wanted.
pub fn merge(plan: &Plan, args: &PartsArgs, shown: &Shown<'_>) -> anyhow::Result<()> {
    written::check(shown.html, None)?;
    let folder = &*args.out;
    let mut summary = Summary::of(plan);
    let gathered = gather(plan, folder, &mut |index, row| summary.add(index, row)).map_err(BadInput::error)?;
    if !gathered.missing.is_empty() {
        return Err(BadInput(incomplete(args, plan, &gathered.missing)).into());
    }
    // The report is printed even if the folder cannot be written.
    let written = write(plan, args);
    // All parts exist, so the files of killed processes are not needed; a live process creates its file again.
    for path in &gathered.unfinished {
        drop(fs::remove_file(path));
    }
    let mut outcome = Outcome::default();
    match written {
        Ok(()) => args.talk.note(format_args!("forkcast: wrote sweep.json and sweep.csv into {}", folder.display())),
        Err(refused) => outcome.mistakes.push(refused.to_string()),
    }
    let page = || page::sweep(plan, &summary, Rows::of(plan, folder));
    outcome.printed(written::page(shown.html, page, &args.talk))?;
    outcome.printed(match shown.format {
        Format::Json => screen::print(|target| json(plan, args, target)),
        Format::Csv => screen::print(|target| csv(plan, args, target)),
        shown => screen::document(&summary.document(), shown),
    })?;
    judge(&summary, &mut outcome);
    let complaints = shown.strict.map(|strict| strict.complaints(Doubt::unpriced(summary.unpriced())));
    outcome.mistakes.extend(complaints.into_iter().flatten());
    outcome.done()
}

fn json(plan: &Plan, args: &PartsArgs, target: &mut dyn Write) -> io::Result<()> {
    format::sweep::write(plan, Rows::of(plan, &args.out), target)
}

fn csv(plan: &Plan, args: &PartsArgs, target: &mut dyn Write) -> io::Result<()> {
    format::sweep::table(plan, Rows::of(plan, &args.out), target)
}

fn write(plan: &Plan, args: &PartsArgs) -> Result<(), NotWritten> {
    file::write_with(&args.out.join("sweep.json"), SWEEP, &|target| json(plan, args, target))?;
    file::write_with(&args.out.join("sweep.csv"), TABLE, &|target| csv(plan, args, target))
}

/// Merged rows.
const SWEEP: Kind = Kind { name: "sweep", is_ours: |head| begins(head, "{\"schema\":\"forkcast.sweep/") };

/// Merged rows as a table: columns of the fields, then fixed columns, in the order of this version or of an earlier one.
const TABLE: Kind = Kind {
    name: "sweep",
    is_ours: |head| {
        let is_known = |columns: &str| TABLES.iter().any(|fixed| columns.contains(fixed));
        head.lines().next().is_some_and(is_known)
    },
};

/// How the fixed columns begin.
const TABLES: [&str; 3] =
    ["ends,cost_usd,launch_cost_usd,", "ends,cost_usd,cost_lower_bound_usd,", "ends,requests,unanswered_requests,"];

/// Cells that did not finish; they are already in the report.
fn judge(summary: &Summary<'_>, outcome: &mut Outcome) {
    outcome.faults.extend(summary.lawless.clone());
    outcome.mistakes.extend(summary.unfinished.iter().take(LISTED_MAX).cloned());
    let more = summary.unfinished_cells.saturating_sub(LISTED_MAX);
    if more > 0 {
        outcome.mistakes.push(format!("… and {more} more cells that did not finish"));
    }
}
