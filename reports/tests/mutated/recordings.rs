//! Files through `replay`, `explain`, `diff`, `check` and `lock`, in every form of output.

use std::path::{Path, PathBuf};

use forkcast_replay::calibrate::calibrate;
use forkcast_replay::check::{Check, Checking};
use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::replay::inspect::inspect;
use forkcast_replay::replay::{Options, Passes, SizeSource, Sizing, replay};
use forkcast_replay::source::exchange::spelling as body;
use forkcast_replay::source::feed;
use forkcast_replay::what_if::WhatIf;
use forkcast_reports::check as told;
use forkcast_reports::comparison::Sides;
use forkcast_reports::document::{Document, csv, json, markdown, terminal};
use forkcast_reports::explained::Explained;
use forkcast_reports::figures::timeline::Timeline;
use forkcast_reports::folder::reading::RunFolder;
use forkcast_reports::folder::{Contents, Folder};
use forkcast_reports::format;
use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_reports::report::{By, Report, View, Window, Zone, entries, since, until};
use forkcast_sim::diagnosis::{Circumstances, Subject, compare};
use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, Recording};
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::wire::{Pins, Wire, spelling};

use super::laws;
use super::shown::{Shown, text};
use forkcast_fixtures::Dice;

const BY: [Option<By>; 11] = [
    None,
    None,
    Some(By::Day),
    Some(By::Week),
    Some(By::Month),
    Some(By::Project),
    Some(By::Model),
    Some(By::Agent),
    Some(By::Version),
    Some(By::Block),
    Some(By::Kind),
];

/// Files of a case, and a folder that its outputs may go to.
pub struct Case<'a> {
    pub paths: &'a [PathBuf],
    pub out: &'a Path,
    pub names: Names,
}

/// All verbs that take recordings.
pub fn run(case: &Case<'_>, dice: &mut Dice, shown: &mut Shown<'_>) {
    let counts = dice.one_in(6);
    let reading = if counts { ReadOptions::default().counted() } else { ReadOptions::default() };
    let inputs = match Inputs::read_with(case.paths, &reading, &|_| true) {
        Ok(inputs) => inputs,
        Err(error) => return shown.found("fault", format!("reading: {error}")),
    };
    let sizing = if counts { Sizing::new(SizeSource::Both, Some(calibrate(&inputs))) } else { Sizing::default() };
    let what_if = if dice.one_in(3) { WhatIf::with_defaults(&[]) } else { Vec::new() };
    let options = Options { sizing, what_if, ..Options::default() };
    replayed(case, &inputs, &options, dice, shown);
    if dice.one_in(3) {
        explained(case, &inputs, &options, dice, shown);
    }
    if dice.one_in(4) {
        compared(case, &inputs, dice, shown);
    }
    if dice.one_in(2) {
        checked(case, shown);
    }
}

fn replayed(case: &Case<'_>, inputs: &Inputs, options: &Options, dice: &mut Dice, shown: &mut Shown<'_>) {
    let narrow = Window {
        since: since("2026-08-02", &Zone::default()).ok(),
        until: until("2026-11-03T00:00:00Z", &Zone::default()).ok(),
    };
    let window = if dice.one_in(8) { narrow } else { Window::default() };
    let view = View { names: case.names, by: *dice.pick(&BY), window, ..View::default() };
    let requests = Passes::new(inputs, options, &|| false);
    let report = Report::new(inputs, &requests, options, view.clone());
    let run = text(|target| format::replay::write(&report, target));
    shown.object(format::replay::SCHEMA, &run);
    let (mut ledger, mut table) = (Vec::new(), Vec::new());
    format::requests::begin(&mut table).unwrap();
    let mut timeline = Timeline::of(&report);
    report.each(&mut |entry| {
        format::ledger::write(&report, entry, &mut ledger).unwrap();
        format::requests::write(&report, entry, &mut table).unwrap();
        timeline.add(&report, entry);
    });
    let [ledger, table] = [ledger, table].map(|bytes| String::from_utf8(bytes).unwrap());
    ledger.lines().take(40).for_each(|line| shown.object(format::ledger::SCHEMA, line));
    shown.table("requests.csv", &table);
    for law in laws::broken(&laws::Written { run: &run, ledger: &ledger, requests: &table }) {
        shown.found("law", law);
    }
    shown.table("replay as csv", &text(|target| format::tables::write_all(&report, target)));
    document("replay", &human::replay::document(&report), shown);
    if dice.one_in(4) {
        let svg = timeline.svg(&report);
        shown.file("timeline.svg", &svg);
    }
    if dice.one_in(100) {
        written(case, &report, &ledger, shown);
    }
    if dice.one_in(10) {
        let again = Passes::new(inputs, options, &|| false);
        let again = Report::new(inputs, &again, options, view);
        if text(|target| format::replay::write(&again, target)) != run {
            shown.found("differs", "a second replay gives another report");
        }
    }
}

