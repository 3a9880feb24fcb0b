//! `forkcast replay`.

use std::cell::{Cell, RefCell};
use std::sync::Mutex;

use forkcast_replay::error::Error;
use forkcast_replay::input::{Inputs, Progress, ReadOptions};
use forkcast_replay::replay::{Options, Passes};
use forkcast_replay::what_if::WhatIf;
use forkcast_reports::document::{bytes, count};
use forkcast_reports::folder::Folder;
use forkcast_reports::format;
use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_reports::report::{Report, gates, unpriced};

use crate::args::{Format, ReplayArgs};
use crate::exit::{BadInput, Threshold, folder_error, interrupted};
use crate::screen;
use crate::talk::Steps;

pub mod complaints;

/// Runs the verb.
pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    if args.table.is_some() && matches!(args.format, Format::Json | Format::Markdown) {
        return Err(BadInput::error("--table prints comma-separated values; leave --format out, or --table"));
    }
    let view = args.view.view(names(args)).map_err(BadInput::error)?;
    // Before the work, so that nobody waits for a folder that cannot be used.
    let folder =
        args.out.as_deref().map(|path| Folder::open(path, args.overwrite)).transpose().map_err(folder_error)?;
    let book = args.prices.book()?;
    let mut steps = args.talk.steps();
    let inputs = read(args, &mut steps)?;
    if inputs.unread_files > 0 {
        let unread = count(inputs.unread_files as u64);
        args.talk.note(format_args!("forkcast: interrupted, so this is a part: {unread} files were not read"));
    }
    let sizing = args.sizes.sizing(&inputs);
    let what_if = WhatIf::with_defaults(&args.what_if);
    let options =
        Options { rules: args.cache, book, prices_of: args.prices.day, sizing, what_if, ..Options::default() };
    let stop = watch(&inputs, steps);
    let requests = Passes::new(&inputs, &options, &stop);
    let report = Report::new(&inputs, &requests, &options, view);
    let complaints = complaints::of_inputs(&inputs, &report.unreplayed);
    let replayed = report.tally.requests + report.left_out.requests();
    if replayed <= report.unreplayed.len() as u64 {
        return Err(complaints::or_nothing_read(complaints).into());
    }
    if report.stopped {
        args.talk.note(format_args!("forkcast: interrupted, so this is a part: {} requests", count(replayed)));
    }
    show(args, &report, folder.as_ref())?;
    let failures: Vec<String> = gates(&report).iter().filter_map(human::replay::sentence).collect();
    let complaints = [complaints, strict(args, &report)].concat();
    ended(complaints, failures)
}

/// Bad input weighs more than a limit that was not kept, since it may be the reason for that.
fn ended(complaints: Vec<String>, failures: Vec<String>) -> anyhow::Result<()> {
    match (complaints.is_empty(), failures.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => Err(Threshold(failures).into()),
        (false, _) => Err(BadInput([failures, complaints].concat()).into()),
    }
}

/// Tells how far the replay is each time that it is asked whether to stop.
fn watch(inputs: &Inputs, mut steps: Steps) -> impl Fn() -> bool + use<> {
    let work = Work::of(inputs);
    steps.begin(format_args!("replaying {} {}", count(work.all), work.things));
    let (done, steps) = (Cell::new(0), RefCell::new(steps));
    // Ctrl-C has ended the reading: what was read is replayed, and the next one ends the program.
    let ended_before = interrupted();
    move || {
        done.set(done.get() + 1);
        let line = || format!("replaying, {} of {} {}", count(done.get()), count(work.all), work.things);
        steps.borrow_mut().at(line);
        interrupted() && !ended_before
    }
}

/// How much there is to replay: requests one by one, transcripts session by session.
struct Work {
    all: u64,
    things: &'static str,
}

impl Work {
    fn of(inputs: &Inputs) -> Self {
        let (requests, sessions) = (inputs.exchanges().count(), inputs.sessions.len());
        let things = match (requests, sessions) {
            (_, 0) => "requests",
            (0, _) => "sessions",
            _ => "requests and sessions",
        };
        Self { all: (requests + sessions) as u64, things }
    }
}

fn read(args: &ReplayArgs, steps: &mut Steps) -> anyhow::Result<Inputs> {
    if args.paths.is_empty() {
        args.talk.note(format_args!("forkcast: no path given, so this is the embedded sample of a small coding agent"));
        return Ok(Inputs::sample());
    }
    steps.begin(format_args!("reading"));
    let steps = Mutex::new(steps);
    let watch = |progress: Progress| {
        // A thread that finds it taken leaves the line to the one that draws.
        if let Ok(mut steps) = steps.try_lock() {
            steps.at(|| reading(progress));
        }
        !interrupted()
    };
    let options = ReadOptions::from(args.input_format);
    let options = if args.sizes.counts() { options.counted() } else { options };
    Inputs::read_with(&args.paths, &options, &watch).map_err(|error| match error {
        Error::Open { .. } => BadInput::error(error),
        other => other.into(),
    })
}

/// `reading, 62 %: 335.1 MB of 540.2 MB, 810 of 1,298 files`.
pub fn reading(progress: Progress) -> String {
    let Progress { files_done, files, bytes_done, bytes: all } = progress;
    let percent = bytes_done.saturating_mul(100).checked_div(all).unwrap_or(100);
    let (done, files) = (count(files_done as u64), count(files as u64));
    format!("reading, {percent} %: {} of {}, {done} of {files} files", bytes(bytes_done), bytes(all))
}

fn show(args: &ReplayArgs, report: &Report<'_>, folder: Option<&Folder>) -> anyhow::Result<()> {
    if let Some((folder, path)) = folder.zip(args.out.as_deref()) {
        let written = folder.write(report, args.bodies).map_err(folder_error)?;
        args.talk.note(format_args!("forkcast: wrote {} into {}", written.files.join(", "), path.display()));
        if let Some(bodies) = written.bodies {
            args.talk.note(format_args!("forkcast: wrote {bodies} bodies with the whole text of the prompts into it"));
        }
    }
    if let Some(table) = &args.table {
        return screen::print(|target| format::tables::write(report, table, target));
    }
    match args.format {
        Format::Json => screen::print(|target| format::replay::write(report, target)),
        Format::Csv => screen::print(|target| format::tables::write_all(report, target)),
        format => screen::document(&human::replay::document(report), format),
    }
}

fn names(args: &ReplayArgs) -> Names {
    if args.anonymize { Names::Anonymous } else { Names::Plain }
}

/// What `--strict` does not let pass.
fn strict(args: &ReplayArgs, report: &Report<'_>) -> Vec<String> {
    if !args.strict {
        return Vec::new();
    }
    let unpriced = unpriced(report).into_iter().map(|model| format!("no price for `{}` (--strict)", model.model));
    let unreadable = report
        .unreadable()
        .map(|damage| complaints::located(&report.names.file(&damage.file), damage.line, &damage.reason));
    unpriced.chain(unreadable).collect()
}
