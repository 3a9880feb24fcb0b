//! `forkcast explain`.

use std::io::{self, Write};

use forkcast_replay::replay::inspect::{NotInspected, Unread, inspect};
use forkcast_replay::replay::replay_until;
use forkcast_reports::document::Document;
use forkcast_reports::explained::Explained;
use forkcast_reports::format;
use forkcast_reports::human;
use forkcast_reports::page;
use forkcast_reports::report::{Recorded, Report, View, Zone, entries};
use forkcast_sim::diagnosis::Cause;

use crate::args::{Doubt, ExplainArgs, Format};
use crate::exit::{BadInput, Outcome};
use crate::screen;
use crate::signals::interrupted;
use crate::verbs::list;
use crate::verbs::replay::complaints;
use crate::written;

mod named;
mod source;

use source::Source;

/// Runs the verb.
pub fn run(args: &ExplainArgs) -> anyhow::Result<()> {
    if let Some(cause) = cause(args) {
        return screen::document(&human::list::cause(cause, list::layout(args.shown.format)), args.shown.format);
    }
    written::check(args.shown.html.as_deref(), None)?;
    let source = Source::find(args)?;
    let replay = replay_until(&source.inputs, &source.options, &interrupted);
    let is_for_people = args.shown.format == Format::Human;
    let zone = args.timezone.clone().unwrap_or_else(|| Zone::default_for(is_for_people));
    let is_of_run = source.is_of_run();
    let view = View { names: args.shown.names(), zone, session: args.session.clone(), is_of_run, ..View::default() };
    let report = Report::new(&source.inputs, &replay, &source.options, view);
    let entries = entries(&source.inputs, &replay, &source.options);
    let entry = match &args.request {
        Some(name) => named::entry(&report, &entries, name)?,
        None => dearest(args, &report, &entries)?,
    };
    if let Some(note) = source.check(entry)? {
        args.talk.note(format_args!("forkcast: {note}"));
    }
    let mut outcome = Outcome::default();
    outcome.printed(print(args, &source, &report, &entries, entry))?;
    outcome.mistakes.extend(args.strict.complaints(doubts(&report, entry)));
    outcome.done()
}

/// The requested cause. A folder or a file of that name takes precedence.
fn cause(args: &ExplainArgs) -> Option<Cause> {
    let run = args.run.as_ref().filter(|run| args.request.is_none() && !run.exists())?;
    let word = run.to_str()?;
    Cause::of_word(word)
}

/// Doubts about the explanation: the cache may contain unreadable requests.
fn doubts(report: &Report<'_>, entry: &Recorded<'_>) -> Vec<Doubt> {
    let unpriced = entry.line.charge.bill.is_none().then_some(entry.line.model.as_str());
    let unread = complaints::doubts(report).into_iter().filter(|doubt| !matches!(doubt, Doubt::Unpriced(_)));
    Doubt::unpriced(unpriced).into_iter().chain(unread).collect()
}

/// Prints the explanation.
fn print(
    args: &ExplainArgs,
    source: &Source,
    report: &Report<'_>,
    entries: &[Recorded<'_>],
    entry: &Recorded<'_>,
) -> anyhow::Result<()> {
    if entry.exchange.is_none() {
        let write = |target: &mut dyn Write| format::explain::write_told(report, entry, target);
        return without_cache(args, || human::explain::transcript(report, entry), write);
    }
    let inspection = match inspect(&source.inputs, &source.options, entry.line.index) {
        Ok(inspection) => inspection,
        Err(NotInspected::Unread(why)) => {
            let write = |target: &mut dyn Write| format::explain::write_unprofiled(report, entry, target);
            without_cache(args, || human::explain::unprofiled(report, entry, &why), write)?;
            return match why {
                Unread::Unreadable(reason) => {
                    Err(BadInput::error(format_args!("{}: {reason}", report.spot(&entry.into()))))
                }
                _ => Ok(()),
            };
        }
        Err(NotInspected::NoSuchLine(count)) => {
            return Err(BadInput::error(format_args!("request {}: there are {count} requests", entry.line.index)));
        }
    };
    let explained = Explained::new(report, entries, entry, &inspection);
    let content = args.shown.show_content;
    let write = |target: &mut dyn Write| format::explain::write(&explained, content, target);
    page(args, || human::explain::document(&explained, content), write)?;
    match args.shown.format {
        Format::Json => screen::print(write),
        Format::Csv => screen::document(&human::explain::tables(&explained), Format::Csv),
        format => screen::document(&human::explain::document(&explained, args.shown.windows()), format),
    }
}

/// Writes the page, if it is requested, and prints a request whose cache is unknown.
fn without_cache(
    args: &ExplainArgs,
    text: impl Fn() -> Document,
    write: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    page(args, &text, &write)?;
    match args.shown.format {
        Format::Json => screen::print(write),
        format => screen::document(&text(), format),
    }
}

/// Writes the page, if it is requested.
fn page(
    args: &ExplainArgs,
    text: impl Fn() -> Document,
    write: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    written::page(args.shown.html.as_deref(), || page::request("explain", text(), write), &args.talk)
}

/// The request with the dearest miss of the report; without any, the first that is explained, else the dearest.
fn dearest<'r, 'a>(
    args: &ExplainArgs,
    report: &Report<'_>,
    entries: &'r [Recorded<'a>],
) -> anyhow::Result<&'r Recorded<'a>> {
    let session = args.session.as_deref().unwrap_or_default();
    let counted = || entries.iter().filter(|entry| entry.session_id().starts_with(session));
    let missed = report.misses.first().and_then(|miss| entries.get(miss.place.index));
    let explained = || counted().find(|entry| entry.line.explanation.is_some());
    let cost = |entry: &&Recorded<'_>| entry.line.charge.bill.as_ref().map(|bill| bill.total);
    let billed = || entries.iter().rev().filter(|entry| entry.session_id().starts_with(session)).max_by_key(cost);
    missed.or_else(explained).or_else(billed).ok_or_else(|| match session {
        "" => BadInput::error("no request to explain"),
        id => BadInput::error(format!("--session {id}: no session has an id that begins with this")),
    })
}