/// A document in every format, none of which shows bytes of prompts.
fn document(what: &str, document: &Document, shown: &mut Shown<'_>) {
    for width in [120, 30] {
        let look = terminal::Look { width, colour: false };
        shown.file(&format!("{what} on a terminal"), &text(|target| terminal::write(document, look, target)));
    }
    shown.file(&format!("{what} as markdown"), &text(|target| markdown::write(document, target)));
    shown.table(&format!("{what} as csv"), &text(|target| csv::write(document, target)));
    shown.unplanted(&format!("{what} as json"), &text(|target| json::write(document, target)));
}

/// The folder contains the output, and can be read back.
fn written(case: &Case<'_>, report: &Report<'_>, ledger: &str, shown: &mut Shown<'_>) {
    let folder = match Folder::open(case.out, Contents::Replay, true, &[]) {
        Ok(folder) => folder,
        Err(error) => return shown.found("fault", format!("folder: {error}")),
    };
    if let Err(error) = folder.write(report, false) {
        return shown.found("fault", format!("folder: {error}"));
    }
    match RunFolder::read(case.out) {
        Ok(read) if read.lines.len() == ledger.lines().count() => {}
        Ok(_) => shown.found("differs", "the folder has other lines than the ledger"),
        Err(error) => shown.found("differs", format!("the folder does not read back: {error}")),
    }
}

fn explained(case: &Case<'_>, inputs: &Inputs, options: &Options, dice: &mut Dice, shown: &mut Shown<'_>) {
    let replay = replay(inputs, options);
    let report = Report::new(inputs, &replay, options, case.names);
    let entries = entries(inputs, &replay, options);
    if entries.is_empty() {
        return;
    }
    let entry = &entries[dice.below(entries.len())];
    if entry.exchange.is_none() {
        shown.object(format::explain::SCHEMA, &text(|target| format::explain::write_told(&report, entry, target)));
        return document("explain", &human::explain::transcript(&report, entry), shown);
    }
    let Ok(inspection) = inspect(inputs, options, entry.line.index) else { return };
    let explained = Explained::new(&report, &entries, entry, &inspection);
    shown.object(format::explain::SCHEMA, &text(|target| format::explain::write(&explained, false, target)));
    document("explain", &human::explain::document(&explained, false), shown);
    let windows = human::explain::document(&explained, true);
    shown.plain("explain with bytes", &text(|target| terminal::write(&windows, terminal::Look::default(), target)));
    shown.table("explain as csv", &text(|target| csv::write(&human::explain::tables(&explained), target)));
}

