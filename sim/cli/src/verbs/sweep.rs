//! `forkcast sweep`.

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use forkcast_scenarios::sweep::gather::Missing;
use forkcast_scenarios::sweep::work::Tally;
use forkcast_scenarios::sweep::{Gathered, Plan, Shard, Step, Work, gather, shard};

use crate::args::{PartsArgs, SweepArgs, SweepRunArgs, SweepStatusArgs, SweepStep};
use crate::exit::{BadInput, Outcome, Threshold};
use crate::screen;
use crate::signals::interrupted;

mod engine;
mod merged;
mod planned;

use merged::Shown;

/// The maximum number of errors of one kind that are shown.
const LISTED_MAX: usize = 10;

/// Runs the verb.
pub fn run(args: &SweepArgs) -> anyhow::Result<()> {
    match &args.step {
        SweepStep::Plan(args) => planned::plan(args),
        SweepStep::Run(args) => work(args),
        SweepStep::Merge(args) => {
            let shown = Shown { format: args.format, html: args.html.as_deref(), strict: Some(&args.strict) };
            merged::merge(&read(&args.parts)?, &args.parts, &shown)
        }
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
    fs::create_dir_all(folder).map_err(|error| BadInput::error(format_args!("{}: {error}", folder.display())))?;
    if let Some(engine) = args.engine {
        engine::run(engine, &plan, args)?;
        return merged::merge(&plan, &args.parts, &Shown::default());
    }
    let shard = shard_of(args, &plan)?;
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

/// The shard of this process. If it is missing in an array of jobs, or if there are more shards than parts, a message
/// says so.
fn shard_of(args: &SweepRunArgs, plan: &Plan) -> anyhow::Result<Shard> {
    let variable = |name: &str| std::env::var(name).ok();
    if let Some(text) = &args.shard {
        let shard = Shard::read(text, &variable).map_err(|bad| BadInput::error(format_args!("--shard: {bad}")))?;
        if shard.of > plan.parts {
            args.parts.talk.note(format_args!(
                "forkcast: {} shards share {} parts, so {} of them do nothing; use at most {} shards, or make the plan with \
                 more --parts",
                shard.of,
                plan.parts,
                shard.of - plan.parts,
                plan.parts
            ));
        }
        return Ok(shard);
    }
    if let Ok(Some((name, _))) = shard::given(&variable) {
        let note = "is set, but without --shard this runs all parts of the plan; --shard auto/N runs its share";
        args.parts.talk.note(format_args!("forkcast: {name} {note}"));
    }
    Ok(Shard::WHOLE)
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

fn status(args: &SweepStatusArgs) -> anyhow::Result<()> {
    let plan = read(&args.parts)?;
    let folder = &args.parts.out;
    let gathered = if folder.exists() {
        gather(&plan, folder, &mut |_, _| ()).map_err(BadInput::error)?
    } else {
        return Err(Threshold(vec![format!(
            "{}: does not exist; to create it: {}",
            folder.display(),
            again(&args.parts.plan, folder)
        )])
        .into());
    };
    let Gathered { cells: found, missing, unfinished } = gathered;
    let parts = plan.parts;
    let cells = plan.len();
    let mut outcome = Outcome::default();
    outcome.printed(screen::print(|target| {
        writeln!(
            target,
            "{}: {} of {parts} parts, {found} of {cells} cells",
            plan.subject.name(),
            parts - missing.len(),
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
