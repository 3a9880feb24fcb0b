//! `forkcast sweep`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use forkcast_replay::output::file::{self, Kind, begins};
use forkcast_reports::{format, human, page};
use forkcast_scenarios::sweep::gather::Missing;
use forkcast_scenarios::sweep::work::Tally;
use forkcast_scenarios::sweep::{CellOutcome, Gathered, Plan, Shard, Step, Work, gather, shard};

use crate::args::{Doubt, Format, PartsArgs, SweepArgs, SweepMergeArgs, SweepRunArgs, SweepStatusArgs, SweepStep};
use crate::exit::{BadInput, Outcome, Threshold};
use crate::screen;
use crate::signals::interrupted;
use crate::written;

mod planned;

/// The maximum number of errors of one kind that are shown.
const LISTED_MAX: usize = 10;

/// Runs the verb.
pub fn run(args: &SweepArgs) -> anyhow::Result<()> {
    match &args.step {
        SweepStep::Plan(args) => planned::plan(args),
        SweepStep::Run(args) => work(args),
        SweepStep::Merge(args) => merge(args),
        SweepStep::Status(args) => status(args),
    }
}

/// The plan, and its folder if there is one.
fn read(args: &PartsArgs) -> anyhow::Result<Plan> {
    let name = args.plan.display();
    let text = fs::read_to_string(&args.plan)
        .map_err(|error| BadInput::error(format_args!("{name}: {error}; make a plan with `forkcast sweep plan`")))?;
    Plan::read(&text).map_err(|bad| BadInput::error(format_args!("{name}: {bad}")))
}

fn work(args: &SweepRunArgs) -> anyhow::Result<()> {
    let plan = read(&args.parts)?;
    let folder = &*args.parts.out;
    let talk = &args.parts.talk;
    let shard = shard_of(args)?;
    fs::create_dir_all(folder).map_err(|error| BadInput::error(format_args!("{}: {error}", folder.display())))?;
    let jobs = args.jobs.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from);
    let work = Work { plan: &plan, folder, shard, jobs };
    let parts = work.parts();
    let cells: usize = parts.iter().map(|part| plan.part(*part).len()).sum();
    let mut steps = talk.steps();
    let mut done = Tally::default();
    let mut tell = |step: &Step| {
        match step {
            Step::Flawed { path, why } => {
                talk.note(format_args!("forkcast: {}: {why}; it is run again", path.display()));
            }
            Step::Kept => done.kept += 1,
            Step::Made => done.made += 1,
            Step::Ran => done.ran += 1,
        }
        steps.at(|| {
            let at_hand = done.kept + done.made;
            format!("{at_hand} of {} parts, {} of {cells} cells run", parts.len(), done.ran)
        });
    };
    let tally = work.run(&interrupted, &mut tell).map_err(BadInput::error)?;
    steps.end();
    if !tally.is_complete() {
        let at_hand = tally.kept + tally.made;
        let all = tally.parts;
        let again = format!("interrupted: {at_hand} of {all} parts exist; the same command runs the others");
        return Err(Threshold(vec![again]).into());
    }
    talk.note(format_args!("forkcast: {} parts exist: {} new, {} from before", tally.parts, tally.made, tally.kept));
    Ok(())
}

/// The shard of this process. If it is missing in an array of jobs, a message says so.
fn shard_of(args: &SweepRunArgs) -> anyhow::Result<Shard> {
    let variable = |name: &str| std::env::var(name).ok();
    if let Some(text) = &args.shard {
        return Shard::read(text, &variable).map_err(|bad| BadInput::error(format_args!("--shard: {bad}")));
    }
    if let Ok(Some((name, _))) = shard::given(&variable) {
        let note = "is set, but without --shard this runs all parts of the plan; --shard auto/N runs its share";
        args.parts.talk.note(format_args!("forkcast: {name} {note}"));
    }
    Ok(Shard::WHOLE)
}

