//! `forkcast check`.

use forkcast_replay::check::Checking;
use forkcast_reports::check::{Check, Origin};
use forkcast_reports::document::count;
use forkcast_reports::format::check as format;
use forkcast_reports::human;
use forkcast_reports::page;
use forkcast_reports::report::stated;
use forkcast_sim::guard::lock::{self, Changes, Lock, Recording, changes};
use forkcast_sim::guard::{Report, Rules, Severity};
use forkcast_sim::pricing::PriceBook;

use crate::args::{CheckArgs, CheckFormat, Format, PriceArgs, TalkArgs, WantedLock};
use crate::exit::{BadInput, Outcome, Stopped};
use crate::screen;
use crate::written;

pub mod inspection;
pub mod lock_file;
pub mod rules;

use inspection::{Inspection, Sources};
use lock_file::LockFile;

/// Runs the verb.
pub fn run(args: &CheckArgs) -> anyhow::Result<()> {
    written::check(args.html.as_deref(), None)?;
    let wanted = args.wanted_lock();
    if args.update && wanted == WantedLock::None {
        return Err(BadInput::error("--update writes a lock, so --lock none cannot be used with it"));
    }
    let named = Sources::open(&args.sources)?;
    let mut rules = rules::read(&args.sources, named.rules()?)?;
    if args.locked {
        rules.equality = Severity::Fail;
    }
    rules.requests_per_day = args.requests_per_day.or(rules.requests_per_day);
    let held = LockFile::read(wanted, args.update)?;
    if args.locked && held.lock.is_none() {
        return Err(BadInput::error("--locked compares with a lock, and there is none; `forkcast lock` writes it"));
    }
    held.file.filter(|_| args.update).map_or(Ok(()), lock_file::check)?;
    let of_run = named.recorded.prices(&args.prices)?;
    let prices = of_run.as_ref().unwrap_or(&args.prices);
    let book = book(prices, &args.talk)?;
    // The recorder contains the prices of the requests.
    let records = held.lock.is_some() || args.update || args.strict.is_set() || args.format == CheckFormat::Junit;
    let checking = Checking {
        rules: rules.clone(),
        prices: Some(book.clone()),
        recording: records.then(|| recording(&rules, args, &held, &book)),
        conformance: args.conformance.is_some(),
    };
    let mut inspection = inspection::inspect(named, &args.sources, checking, &args.talk)?;
    let update = against_lock(args, &rules, &held, &mut inspection)?;
    let day = prices.day.map_or_else(|| "the day of each request".to_owned(), |day| day.to_string());
    let prices = stated(&book, &day, args.prompts.names());
    show(args, &rules, &held, &inspection, prices, update.as_ref())
}

/// Prices of the day that was given, else of each request's.
pub fn book(prices: &PriceArgs, talk: &TalkArgs) -> anyhow::Result<PriceBook> {
    let book = prices.book(talk)?;
    Ok(match prices.day {
        Some(day) => book.with_day(day),
        None => book,
    })
}

fn recording(rules: &Rules, args: &CheckArgs, held: &LockFile<'_>, book: &PriceBook) -> Recording {
    Recording {
        preset: rules.preset.name.to_owned(),
        prices: book.version().to_owned(),
        show_content: args.prompts.show_content || held.shows_content() && !args.prompts.anonymize,
        anonymous: held.lock.as_ref().map_or(args.prompts.anonymize, |lock| lock.anonymous),
    }
}

