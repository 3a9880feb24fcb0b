//! The examples of the reports' README read a ledger by other programs, and find the same sums.
//!
//! A program that is not installed is skipped with a message: nothing is installed here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forkcast_fixtures::workspace;
use serde_json::Value;

use crate::program::{fine, folder, forkcast};

/// A folder with the sample's result.
fn place(name: &str) -> PathBuf {
    let place = folder(name);
    fine(&forkcast(&place, &["demo", "--quiet", "--out", "result"]));
    place
}

/// A sum over the lines of the ledger.
fn sum(place: &Path, of: impl Fn(&Value) -> f64) -> f64 {
    let ledger = fs::read_to_string(place.join("result/ledger.jsonl")).unwrap();
    ledger.lines().map(|line| of(&serde_json::from_str(line).unwrap())).sum()
}

/// The example in this language.
fn example(language: &str) -> String {
    let readme = fs::read_to_string(workspace().join("reports/README.md")).unwrap();
    let (_, rest) = readme.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// What a program prints; `None` if it is not installed.
fn printed(place: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(place).stdin(Stdio::null()).output();
    output.ok().filter(|output| output.status.success()).map(|output| fine(&output).to_owned())
}

/// The sum of the last column, which all examples have money in.
fn last_column(text: &str) -> f64 {
    text.lines().filter_map(|line| line.rsplit(',').next()?.parse::<f64>().ok()).sum()
}

/// Whether an example can be run.
fn is_installed(program: &str, arguments: &[&str]) -> bool {
    let found = printed(Path::new("."), program, arguments).is_some();
    if !found {
        eprintln!("skipped: {program} {} does not run here", arguments.join(" "));
    }
    found
}

#[test]
fn jq_sums_by_kind_of_agent() {
    if is_installed("jq", &["--version"]) {
        let place = place("data-jq");
        let text = printed(&place, "sh", &["-c", &example("sh")]).unwrap();
        assert!(text.starts_with("\"main\",12,"), "{text}");
        assert!((last_column(&text) - sum(&place, |line| line["cost_usd"].as_f64().unwrap())).abs() < 1e-9, "{text}");
    }
}

#[test]
fn pandas_sums_by_day() {
    if is_installed("python3", &["-c", "import pandas"]) {
        let place = place("data-pandas");
        let text = printed(&place, "python3", &["-c", &example("python")]).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("2026-11-0")).count(), 2, "{text}");
        assert!((last_column(&text) - sum(&place, |line| line["cost_usd"].as_f64().unwrap())).abs() < 1e-9, "{text}");
    }
}

#[test]
fn duckdb_sums_by_cause() {
    if is_installed("duckdb", &["--version"]) {
        let place = place("data-duckdb");
        let text = printed(&place, "duckdb", &["-csv", "-c", &example("sql")]).unwrap();
        assert!(text.lines().nth(1).unwrap().starts_with("tools_added,3187,"), "{text}");
        let missed = |line: &Value| line["cost_usd"].as_f64().unwrap() - line["perfect_cost_usd"].as_f64().unwrap();
        assert!((last_column(&text) - sum(&place, missed)).abs() < 1e-9, "{text}");
    }
}
