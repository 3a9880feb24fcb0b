//! Scenarios, price books, rules, locks and bodies: other input from outside.

use forkcast_reports::check as told;
use forkcast_reports::document::terminal;
use forkcast_reports::format::{self, ledger::simulated};
use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_scenarios::expect;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::format::{Limits, Scenario};
use forkcast_scenarios::run::{Options, Run, play};
use forkcast_sim::diagnosis::compare;
use forkcast_sim::guard::lock::{self, Lock, changes};
use forkcast_sim::guard::{Report, Rules};
use forkcast_sim::pricing::{Category, ModelKey, PriceBook, Terms};
use forkcast_sim::wire::model::MODELS;
use forkcast_sim::wire::{Wire, spelling};

use super::recordings::show_check;
use super::shown::{Shown, text};

/// The limit of runs, because mutated scripts may never end.
const TURNS_MAX: u64 = 60;
const STEPS_MAX: u64 = 50_000;

/// A scenario, and its run if it is one.
pub fn scenario(source: &str, shown: &mut Shown<'_>) {
    // Mistakes are printed on standard error, where the program makes hidden characters visible.
    let Ok(mut scenario) = Scenario::read("case", "case.yaml", source, &[]) else { return };
    let Limits { steps, turns, until_ms } = scenario.limits;
    scenario.limits = Limits {
        steps: Some(steps.unwrap_or(STEPS_MAX).min(STEPS_MAX)),
        turns: Some(turns.unwrap_or(TURNS_MAX).min(TURNS_MAX)),
        until_ms,
    };
    let run = play(scenario, &Options::default());
    if run.ends == Ends::LawBroken {
        shown.found("fault", run.message.as_deref().unwrap_or_default());
    }
    show_run(&run, shown);
}

fn show_run(run: &Run, shown: &mut Shown<'_>) {
    let failures: Vec<String> = expect::failures(run).iter().map(ToString::to_string).collect();
    shown.object(format::run::SCHEMA, &text(|target| format::run::write(run, &failures, target)));
    let ledger = text(|target| simulated::write(run, true, target));
    ledger.lines().for_each(|line| shown.object(format::ledger::SCHEMA, line));
    if ledger.lines().count() != run.requests.len() {
        shown.found("law", "the ledger of a run has other lines than the run has requests");
    }
    shown.table("requests of a run", &text(|target| format::requests::write_run(run, target)));
    let document = human::run::document(run, &failures);
    shown.plain("run", &text(|target| terminal::write(&document, terminal::Look::default(), target)));
    let totals = run.totals();
    let parts = run.sums_of_agents().into_iter();
    if parts.filter_map(|part| part.cost).reduce(|one, other| one + other) != totals.cost {
        shown.found("law", "the cost of agents differs from the cost of the run");
    }
}

/// A price book: its text about each model, and that it can be read back.
pub fn book(source: &str, shown: &mut Shown<'_>) {
    let Ok(book) = PriceBook::built_in().with_file("case.toml", source) else { return };
    for model in MODELS {
        let terms = Terms { prompt_tokens: 300_000, ..Terms::default() };
        let Ok(rates) = book.rates(&ModelKey::from(model.id), &terms) else { continue };
        for category in Category::ALL {
            if rates.line(category, 1 << 53) < rates.line(category, 1) {
                shown.found("law", "more tokens cost less");
            }
        }
    }
    match PriceBook::parse(&book.to_toml()) {
        Ok(again) if again.to_toml() == book.to_toml() => {}
        Ok(_) => shown.found("differs", "a price book that was read is printed otherwise"),
        Err(bad) => shown.found("differs", format!("a price book does not read back: {bad}")),
    }
}

/// Rules of the guard: they are read, or the error has a text.
pub fn rules(source: &str, shown: &mut Shown<'_>) {
    if Rules::from_toml(source).is_err_and(|bad| bad.found.is_empty() || bad.expected.is_empty()) {
        shown.found("fault", "rules are refused without a word");
    }
}

/// A lock against the one that it was made of.
pub fn lock(source: &str, whole: &Lock, shown: &mut Shown<'_>) {
    let Ok(new) = Lock::parse(source) else { return };
    let rules = Rules::default();
    let mut report = Report::default();
    for (old, new) in [(whole, &new), (&new, whole)] {
        let _ = changes(old, new);
        report.violations.extend(lock::budget(old, new, &rules.budget));
        report.findings.extend(lock::sharing(old, new, &rules));
        report.set_score(&rules);
        lock::equality(old, new, &rules).report(&rules, &mut report);
    }
    let check = told::Check {
        report: &report,
        rules: &rules,
        origins: &[],
        refused: &[],
        inputs: &forkcast_replay::input::Inputs::default(),
        lock: told::Lock::Held { file: "case.lock".into(), chains: new.chains.len(), requests: new.requests() },
        card: &[],
        update: Some(&changes(whole, &new)),
        prices: "list prices".to_owned(),
        names: Names::Plain,
        content: false,
        partial: false,
    };
    show_check(&check, shown);
    let printed = new.text();
    if Lock::parse(&printed).map(|read| read.text()).ok().as_ref() != Some(&printed) {
        shown.found("differs", "a lock that was read does not read back");
    }
}

/// A body after another one.
pub fn body(older: &[u8], newer: &[u8], shown: &mut Shown<'_>) {
    let mut wire = Wire::default();
    let read = [older, newer].map(|body| wire.read(body, "scope", ""));
    for refused in read.iter().filter_map(|read| read.as_ref().err()) {
        shown.file("the error in a body", &refused.to_string());
    }
    let [Ok(one), Ok(other)] = read else { return };
    let comparison = compare(&wire, &one, &other);
    let notes = spelling::notes(older, newer, wire.forms());
    if older == newer && (!comparison.differences.is_empty() || notes.is_ok_and(|notes| !notes.is_empty())) {
        shown.found("law", "a body differs from itself");
    }
}
