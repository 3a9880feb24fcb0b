//! Bugs that users reported, each as its page lists it: caught or rightly silent, with the cause, the place and the kind
//! of volatile content.

use std::path::PathBuf;

use forkcast_fixtures::beside;
use serde_json::Value;

use super::bodies::{folder, json};

/// A row of the table of bugs.
struct Bug {
    id: String,
    verdict: String,
    causes: Vec<String>,
    place: String,
    volatile: Option<String>,
}

fn bugs() -> Option<(PathBuf, Vec<Bug>)> {
    let folder = beside("real-bugs")?;
    let page = std::fs::read_to_string(folder.join("README.md")).ok()?;
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    Some((folder, rows.map(bug).collect()))
}

fn bug(row: &str) -> Bug {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    Bug {
        id: cells[0].trim_matches('`').to_owned(),
        verdict: cells[3].to_owned(),
        causes: cells[4].split(", ").map(str::to_owned).collect(),
        place: cells[5].to_owned(),
        volatile: Some(cells[6]).filter(|word| *word != "–").map(str::to_owned),
    }
}

impl Bug {
    fn is_cause(&self, word: &Value) -> bool {
        self.causes.iter().any(|cause| word == cause)
    }

    /// What is wrong with the results; `None` if they are right.
    fn fault(&self, check: &Value) -> Option<&'static str> {
        let list = |key: &str| check[key].as_array().cloned().unwrap_or_default();
        let fails = |found: &&Value| found["verdict"] == "fails";
        let (findings, notes, violations) = (list("findings"), list("notes"), list("violations"));
        if self.verdict.starts_with("healthy") || self.verdict.starts_with("by model") {
            let note = if self.verdict.contains("envelope") { "envelope" } else { "spelling" };
            let is_noted = self.place.is_empty() || notes.iter().any(|noted| noted["note"] == note);
            let is_silent = !findings.iter().any(|found| fails(&found)) && violations.is_empty();
            return (!is_silent).then_some("false alarm").or((!is_noted).then_some("no note"));
        }
        if self.causes == ["refused"] {
            let is_there = |what: &Value| what["what"].as_str().is_some_and(|what| what.contains(&self.place));
            return (!violations.iter().any(is_there)).then_some("not caught");
        }
        let is_sibling = self.verdict == "siblings";
        let is_meant = |found: &&Value| if is_sibling { found["rule"] == "siblings_differ" } else { fails(found) };
        let failing: Vec<&Value> = findings.iter().filter(is_meant).collect();
        let is_named = |found: &Value| {
            let path = found["path"].as_str().unwrap_or_default();
            self.is_cause(&found["cause"]) && path.starts_with(&self.place)
        };
        let varies = |found: &Value| self.volatile.as_ref().is_none_or(|word| &found["volatile"] == word);
        if failing.is_empty() {
            Some("not caught")
        } else if !failing.iter().any(|found| is_named(found)) {
            Some("named otherwise")
        } else if !failing.iter().any(|found| is_named(found) && varies(found)) {
            Some("what varies is named otherwise")
        } else {
            failing.iter().any(|found| !self.is_cause(&found["cause"])).then_some("named otherwise as well")
        }
    }
}

#[test]
fn real_bugs_are_caught_and_named_as_their_reports_name_them() {
    let Some((place, bugs)) = bugs() else { return };
    let out = folder("reported");
    println!("| bug | expected | place | found |\n|---|---|---|---|");
    let mut faults = Vec::new();
    for bug in &bugs {
        let check = json(&out, &["check", place.join(&bug.id).to_str().unwrap(), "--quiet", "--lock", "none"]);
        let fault = bug.fault(&check);
        println!("| {} | {} | {} | {} |", bug.id, bug.causes.join(", "), bug.place, fault.unwrap_or("right"));
        faults.extend(fault.map(|fault| (bug.id.as_str(), fault)));
    }
    assert_eq!(bugs.len(), 45);
    assert!(faults.is_empty(), "{faults:?}");
}
