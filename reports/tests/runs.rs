//! Runs of scenarios as machines read them, and the schema that editors read.

use forkcast_reports::document::{json, terminal};
use forkcast_reports::figures::lanes;
use forkcast_reports::format::{self, SCENARIO, ledger::simulated};
use forkcast_reports::human;
use forkcast_scenarios::catalog;
use forkcast_scenarios::format::tree::Node;
use forkcast_scenarios::run::{Options, Run, play};
use serde_json::Value;

use crate::written::{errors, text, validator};

fn run(name: &str) -> Run {
    play(catalog::find(name).unwrap().read(&[]).unwrap(), &Options::default())
}

#[test]
fn runs_and_their_ledgers_follow_their_schemas() {
    let (of_run, of_line) = (validator("forkcast.run/1"), validator("forkcast.ledger/1"));
    for entry in catalog::all() {
        let run = run(&entry.name);
        let value: Value = serde_json::from_str(&text(|target| format::run::write(&run, &[], target))).unwrap();
        assert_eq!(errors(&of_run, &value), Vec::<String>::new(), "{}", entry.name);
        let ledger = text(|target| simulated::write(&run, true, target));
        assert_eq!(ledger.lines().count(), run.requests.len());
        for line in ledger.lines() {
            assert_eq!(errors(&of_line, &serde_json::from_str(line).unwrap()), Vec::<String>::new(), "{}", entry.name);
        }
    }
}

/// Agents add up to the totals, to the last unit.
#[test]
fn sums_of_a_run_are_whole() {
    let run = run(catalog::DEFAULT);
    let value: Value = serde_json::from_str(&text(|target| format::run::write(&run, &[], target))).unwrap();
    let totals = run.totals();
    let parts = run.sums_of_agents().into_iter();
    let cost = parts.filter_map(|part| part.cost).reduce(|one, other| one + other);
    assert_eq!(totals.cost, cost);
    assert_eq!(value["totals"]["requests"], run.requests.len());
}

#[test]
fn people_see_agents_lanes_and_laws() {
    let run = run(catalog::DEFAULT);
    let document = human::run::document(&run, &[]);
    let said = text(|target| terminal::write(&document, terminal::Look::default(), target));
    for part in ["fork#1", "█", "░", "Laws held", "without a cache"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let failed = human::run::document(&run, &["something else".to_owned()]);
    let said = text(|target| terminal::write(&failed, terminal::Look::default(), target));
    assert!(said.contains("Failed expectations") && said.contains("something else"));
    assert!(lanes::svg(&run).contains("fork#1"));
}

#[test]
fn scenarios_are_listed_with_their_claims() {
    let text = text(|target| json::write(&human::list::scenarios(), target));
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(errors(&validator("forkcast.list/1"), &value), Vec::<String>::new());
    assert!(value["scenarios"].as_array().unwrap().iter().all(|row| row["claim"].as_str().unwrap().len() > 20));
}

#[test]
fn every_scenario_of_the_catalog_follows_the_schema() {
    let validator = validator(SCENARIO);
    for entry in catalog::all() {
        let value = Node::read(entry.text).unwrap().json();
        assert_eq!(errors(&validator, &value), Vec::<String>::new(), "{}", entry.name);
        let mut wrong = value.clone();
        wrong["sesion"] = Value::Null;
        assert!(!errors(&validator, &wrong).is_empty());
    }
}