fn merge(args: &SweepMergeArgs) -> anyhow::Result<()> {
    written::check(args.html.as_deref(), None)?;
    let plan = read(&args.parts)?;
    let folder = &*args.parts.out;
    let gathered = gather(&plan, folder).map_err(BadInput::error)?;
    if !gathered.missing.is_empty() {
        return Err(BadInput(incomplete(&args.parts, &plan, &gathered.missing)).into());
    }
    let rows = &gathered.rows;
    let (json, csv) = (
        bytes(|target| format::sweep::write(&plan, rows, target))?,
        bytes(|target| format::sweep::table(&plan, rows, target))?,
    );
    // The report is printed even if the folder cannot be written.
    let written = file::write(&folder.join("sweep.json"), SWEEP, &json)
        .and_then(|()| file::write(&folder.join("sweep.csv"), TABLE, &csv));
    // All parts exist, so the files of killed processes are not needed; a live process creates its file again.
    for path in &gathered.unfinished {
        drop(fs::remove_file(path));
    }
    let mut outcome = Outcome::default();
    match written {
        Ok(()) => {
            args.parts.talk.note(format_args!("forkcast: wrote sweep.json and sweep.csv into {}", folder.display()));
        }
        Err(refused) => outcome.mistakes.push(refused.to_string()),
    }
    let page = || page::sweep(&plan, rows);
    outcome.printed(written::page(args.html.as_deref(), page, &args.parts.talk))?;
    outcome.printed(match args.format {
        Format::Json => screen::print(|target| target.write_all(&json)),
        Format::Csv => screen::print(|target| target.write_all(&csv)),
        shown => screen::document(&human::sweep::document(&plan, rows), shown),
    })?;
    judge(&plan, rows, &mut outcome);
    let models: BTreeSet<&str> = rows.iter().flat_map(|row| &row.unpriced).map(String::as_str).collect();
    outcome.mistakes.extend(args.strict.complaints(Doubt::unpriced(models)));
    outcome.done()
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

fn bytes(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    Ok(bytes)
}

/// The missing parts, and the command that runs them.
fn incomplete(args: &PartsArgs, plan: &Plan, missing: &[Missing]) -> Vec<String> {
    let mut lines: Vec<String> = missing
        .iter()
        .take(LISTED_MAX)
        .map(|missing| {
            let why = missing.flaw.as_deref().unwrap_or("is missing");
            let cells = plan.part(missing.part).len();
            format!("{}: part {} of {} ({cells} cells): {why}", missing.path.display(), missing.part, plan.parts)
        })
        .collect();
    if missing.len() > LISTED_MAX {
        lines.push(format!("… and {} more parts", missing.len() - LISTED_MAX));
    }
    lines.push(format!("to run them: {}", again(&args.plan, &args.out)));
    lines
}

fn again(plan: &Path, folder: &Path) -> String {
    format!("forkcast sweep run {} --out {}", quoted(plan), quoted(folder))
}

/// A path, quoted for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+".contains(c));
    if is_plain && !text.is_empty() { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Cells that did not finish; they are already in the report.
fn judge(plan: &Plan, rows: &[CellOutcome], outcome: &mut Outcome) {
    let complaint = |(set, row): (&Vec<String>, &CellOutcome)| {
        format!("{}: {}: {}", set.join(" "), row.ends, row.message.as_deref().unwrap_or_default())
    };
    let cells = || plan.cells.iter().map(|cell| &cell.set).zip(rows);
    outcome.faults.extend(cells().find(|(_, row)| row.broke_a_law()).map(complaint));
    let broken: Vec<String> = cells().filter(|(_, row)| !row.is_done()).map(complaint).collect();
    let more = broken.len().saturating_sub(LISTED_MAX);
    outcome.mistakes.extend(broken.into_iter().take(LISTED_MAX));
    if more > 0 {
        outcome.mistakes.push(format!("… and {more} more cells that did not finish"));
    }
}

fn status(args: &SweepStatusArgs) -> anyhow::Result<()> {
    let plan = read(&args.parts)?;
    let folder = &args.parts.out;
    let gathered = if folder.exists() {
        gather(&plan, folder).map_err(BadInput::error)?
    } else {
        return Err(Threshold(vec![format!(
            "{}: does not exist; to create it: {}",
            folder.display(),
            again(&args.parts.plan, folder)
        )])
        .into());
    };
    let Gathered { rows, missing, unfinished } = gathered;
    let parts = plan.parts;
    let cells = plan.cells.len();
    let mut outcome = Outcome::default();
    outcome.printed(screen::print(|target| {
        writeln!(
            target,
            "{}: {} of {parts} parts, {} of {cells} cells",
            plan.subject.name(),
            parts - missing.len(),
            rows.len()
        )
    }))?;
    if !unfinished.is_empty() {
        let note = "unfinished files: from processes that are running or were killed; merge removes them";
        args.parts.talk.note(format_args!("forkcast: {} {note}", unfinished.len()));
    }
    if !missing.is_empty() {
        outcome.failures = incomplete(&args.parts, &plan, &missing);
    }
    outcome.done()
}