/// Compares the requests with the lock, or rewrites the lock. A partial check is not compared, and no lock is written if
/// any input is unreadable.
fn against_lock(
    args: &CheckArgs,
    rules: &Rules,
    held: &LockFile<'_>,
    inspection: &mut Inspection,
) -> anyhow::Result<Option<Changes>> {
    let report = &mut inspection.outcome.report;
    let Some((new, file)) = inspection.outcome.lock.as_ref().zip(held.file).filter(|_| !inspection.partial) else {
        return Ok(None);
    };
    let old = held.lock.as_ref();
    if args.update {
        if !inspection.inputs.unreadable.is_empty() {
            return Ok(None);
        }
        lock_file::write(new, file)?;
        return Ok(Some(changes(old.unwrap_or(&Lock::default()), new)));
    }
    let Some(old) = old else { return Ok(None) };
    if rules.sharing != Severity::Off {
        shared_before(old, new, rules, report);
    }
    report.violations.extend(lock::budget(old, new, &rules.budget));
    report.set_score(rules);
    lock::equality(old, new, rules).report(rules, report);
    Ok(None)
}

/// Checks that siblings still share the part that they shared in the lock.
fn shared_before(old: &Lock, new: &Lock, rules: &Rules, report: &mut Report) {
    for finding in lock::sharing(old, new, rules) {
        let told = |known: &forkcast_sim::guard::Finding| {
            (known.rule, known.request, &known.path) == (finding.rule, finding.request, &finding.path)
        };
        if !report.findings.iter().any(told) {
            report.findings.push(finding);
        }
    }
}

fn show(
    args: &CheckArgs,
    rules: &Rules,
    held: &LockFile<'_>,
    inspection: &Inspection,
    prices: String,
    update: Option<&Changes>,
) -> anyhow::Result<()> {
    let names = args.prompts.names();
    let outcome = &inspection.outcome;
    let lock = if update.is_some() { outcome.lock.as_ref() } else { held.lock.as_ref() };
    let check = Check {
        report: &outcome.report,
        rules,
        origins: &Origin::list(&outcome.origins, outcome.lock.as_ref()),
        refused: &Origin::of_errors(&outcome.refused),
        inputs: &inspection.inputs,
        lock: held.told(lock),
        card: &inspection.card,
        update,
        prices,
        names,
        content: args.prompts.show_content,
        partial: inspection.partial,
    };
    let mut end = Outcome::default();
    end.printed(written::page(args.html.as_deref(), || page::check(&check), &args.talk))?;
    end.printed(match args.format {
        CheckFormat::Human => screen::document(&human::check::document(&check, true), Format::Human),
        CheckFormat::Markdown => {
            screen::document(&human::check::document(&check, args.prompts.show_content), Format::Markdown)
        }
        CheckFormat::Csv => {
            // Tables have no room for warnings.
            human::check::about(&check).iter().for_each(|line| args.talk.note(format_args!("forkcast: {line}")));
            screen::document(&format::tables(&check), Format::Csv)
        }
        CheckFormat::Json => screen::print(|target| format::write(&check, target)),
        CheckFormat::Junit => screen::print(|target| format::junit::write(&check, target)),
        CheckFormat::Github => screen::print(|target| format::github::write(&check, target)),
        CheckFormat::Sarif => screen::print(|target| format::sarif::write(&check, target)),
    })?;
    if inspection.partial {
        return Err(stopped(args, outcome.report.requests).into());
    }
    end.failures.extend((!check.holds()).then(|| human::check::title(&check)));
    end.mistakes.extend(inspection.mistakes(names));
    end.mistakes.extend(unlocked(args, inspection));
    end.mistakes.extend(args.strict.complaints(inspection.doubts.iter().cloned()));
    end.done()
}

/// Without the unreadable input, the lock would later be compared with the complete input.
fn unlocked(args: &CheckArgs, inspection: &Inspection) -> Option<String> {
    (args.update && !inspection.inputs.unreadable.is_empty()).then(|| lock_file::UNREADABLE.to_owned())
}

/// A partial check proves nothing about the whole, whatever it found.
fn stopped(args: &CheckArgs, requests: usize) -> Stopped {
    let lock = if args.update { ", and no lock was written" } else { "" };
    let plural = if requests == 1 { "" } else { "s" };
    Stopped(format!("interrupted, so the result is partial: {} request{plural}{lock}", count(requests as u64)))
}
