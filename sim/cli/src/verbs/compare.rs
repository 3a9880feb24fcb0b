//! `forkcast compare`.

use std::path::Path;

use forkcast_reports::document::count;
use forkcast_reports::folder::reading::RunFolder;
use forkcast_reports::movement::{Movement, Sums};
use forkcast_reports::report::{View, Window};
use forkcast_reports::{format, human, page};

use crate::args::{CompareArgs, Doubt, Format, Period, ReplayArgs};
use crate::exit::{BadInput, Outcome};
use crate::screen;
use crate::verbs::replay;
use crate::written;

/// Runs the verb.
pub fn run(args: &CompareArgs) -> anyhow::Result<()> {
    written::check(args.html.as_deref(), None)?;
    let (movement, doubts) = movement(args)?;
    let mut outcome = Outcome::default();
    outcome.printed(written::page(args.html.as_deref(), || page::movement(&movement), &args.talk))?;
    outcome.printed(match args.format {
        Format::Json => screen::print(|target| format::movement::write(&movement, target)),
        format => screen::document(&human::movement::document(&movement), format),
    })?;
    outcome.failures.extend(movement.broken(args.limits()).iter().map(human::movement::sentence));
    outcome.mistakes.extend(args.strict.complaints(doubts));
    outcome.done()
}

/// Both results, and the doubts about them.
fn movement(args: &CompareArgs) -> anyhow::Result<(Movement, Vec<Doubt>)> {
    if let (Some(before), Some(after)) = (&args.before, &args.after) {
        let names = [before, after].map(|path| path.display().to_string());
        return Ok(joined(names, [result(args, before)?, result(args, after)?]));
    }
    let Some(periods) = args.periods().map_err(BadInput::error)? else {
        return Err(BadInput::error("expected a second result, or a period of the first, such as --last 7d"));
    };
    let replayed = replayed(args, args.before.as_deref()).or_logs();
    let [before, after] = periods.map(|Period { window, name }| (name, replay::sums(&replayed, view(window))));
    let names = [before.0, after.0];
    let found = [before.1?, after.1?];
    if found.iter().all(|(sums, _)| sums.requests == 0) {
        let [before, after] = names;
        return Err(BadInput::error(format_args!(
            "no request was sent in either period ({before}; {after}); name others with --since and --until"
        )));
    }
    Ok(joined(names, found))
}

/// Sums of a result, and the doubts about them.
type Found = (Sums, Vec<Doubt>);

/// Two periods of one recording have most doubts in common.
fn joined(names: [String; 2], [before, after]: [Found; 2]) -> (Movement, Vec<Doubt>) {
    let mut doubts = before.1;
    doubts.extend(after.1.into_iter().filter(|doubt| !doubts.contains(doubt)).collect::<Vec<_>>());
    (Movement { names, sums: [before.0, after.0] }, doubts)
}

/// A result: the sums of its ledger, unless it is priced or cached otherwise.
fn result(args: &CompareArgs, path: &Path) -> anyhow::Result<Found> {
    if RunFolder::is_one(path) && !args.prices.is_given() && args.cache.is_none() {
        let sums = RunFolder::read(path).map_err(BadInput::error)?.sums();
        let unpriced = (sums.unpriced > 0).then(|| {
            Doubt::LeftOut(format!("{}: no price for {} requests, in no sum", path.display(), count(sums.unpriced)))
        });
        let doubts = unpriced.into_iter().chain(Doubt::partial(sums.is_partial)).collect();
        return Ok((sums, doubts));
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
