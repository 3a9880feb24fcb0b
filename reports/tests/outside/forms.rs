//! Every form of output of a replay and of a check.

use std::io;
use std::path::Path;

use forkcast_replay::check::{Check as Sink, Checking};
use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::source::feed;
use forkcast_reports::check::{self, Check, Lock};
use forkcast_reports::document::terminal::Look;
use forkcast_reports::document::{Document, csv, markdown, terminal};
use forkcast_reports::figures::timeline::Timeline;
use forkcast_reports::figures::{lanes, ribbon};
use forkcast_reports::format::check::{github, junit, sarif};
use forkcast_reports::format::{self, ledger, requests, tables};
use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_reports::report::{By, Report, View};
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::run::{self, play};
use forkcast_sim::guard::lock::Recording;

use crate::written::text;

/// A text and the form that it is in.
pub struct Form {
    pub name: &'static str,
    pub text: String,
}

fn form(name: &'static str, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Form {
    Form { name, text: text(write) }
}

/// A document for a terminal, as markdown and as tables.
pub fn of_document(document: &Document) -> [Form; 3] {
    let narrow = Look { width: 60, colour: false };
    [
        form("human", |target| terminal::write(document, narrow, target)),
        form("markdown", |target| markdown::write(document, target)),
        form("csv", |target| csv::write(document, target)),
    ]
}

/// What `replay` writes, on the screen and into a folder.
pub fn of_replay(inputs: &Inputs, names: Names) -> Vec<Form> {
    let options = Options::default();
    let replay = replay(inputs, &options);
    let view = |by| View { names, by: Some(by), ..View::default() };
    let report = Report::new(inputs, &replay, &options, view(By::Project));
    let mut forms = Vec::from(of_document(&human::replay::document(&report)));
    for by in [By::Model, By::Agent, By::Version] {
        let grouped = Report::new(inputs, &replay, &options, view(by));
        forms.extend(of_document(&human::replay::document(&grouped)));
    }
    forms.push(form("tables", |target| tables::write_all(&report, target)));
    forms.push(form("json", |target| format::replay::write(&report, target)));
    forms.push(form("requests.csv", |target| requests::begin(target)));
    let mut drawn = Timeline::of(&report);
    report.each(&mut |entry| {
        drawn.add(&report, entry);
        forms.push(form("ledger.jsonl", |target| ledger::write(&report, entry, target)));
        forms.push(form("requests.csv", |target| requests::write(&report, entry, target)));
    });
    forms.push(Form { name: "svg", text: drawn.svg(&report) });
    forms
}

/// What `run` writes, on the screen and into a folder.
pub fn of_run(scenario: Scenario) -> Vec<Form> {
    let run = play(scenario, &run::Options::default());
    let failures = vec!["a ` claim did not hold".to_owned()];
    let mut forms = Vec::from(of_document(&human::run::document(&run, &failures)));
    forms.push(form("json", |target| format::run::write(&run, &failures, target)));
    forms.push(form("requests.csv", |target| requests::write_run(&run, target)));
    forms.push(form("ledger.jsonl", |target| ledger::simulated::write(&run, true, target)));
    forms.push(Form { name: "svg", text: lanes::svg(&run) });
    forms.push(Form { name: "svg", text: ribbon::svg(&run) });
    forms
}

/// The output of `check` for the file at `path`, with a lock.
pub fn of_check(path: &Path, names: Names) -> Vec<Form> {
    let recording = Recording {
        preset: "docs-2026-09".into(),
        prices: String::new(),
        show_content: false,
        anonymous: names == Names::Anonymous,
    };
    let checking = Checking { recording: Some(recording), ..Checking::default() };
    let rules = checking.rules.clone();
    let mut sink = Sink::new(checking);
    let fed = feed(&[path], &ReadOptions::default(), &|_| true, &mut sink).unwrap();
    let outcome = sink.finish();
    let origins: Vec<check::Origin> = outcome
        .origins
        .iter()
        .map(|origin| check::Origin {
            file: origin.file.clone(),
            line: origin.line,
            index: Some(origin.index),
            chain: String::new(),
        })
        .collect();
    let check = Check {
        report: &outcome.report,
        rules: &rules,
        origins: &origins,
        refused: &[],
        inputs: &fed.inputs,
        lock: Lock::Held { file: "forkcast.lock".into(), chains: 1, requests: outcome.origins.len() },
        card: &[],
        update: None,
        prices: String::new(),
        names,
        content: false,
        partial: false,
    };
    let mut forms = Vec::from(of_document(&human::check::document(&check, false)));
    forms.extend(of_document(&format::check::tables(&check)));
    forms.push(form("check.json", |target| format::check::write(&check, target)));
    forms.push(form("junit", |target| junit::write(&check, target)));
    forms.push(form("github", |target| github::write(&check, target)));
    forms.push(form("sarif", |target| sarif::write(&check, target)));
    forms
}