fn compared(case: &Case<'_>, inputs: &Inputs, dice: &mut Dice, shown: &mut Shown<'_>) {
    let exchanges: Vec<&Exchange> = inputs.exchanges().collect();
    if exchanges.is_empty() {
        return;
    }
    let [older, newer] = [(); 2].map(|()| *dice.pick(&exchanges));
    let (Ok(old), Ok(new)) = (body(older), body(newer)) else { return };
    let mut wire = Wire::default();
    let read = [(&old, older), (&new, newer)]
        .map(|(side, exchange)| wire.read_by(side.maker, &side.body, "diff", &exchange.model));
    let [Ok(one), Ok(other)] = read else { return };
    let comparison = compare(&wire, &one, &other);
    let rules = forkcast_sim::cache::Rules::default();
    let [one, other] = [one, other].map(|request| {
        let sizes = Pins::default().sizes(&request, &wire, None, None);
        Subject::new(0, request, sizes, &rules)
    });
    let Ok(notes) = spelling::notes(&old.body, &new.body, wire.forms()) else { return };
    let sides = Sides {
        wire: &wire,
        rules: &rules,
        older: &one,
        newer: &other,
        are_measured: false,
        comparison: &comparison,
        spelling: &notes,
        circumstances: Circumstances::default(),
        rates: None,
        prices: "list prices".to_owned(),
        titles: ["a", "b"],
        origin: (newer.chain.as_deref(), None),
        names: case.names,
    };
    shown.object(format::diff::SCHEMA, &text(|target| format::diff::write(&sides, false, target)));
    document("diff", &human::diff::document(&sides, false), shown);
    let windows = human::diff::document(&sides, true);
    shown.plain("diff with bytes", &text(|target| terminal::write(&windows, terminal::Look::default(), target)));
}

fn checked(case: &Case<'_>, shown: &mut Shown<'_>) {
    let rules = Rules { requests_per_day: Some(1_000), ..Rules::default() };
    let book = PriceBook::built_in();
    let recording = Recording {
        preset: rules.preset.name.to_owned(),
        prices: book.version().to_owned(),
        show_content: false,
        anonymous: case.names == Names::Anonymous,
    };
    let checking =
        Checking { rules: rules.clone(), prices: Some(book), recording: Some(recording), conformance: false };
    let mut check = Check::new(checking);
    let fed = match feed(case.paths, &ReadOptions::default(), &|_| true, &mut check) {
        Ok(fed) => fed,
        Err(error) => return shown.found("fault", format!("checking: {error}")),
    };
    let mut outcome = check.finish();
    outcome.report.warnings.extend(fed.remarks.told());
    if let Some(lock) = &outcome.lock {
        locked(lock, shown);
    }
    let origin = |origin: &forkcast_replay::exchange::Origin| told::Origin {
        file: origin.file.clone(),
        line: origin.line,
        index: Some(origin.index),
        chain: String::new(),
    };
    let check = told::Check {
        report: &outcome.report,
        rules: &rules,
        origins: &outcome.origins.iter().map(origin).collect::<Vec<_>>(),
        refused: &[],
        inputs: &fed.inputs,
        lock: told::Lock::Absent,
        card: &[],
        update: None,
        prices: "list prices".to_owned(),
        names: case.names,
        content: false,
        partial: false,
    };
    show_check(&check, shown);
}

/// Every form of a check.
pub fn show_check(check: &told::Check<'_>, shown: &mut Shown<'_>) {
    shown.object(format::check::SCHEMA, &text(|target| format::check::write(check, target)));
    shown.file("check as junit", &text(|target| format::check::junit::write(check, target)));
    shown.file("check as github", &text(|target| format::check::github::write(check, target)));
    shown.unplanted("check as sarif", &text(|target| format::check::sarif::write(check, target)));
    document("check", &human::check::document(check, false), shown);
    shown.table("check as csv", &text(|target| csv::write(&format::check::tables(check), target)));
    let windows = human::check::document(check, true);
    shown.plain("check with bytes", &text(|target| terminal::write(&windows, terminal::Look::default(), target)));
}

/// A lock read back is unchanged, and contains no prompt.
fn locked(lock: &Lock, shown: &mut Shown<'_>) {
    let printed = lock.text();
    shown.unplanted("lock", &printed);
    match Lock::parse(&printed) {
        Ok(read) if read.text() == printed => {}
        Ok(_) => shown.found("differs", "a lock that was read is printed otherwise"),
        Err(bad) => shown.found("differs", format!("a lock does not read back: {bad}")),
    }
}
