//! `forkcast replay`.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use forkcast_replay::input::{Inputs, Progress, ReadOptions};
use forkcast_replay::replay::{Options, Passes};
use forkcast_replay::what_if::WhatIf;
use forkcast_reports::document::{bytes, count};
use forkcast_reports::folder::rows::Rows;
use forkcast_reports::folder::{Contents, Folder, FolderError};
use forkcast_reports::format;
use forkcast_reports::human;
use forkcast_reports::movement::Sums;
use forkcast_reports::names::Names;
use forkcast_reports::page;
use forkcast_reports::report::{Limits, Report, View, gates};

use crate::args::{Doubt, Format, ReplayArgs};
use crate::exit::{BadInput, Outcome, folder_error};
use crate::screen;
use crate::signals::{self, interrupted};
use crate::talk::Steps;
use crate::verbs::check::rules;
use crate::verbs::run_folder::{self, NamedPaths};
use crate::written;

pub mod complaints;

/// Runs the verb.
pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    screen::table_alone(args.table.is_some(), args.format)?;
    let is_for_people = matches!(args.format, Format::Human | Format::Markdown) && args.table.is_none();
    let view = args.view.view(names(args), is_for_people).map_err(BadInput::error)?;
    let what_ifs = args.what_ifs();
    let view = View { details: args.details, what_ifs: what_ifs.clone(), ..view };
    // Before the work, so that an unusable folder is reported immediately.
    let open = |path| Folder::open(path, Contents::Replay, args.overwrite, &args.paths);
    let mut folder = args.out.as_deref().map(open).transpose().map_err(folder_error)?;
    written::check(args.html.as_deref(), Some(&args.export))?;
    let mut steps = args.talk.steps();
    let Source { inputs, options } = Source::of(args, &mut steps)?;
    let what_if = WhatIf::with_defaults(&what_ifs);
    let options = Options { what_if, composes: args.html.is_some(), ..options };
    let steps = RefCell::new(steps);
    let stop = watch(&inputs, &steps);
    let requests = Passes::new(&inputs, &options, &stop);
    let mut rows = folder.as_mut().map(|folder| folder.rows(args.bodies)).transpose().map_err(folder_error)?;
    let report = Report::watched(&inputs, &requests, &options, view, &mut |senders, entries| {
        if let (Some(folder), Some(rows)) = (&mut folder, &mut rows) {
            folder.take(rows, senders, entries);
        }
    });
    steps.borrow_mut().end();
    let complaints = unread(&report)?;
    let replayed = report.tally.requests + report.left_out.requests();
    if report.stopped {
        args.talk.note(format_args!("forkcast: interrupted, so the result is partial: {} requests", count(replayed)));
    }
    let mut outcome = Outcome::default();
    outcome.written(folder.zip(rows).map_or(Ok(()), |(folder, rows)| write(args, &report, folder, rows)));
    outcome.printed(written::page(args.html.as_deref(), || page::replay(&report), &args.talk))?;
    outcome.printed(written::export(&args.export, &report, &args.talk))?;
    // Pages and tables may have replayed requests again.
    steps.borrow_mut().end();
    outcome.printed(print(args, &report))?;
    outcome.failures.extend(gates(&report).iter().filter_map(human::replay::sentence));
    if args.are_found {
        complaints.iter().for_each(|complaint| args.talk.note(format_args!("forkcast: {complaint}")));
    } else {
        outcome.mistakes.extend(complaints);
    }
    outcome.mistakes.extend(args.strict.complaints(complaints::doubts(&report)));
    outcome.done()
}

/// The sums of what a replay without output shows in `view`, and the doubts about them.
pub fn sums(args: &ReplayArgs, view: View) -> anyhow::Result<(Sums, Vec<Doubt>)> {
    let mut steps = args.talk.steps();
    let Source { inputs, options } = Source::of(args, &mut steps)?;
    let steps = RefCell::new(steps);
    let stop = watch(&inputs, &steps);
    let requests = Passes::new(&inputs, &options, &stop);
    let report = Report::new(&inputs, &requests, &options, view);
    let complaints = unread(&report)?;
    complaints.iter().for_each(|complaint| args.talk.note(format_args!("forkcast: {complaint}")));
    Ok((Sums::from(&report), complaints::doubts(&report)))
}

/// What could not be read; an error if nothing could.
fn unread(report: &Report<'_>) -> anyhow::Result<Vec<String>> {
    let complaints = complaints::of_inputs(report.inputs, &report.unreplayed);
    if report.tally.requests + report.left_out.requests() <= report.unreplayed.len() as u64 {
        return Err(complaints::or_nothing_read(complaints).into());
    }
    if report.tally.requests == 0 && report.view.limits != Limits::default() {
        chosen(report)?;
    }
    Ok(complaints)
}

/// An error if the name of a session or a project leaves no request to limit: it may be misspelled, and any limit would
/// hold.
fn chosen(report: &Report<'_>) -> anyhow::Result<()> {
    let View { session, project, .. } = &report.view;
    if let Some(id) = session.as_ref().filter(|_| report.left_out.other_sessions > 0) {
        return Err(BadInput::error(format_args!("--session {id}: no session has an id that begins with this")));
    }
    match project.as_ref().filter(|_| report.left_out.other_projects > 0) {
        Some(name) => Err(BadInput::error(format_args!("--project {name}: no project has this in its path"))),
        None => Ok(()),
    }
}

