//! `forkcast sweep plan`.

use std::fs;
use std::path::Path;

use forkcast_replay::output::file::{self, Kind, begins};
use forkcast_scenarios::catalog;
use forkcast_scenarios::sweep::{Plan, Subject};

use crate::args::SweepPlanArgs;
use crate::exit::BadInput;
use crate::screen;

/// A plan as a file.
const PLAN: Kind = Kind { name: "plan", is_ours: |head| begins(head, "{\"schema\":\"forkcast.plan/") };

/// The name of plans without a scenario.
const FANOUT: &str = "fanout";

/// Makes a plan.
pub fn plan(args: &SweepPlanArgs) -> anyhow::Result<()> {
    let subject = subject(&args.subject).map_err(BadInput::error)?;
    let plan = Plan::at_prices(subject, args.prices.planned()?, args.set.clone(), args.parts);
    let plan = plan.map_err(|bad| BadInput(bad.to_string().lines().map(str::to_owned).collect()))?;
    let cells = plan.len();
    let parts = plan.parts;
    let name = plan.subject.name();
    let Some(out) = &args.out else {
        args.talk.note(format_args!("forkcast: {name}: {cells} cells in {parts} parts"));
        return screen::print(|target| target.write_all(plan.text().as_bytes()));
    };
    file::write(out, PLAN, plan.text().as_bytes()).map_err(BadInput::error)?;
    let next = format!("forkcast sweep run {} --out DIR", super::quoted(out));
    args.talk.note(format_args!("forkcast: {name}: {cells} cells in {parts} parts; next: {next}"));
    Ok(())
}

/// A fan-out, a file, or a built-in scenario.
fn subject(path: &Path) -> Result<Subject, String> {
    let name = path.display().to_string();
    if name == FANOUT {
        return Ok(Subject::fanout());
    }
    if !path.exists()
        && let Some(entry) = catalog::find(name.trim_end_matches(".yaml"))
    {
        return Ok(Subject::built_in(&entry));
    }
    let (file, variant) = match name.rsplit_once('+') {
        Some((file, variant)) if !path.exists() => (file.to_owned(), Some(variant.to_owned())),
        _ => (name.clone(), None),
    };
    let text = fs::read_to_string(&file).map_err(|error| {
        format!("{name}: {error}; name a YAML file, one of `forkcast list scenarios`, or `{FANOUT}`")
    })?;
    let stem = Path::new(&file).file_stem().map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
    Ok(Subject::Scenario { name: stem, file, variant, text })
}
