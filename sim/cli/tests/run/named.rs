//! A run with bodies is a recording of its own: every verb names its folder, not the scenario that made it.

use std::fs;

use super::{folder, forkcast, json, stdout};

const SCENARIO: &str = "fan-out";

#[test]
fn every_verb_names_the_folder_of_a_run() {
    let place = folder("named-folder");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);

    let replayed = json(&forkcast(&place, &["replay", "r", "--quiet", "--format", "json"]));
    assert_eq!(replayed["options"]["paths"], serde_json::json!(["r"]));
    assert_eq!(replayed["inputs"]["files"], 36);
    let session = &replayed["sessions"][0];
    assert_eq!([&session["id"], &session["source"], &session["project"]], ["r"; 3]);
    let shown = forkcast(&place, &["replay", "r", "--quiet"]);
    assert!(stdout(&shown).contains("Read 36 files, ") && stdout(&shown).contains(" below r/"), "{}", stdout(&shown));

    let explained = forkcast(&place, &["explain", "r", "20", "--quiet"]);
    assert!(stdout(&explained).starts_with("Request 20, 00020.json: "), "{}", stdout(&explained));
    let by_name = forkcast(&place, &["explain", "r", "00020.json", "--quiet"]);
    assert_eq!(stdout(&by_name), stdout(&explained));

    let check = json(&forkcast(&place, &["check", "r", "--lock", "none", "--quiet", "--format", "json"]));
    let all = [replayed, check].map(|document| document.to_string()).concat() + stdout(&shown) + stdout(&explained);
    assert!(!all.contains(SCENARIO), "{all}");
}

#[test]
fn requests_of_a_run_folder_are_compared_by_their_numbers() {
    let place = folder("named-compared");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);
    let by_number = forkcast(&place, &["diff", "r#3", "r#4", "--format", "json"]);
    let by_file = forkcast(&place, &["diff", "r/bodies/00003.json", "r/bodies/00004.json", "--format", "json"]);
    assert_eq!(json(&by_number)["findings"], json(&by_file)["findings"]);
}

/// The replay of a run lists the folder, so that it can be replayed and explained again.
#[test]
fn a_replay_of_a_run_finds_its_requests_again() {
    let place = folder("named-again");
    forkcast(&place, &["run", "--out", "r", "--bodies", "--quiet"]);
    forkcast(&place, &["replay", "r", "--out", "again", "--quiet"]);
    let twice = |run| forkcast(&place, &["replay", run, "--quiet", "--format", "jsonl"]).stdout;
    assert_eq!(twice("again"), twice("r"));
    fs::remove_dir_all(place.join("r/bodies")).unwrap();
    let lost = forkcast(&place, &["explain", "again", "3"]);
    assert_eq!(lost.status.code(), Some(2));
    let said = String::from_utf8(lost.stderr).unwrap();
    assert!(said.contains("r: a run of a scenario without its requests"), "{said}");
}