/// Requests, and how they are replayed.
struct Source {
    inputs: Inputs,
    options: Options,
}

impl Source {
    fn of(args: &ReplayArgs, steps: &mut Steps) -> anyhow::Result<Self> {
        let sorted = run_folder::sort(&args.paths)?.are_in(args.input_format)?;
        let rules = args.cache.map_or_else(|| sorted.rules(), |rules| Ok(Some(rules)))?;
        let prices = sorted.prices(&args.prices)?;
        let prices = prices.as_ref().unwrap_or(&args.prices);
        let (book, prices_of) = (prices.book(&args.talk)?, prices.day);
        let inputs = read(args, sorted, steps)?;
        if inputs.unread_files > 0 {
            let unread = count(inputs.unread_files as u64);
            args.talk
                .note(format_args!("forkcast: interrupted, so the result is partial: {unread} files were not read"));
        }
        let sizing = args.sizes.sizing(&inputs);
        let account_created = rules::account_created()?;
        let options = Options { rules, book, prices_of, sizing, account_created, ..Options::default() };
        Ok(Self { inputs, options })
    }
}

/// Reports the progress of the replay at each check for an interruption.
fn watch<'a>(inputs: &Inputs, steps: &'a RefCell<Steps>) -> impl Fn() -> bool + use<'a> {
    let work = Work::of(inputs);
    steps.borrow_mut().begin(format_args!("replaying {} {}", count(work.all), work.things));
    let done = Cell::new(0);
    // Ctrl-C has ended the reading: the part that was read is replayed, and the next Ctrl-C ends the program.
    let ended_before = interrupted();
    move || {
        done.set(done.get() + 1);
        let line = || format!("replaying, {} of {} {}", count(done.get()), count(work.all), work.things);
        steps.borrow_mut().at(line);
        interrupted() && !ended_before
    }
}

/// The amount of work: requests one by one, transcripts session by session.
struct Work {
    all: u64,
    things: &'static str,
}

impl Work {
    fn of(inputs: &Inputs) -> Self {
        let requests = inputs.exchanges().count();
        let sessions = inputs.sessions.len();
        let things = match (requests, sessions) {
            (_, 0) => "requests",
            (0, _) => "sessions",
            _ => "requests and sessions",
        };
        Self { all: (requests + sessions) as u64, things }
    }
}

fn read(args: &ReplayArgs, sorted: NamedPaths<'_, PathBuf>, steps: &mut Steps) -> anyhow::Result<Inputs> {
    if args.paths.is_empty() {
        args.talk.note(format_args!("forkcast: this is the embedded sample of a small coding agent"));
        return Ok(Inputs::sample());
    }
    steps.begin(format_args!("reading"));
    let options = ReadOptions::from(args.input_format);
    let options = if args.sizes.counts() { options.counted() } else { options };
    watched(steps, &args.paths, |watch| sorted.read(&options, watch))
}

/// Reads `paths` with a line of progress. An interruption ends the program for as long as it waits for its input.
pub fn watched<T>(
    steps: &mut Steps,
    paths: &[impl AsRef<Path>],
    read: impl FnOnce(&(dyn Fn(Progress) -> bool + Sync)) -> T,
) -> T {
    let steps = Mutex::new(steps);
    let watch = |progress: Progress| {
        // Only one thread draws the line at a time.
        if let Ok(mut steps) = steps.try_lock() {
            steps.at(|| reading(progress));
        }
        !interrupted()
    };
    signals::nothing_to_keep(signals::waits_for_input(paths));
    let read = read(&watch);
    signals::nothing_to_keep(false);
    read
}

/// `reading, 62 %: 335.1 MB of 540.2 MB, 810 of 1,298 files`.
fn reading(progress: Progress) -> String {
    let Progress { files_done, files, bytes_done, bytes: all } = progress;
    let percent = bytes_done.saturating_mul(100).checked_div(all).unwrap_or(100);
    let done = count(files_done as u64);
    let files = count(files as u64);
    format!("reading, {percent} %: {} of {}, {done} of {files} files", bytes(bytes_done), bytes(all))
}

/// Writes the folder, even if the printed output is not read.
fn write(args: &ReplayArgs, report: &Report<'_>, folder: Folder, rows: Rows) -> Result<(), FolderError> {
    let written = folder.finish(report, rows)?;
    written::folder(&written, args.out.as_deref().unwrap_or(Path::new("")), &args.talk);
    Ok(())
}

fn print(args: &ReplayArgs, report: &Report<'_>) -> anyhow::Result<()> {
    if args.prints_nothing {
        return Ok(());
    }
    if let Some(table) = &args.table {
        return screen::print(|target| format::tables::write(report, table, target));
    }
    match args.format {
        Format::Json => screen::print(|target| format::replay::write(report, target)),
        Format::Csv => screen::print(|target| format::tables::write_all(report, target)),
        Format::Jsonl => screen::print(|target| format::ledger::write_all(report, target)),
        format => screen::document(&human::replay::document(report), format),
    }
}

fn names(args: &ReplayArgs) -> Names {
    if args.anonymize { Names::Anonymous } else { Names::Plain }
}
