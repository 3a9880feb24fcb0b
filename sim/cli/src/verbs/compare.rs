//! `forkcast compare`.

use std::path::Path;

use forkcast_reports::folder::reading::RunFolder;
use forkcast_reports::movement::{Movement, Sums};
use forkcast_reports::report::{View, Window};
use forkcast_reports::{format, human, page};

use crate::args::{CompareArgs, Format, Period, ReplayArgs};
use crate::exit::{BadInput, Outcome};
use crate::screen;
use crate::verbs::replay;
use crate::written;

/// Runs the verb.
pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    written::check(args.html.as_deref(), None)?;
    let movement = movement(args)?;
    let mut outcome = Outcome::default();
    outcome.printed(written::page(args.html.as_deref(), || page::movement(&movement), &args.talk))?;
    outcome.printed(match args.format {
        Format::Json => screen::print(|target| format::movement::write(&movement, target)),
        format => screen::document(&human::movement::document(&movement), format),
    })?;
    outcome.failures.extend(movement.broken(args.limits()).iter().map(human::movement::sentence));
    outcome.done()
}

fn movement(args: &CompareArgs) -> anyhow::Result<Movement> {
    if let (Some(before), Some(after)) = (&args.before, &args.after) {
        let names = [before, after].map(|path| path.display().to_string());
        return Ok(Movement { names, sums: [result(args, before)?, result(args, after)?] });
    }
    let Some(periods) = args.periods().map_err(BadInput::error)? else {
        return Err(BadInput::error("expected a second result, or a period of the first, such as --last 7d"));
    };
    let replayed = replayed(args, args.before.as_deref()).or_logs();
    let [before, after] = periods.map(|Period { window, name }| (name, replay::sums(&replayed, view(window))));
    Ok(Movement { names: [before.0, after.0], sums: [before.1?, after.1?] })
}

/// The sums of a result: those of its ledger, unless it is priced or cached otherwise.
fn result(args: &CompareArgs, path: &Path) -> anyhow::Result<Sums> {
    if RunFolder::is_one(path) && !args.prices.is_given() && args.cache.is_none() {
        return Ok(RunFolder::read(path).map_err(BadInput::error)?.sums());
    }
    replay::sums(&replayed(args, Some(path)), View::default())
}

/// How recordings are replayed.
fn replayed(args: &CompareArgs, path: Option<&Path>) -> ReplayArgs {
    let path = path.map(Path::to_owned);
    ReplayArgs { cache: args.cache, prices: args.prices.clone(), talk: args.talk, ..ReplayArgs::of(path) }
}

fn view(window: Window) -> View {
    View { window, ..View::default() }
}
