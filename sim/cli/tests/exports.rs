//! Files of viewers, read by parsers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{folder, forkcast};

/// A file that the sample is written as.
fn exported(place: &Path, options: &[&str]) -> String {
    let arguments: Vec<&str> = ["demo", "--quiet"].into_iter().chain(options.iter().copied()).collect();
    let output = forkcast(place, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(place.join(options[1])).unwrap()
}

fn totals(place: &Path, arguments: &[&str]) -> Value {
    let output = forkcast(place, arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["totals"].clone()
}

#[test]
fn calls_of_a_thread_never_overlap_and_all_are_there() {
    let trace: Value = serde_json::from_str(&exported(&folder("trace"), &["--trace", "t.json"])).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut ends: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut requests = 0;
    for event in events {
        let number = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("{name}: {event}"));
        let key = (number("pid"), number("tid"));
        match event["ph"].as_str().unwrap() {
            "X" => {
                let end = ends.entry(key).or_default();
                assert!(number("ts") >= *end, "{event}");
                *end = number("ts") + number("dur");
                requests += 1;
            }
            "b" => requests += 1,
            "e" | "s" | "f" | "M" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(requests, 14);
    let named = events.iter().filter(|event| event["name"] == "thread_name");
    let names: Vec<&str> = named.map(|event| event["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["main", "review-1", "review-2"]);
    assert_eq!(events.iter().filter(|event| event["ph"] == "s").count(), 2, "both reviews were started");
}

#[test]
fn stacks_add_up_to_the_bill_and_to_the_tokens() {
    let place = folder("stacks");
    let sum =
        |text: &str| -> i64 { text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap()).sum() };
    let money = exported(&place, &["--stacks", "usd.txt"]);
    let bill = totals(&place, &["demo", "--format", "json"])["recorded"].clone();
    let micros = bill["cost_usd"].as_f64().unwrap() * 1e6;
    assert!((sum(&money) as f64 - micros).abs() <= money.lines().count() as f64, "{} and {micros}", sum(&money));
    assert!(money.lines().all(|line| line.split(';').count() >= 5), "{money}");
    assert!(money.contains(";main;review-1;claude-opus-4-8;write 5m "), "{money}");
    let tokens = exported(&place, &["--stacks", "tokens.txt", "--stacks-by", "tokens"]);
    let all: i64 = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]
        .iter()
        .map(|name| bill[name].as_i64().unwrap())
        .sum();
    assert_eq!(sum(&tokens), all);
}

#[test]
fn spans_are_read_back_with_the_same_tokens() {
    let place = folder("spans");
    let text = exported(&place, &["--otlp", "spans.json"]);
    assert!(!text.contains("You are"), "no text of prompts");
    let written = totals(&place, &["demo", "--format", "json"])["recorded"].clone();
    let read = totals(&place, &["replay", "spans.json", "--format", "json"])["recorded"].clone();
    for name in ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"] {
        assert_eq!(read[name], written[name], "{name}");
    }
}

#[test]
fn files_that_are_not_ours_stay() {
    let place = folder("foreign-exports");
    for option in ["--html", "--trace", "--stacks", "--otlp"] {
        fs::write(place.join("mine"), "my own notes").unwrap();
        let output = forkcast(&place, &["demo", option, "mine"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert_eq!(fs::read_to_string(place.join("mine")).unwrap(), "my own notes");
    }
    // Our own page is replaced.
    for _ in 0..2 {
        assert!(forkcast(&place, &["demo", "--html", "page.html"]).status.success());
    }
}
