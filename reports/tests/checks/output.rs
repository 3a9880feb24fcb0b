//! Output for people and programs.

use forkcast_reports::check::{Check, Lock};
use forkcast_reports::document::terminal::{self, Look};
use forkcast_reports::format::SCHEMAS;
use forkcast_reports::format::check::{self, github};
use forkcast_reports::human;
use forkcast_sim::guard::Rules;
use serde_json::Value;

use super::captures::{CALM, Checked, Turn, restless};
use crate::written::text;

fn human(check: &Check<'_>) -> String {
    text(|target| terminal::write(&human::check::document(check, true), Look::default(), target))
}

fn json(check: &Check<'_>) -> Value {
    serde_json::from_str(&text(|target| check::write(check, target))).unwrap()
}

#[test]
fn json_matches_its_schema() {
    let (_, schema) = SCHEMAS.iter().find(|(name, _)| *name == check::SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let rules = Rules { requests_per_day: Some(1_000), ..Rules::default() };
    let checked = [
        Checked::of(&restless(), rules).with_everything(),
        Checked::of(&[CALM, CALM], Rules::default()),
        Checked::of(&[], Rules::default()),
    ];
    for checked in &checked {
        for check in [checked.check(), Check { content: true, lock: Lock::Absent, partial: true, ..checked.check() }] {
            let value = json(&check);
            let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:#?}");
        }
    }
}

#[test]
fn a_finding_has_its_price_a_day() {
    let checked = Checked::of(&restless(), Rules { requests_per_day: Some(1_000), ..Rules::default() });
    let value = json(&checked.check());
    let finding = &value["findings"][0];
    let usd = |field: &str| finding[field].as_f64().unwrap();
    assert!(usd("cost_usd") > 0.0 && (usd("cost_usd_per_day") - 1_000.0 * usd("cost_usd")).abs() < 1e-9);
    assert_eq!(finding["file"], "bodies/001.json");
    assert_eq!(finding["verdict"], "fails");
    assert_eq!(finding["volatile"], "date");
    let without = Checked::of(&restless(), Rules::default());
    assert!(json(&without.check())["findings"][0]["cost_usd_per_day"].is_null());
}

#[test]
fn people_read_the_change_its_cause_and_its_cost() {
    let checked = Checked::of(&restless(), Rules { requests_per_day: Some(1_000), ..Rules::default() });
    let shown = human(&checked.check()).split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "system_changed: system text",
        "Request 1 (bodies/001.json) of chain `main`, against request 0 (bodies/000.json)",
        "At system[1], first differing byte",
        "older ",
        "volatile content: date",
        "per day with 1,000 such requests",
        "calls it `system_changed`",
        "How to fix it:",
        "Score",
    ] {
        assert!(shown.contains(said), "{said}\n{shown}");
    }
}

#[test]
fn a_calm_conversation_is_reported_in_few_lines() {
    let checked = Checked::of(&[CALM, CALM, CALM], Rules::default());
    let shown = human(&checked.check());
    assert!(shown.starts_with("every prefix is kept: 3 requests of 1 chain"), "{shown}");
    assert!(!shown.contains("older  "), "{shown}");
}

#[test]
fn requests_after_the_first_are_counted() {
    let dates = ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"];
    let dates = dates.map(|day| Turn { date: Box::leak(format!("2026-11-{day}").into_boxed_str()), ..CALM });
    let checked = Checked::of(&dates, Rules::default());
    let shown = human(&checked.check());
    assert!(shown.contains("The same in 10 more requests: 2, 3, 4, 5, 6, 7, 8, 9, …."), "{shown}");
}

#[test]
fn annotations_are_one_line_each() {
    let checked = Checked::of(&restless(), Rules::default()).with_everything();
    let told = text(|target| github::write(&checked.check(), target));
    let kinds = checked.check().kinds().len();
    assert_eq!(told.lines().filter(|line| line.starts_with("::error file=bodies/00")).count(), kinds + 1, "{told}");
    for line in told.lines() {
        let (command, _) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        assert!(["error ", "warning ", "notice "].iter().any(|word| command.starts_with(word)), "{line}");
        assert!(command.contains("title="), "{line}");
    }
    assert!(told.contains("100 %25 <new>"), "{told}");
}
