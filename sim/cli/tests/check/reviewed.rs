//! A review of a lock: changes are accepted one by one, also without a terminal.

use std::fs;
use std::path::Path;

use super::bodies::{CALM, Turn, code, folder, forkcast, stderr, stdout, write};

/// Two agents whose prompts are locked, and then both change.
fn changed(name: &str) -> std::path::PathBuf {
    let place = folder(name);
    let agents = |turn: Turn| {
        write(&place.join("bodies/main"), &[turn; 2]);
        write(&place.join("bodies/reader"), &[turn; 2]);
    };
    agents(CALM);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    agents(Turn { tool: "Reads one file", ..CALM });
    place
}

fn lock(place: &Path) -> String {
    fs::read_to_string(place.join("forkcast.lock")).unwrap()
}

#[test]
fn a_review_lists_what_changed_and_writes_what_is_accepted() {
    let place = changed("review");
    let before = lock(&place);
    let output = forkcast(&place, &["lock", "bodies", "--review"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).starts_with("forkcast.lock: 2 changes, 0 accepted, 2 open"), "{}", stdout(&output));
    assert!(stdout(&output).contains("tool_changed tools[0]"), "{}", stdout(&output));
    assert!(stderr(&output).contains("not accepted: main:0, reader:0;"), "{}", stderr(&output));
    assert_eq!(lock(&place), before);

    let output = forkcast(&place, &["lock", "bodies", "--review", "--accept", "reader"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("2 changes, 1 accepted, 1 open"), "{}", stdout(&output));
    assert!(stderr(&output).contains("not accepted: main:0;"), "{}", stderr(&output));
    let output = forkcast(&place, &["check", "bodies", "--locked"]);
    assert_eq!(code(&output), 1);
    let told = stdout(&output);
    assert!(told.contains("chain `main`, against the lock") && !told.contains("chain `reader`, against"), "{told}");

    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "--review", "--accept", "all"])), 0);
    assert_eq!(code(&forkcast(&place, &["check", "bodies", "--locked"])), 0);
    let reviewed = lock(&place);
    let output = forkcast(&place, &["lock", "bodies", "--review"]);
    assert_eq!((code(&output), stdout(&output).trim()), (0, "forkcast.lock: nothing changed"));
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    assert_eq!(lock(&place), reviewed, "all accepted is the lock as it is written without a review");
}

#[test]
fn a_chain_that_is_gone_stays_locked_until_that_is_accepted() {
    let place = changed("review-gone");
    fs::remove_dir_all(place.join("bodies/reader")).unwrap();
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "--review", "--accept", "main"])), 1);
    assert!(lock(&place).contains("name = \"reader\""));
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "--review", "--accept", "reader"])), 0);
    assert!(!lock(&place).contains("name = \"reader\""));
    assert_eq!(code(&forkcast(&place, &["check", "bodies", "--locked"])), 0);
}

/// One change of two in a chain: the lock has the request that was accepted, and the other as it was.
#[test]
fn a_change_of_one_request_is_accepted_and_another_rejected() {
    let place = folder("review-one");
    let turns = |second: Turn, third: Turn| write(&place.join("bodies/main"), &[CALM, second, third]);
    turns(CALM, CALM);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    turns(Turn { tool: "Reads one file", ..CALM }, Turn { day: "Monday", ..CALM });
    let output = forkcast(&place, &["lock", "bodies", "--review", "--accept", "main:2"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("2 changes, 1 accepted, 1 open"), "{}", stdout(&output));
    assert!(stderr(&output).contains("not accepted: main:1;"), "{}", stderr(&output));
    let output = forkcast(&place, &["check", "bodies", "--locked", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let differing: Vec<u64> =
        findings.filter(|found| found["rule"] == "equality").map(|found| found["request"].as_u64().unwrap()).collect();
    assert_eq!(differing, [1], "{}", stdout(&output));
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "--review", "--accept", "main:1"])), 0);
    let reviewed = lock(&place);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    assert_eq!(lock(&place), reviewed, "all accepted, one by one, is the lock as it is written without a review");
}

#[test]
fn only_chains_that_changed_can_be_accepted() {
    let place = changed("review-unknown");
    let output = forkcast(&place, &["lock", "bodies", "--review", "--accept", "writer"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("--accept writer: expected a change or its chain: main:0, reader:0"),
        "{}",
        stderr(&output)
    );
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "--accept", "main"])), 2, "--accept belongs to a review");
}

#[test]
fn locked_needs_a_lock_and_fails_on_every_difference() {
    let place = changed("locked-flag");
    assert_eq!(code(&forkcast(&place, &["check", "bodies"])), 0, "by default differences are notes");
    assert_eq!(code(&forkcast(&place, &["check", "bodies", "--locked"])), 1);
    fs::remove_file(place.join("forkcast.lock")).unwrap();
    let output = forkcast(&place, &["check", "bodies", "--locked"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("--locked compares with a lock, and there is none"), "{}", stderr(&output));
}
