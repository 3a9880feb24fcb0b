//! `forkcast lock`.

use forkcast_replay::check::Checking;
use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_sim::guard::Rule;
use forkcast_sim::guard::lock::{Lock, Recording};

use super::check::inspection::Sources;
use super::check::lock_file::LockFile;
use super::check::{book, inspection, lock_file, rules};
use crate::args::{LockArgs, WantedLock};
use crate::exit::{BadInput, Outcome, Stopped};
use crate::screen;

mod review;

/// Runs the verb.
pub fn run(args: &LockArgs) -> anyhow::Result<()> {
    lock_file::check(&args.output)?;
    let held = args.review.then(|| LockFile::read(WantedLock::Named(&args.output), true)).transpose()?;
    let held = held.and_then(|held| held.lock);
    let named = Sources::open(&args.sources)?;
    let rules = rules::read(&args.sources, named.rules()?)?;
    let of_run = named.recorded.prices(&args.prices)?;
    let book = book(of_run.as_ref().unwrap_or(&args.prices), &args.talk)?;
    let recording = Recording {
        preset: rules.preset.name.to_owned(),
        prices: book.version().to_owned(),
        show_content: args.prompts.show_content,
        anonymous: args.prompts.anonymize || held.as_ref().is_some_and(|lock| lock.anonymous),
    };
    let checking = Checking { rules, prices: Some(book), recording: Some(recording), conformance: false };
    let inspection = inspection::inspect(named, &args.sources, checking, &args.talk)?;
    if inspection.partial {
        let why = "interrupted, so no lock was written: it would be incomplete";
        return Err(Stopped(why.to_owned()).into());
    }
    let mut end = Outcome { mistakes: inspection.mistakes(Names::Plain), ..Outcome::default() };
    end.mistakes.extend(args.strict.complaints(inspection.doubts));
    if !inspection.inputs.unreadable.is_empty() {
        end.mistakes.push(lock_file::UNREADABLE.to_owned());
        return end.done();
    }
    let Some(lock) = inspection.outcome.lock else { return Err(BadInput::error("there is nothing to lock")) };
    if args.review {
        return review::run(args, held.as_ref().unwrap_or(&Lock::default()), &lock, end);
    }
    lock_file::write(&lock, &args.output)?;
    // A lock pins requests whatever the provider does with them.
    let report = &inspection.outcome.report;
    for refused in report.violations.iter().filter(|violation| violation.rule != Rule::Budget) {
        args.talk.note(format_args!("forkcast: locked, though the provider does not take it: {refused}"));
    }
    let file = args.output.display().to_string();
    // Names in an anonymous lock are ids already.
    end.printed(screen::document(&human::check::written(&lock, &file, Names::Plain), args.format))?;
    end.done()
}
