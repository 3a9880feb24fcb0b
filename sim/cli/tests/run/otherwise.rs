//! Recorded sessions with agents that are built otherwise.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{code, command, folder, forkcast, json, said};

/// A session of two turns, ten minutes apart: everything is written twice for five minutes.
fn session(place: &Path) {
    let user = |id: &str, after: &str, minute: u32, text: &str| {
        format!(
            r#"{{"type":"user","sessionId":"s","uuid":"{id}","parentUuid":{after},"timestamp":"2026-07-01T10:{minute:02}:00.000Z","cwd":"/home/me/p","version":"2.1.150","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let answer = |id: &str, after: &str, minute: u32, written: u32| {
        format!(
            r#"{{"type":"assistant","sessionId":"s","uuid":"{id}","parentUuid":"{after}","timestamp":"2026-07-01T10:{minute:02}:04.000Z","cwd":"/home/me/p","version":"2.1.150","requestId":"r{id}","message":{{"id":"m{id}","model":"claude-opus-4-8","role":"assistant","type":"message","stop_reason":"end_turn","content":[{{"type":"text","text":"Yes."}}],"usage":{{"input_tokens":3,"cache_creation_input_tokens":{written},"cache_read_input_tokens":0,"output_tokens":40}}}}}}"#
        )
    };
    let lines = [
        user("a", "null", 0, "Well?"),
        answer("b", "a", 0, 20_000),
        user("c", r#""b""#, 10, "And now?"),
        answer("d", "c", 10, 20_100),
    ];
    fs::write(place.join("session.jsonl"), lines.join("\n") + "\n").unwrap();
}

/// By hand: for an hour the second request reads 20,000 tokens and writes 100; for five minutes it writes 20,100.
#[test]
fn each_change_of_a_recorded_session_is_a_row_and_all_together_are_the_last() {
    let place = folder("run-otherwise");
    session(&place);
    let run =
        ["run", "--recording", "session.jsonl", "--quiet", "--ttl", "1h", "--breakpoints", "tail", "--format", "json"];
    let played = json(&forkcast(&place, &run));
    let rows = played["what_if"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["breakpoints=tail", "ttl=1h", "breakpoints=tail,ttl=1h"]);
    let hour = &rows[1];
    assert_eq!(
        (&hour["keeps_answers"], &hour["answers_left_out"], &hour["requests"]),
        (&true.into(), &0.into(), &2.into())
    );
    let read = hour["cache_read_input_tokens"].as_u64().unwrap();
    assert!((20_000..=20_003).contains(&read), "{hour:#}");
    // The runtime shares a prompt's tokens among its blocks, so a few are off. 40,100 × $6.25 becomes about 20,100 × $10 and 20,000 × $0.5 a million, with 6 × $5 plain and 80 × $25 output.
    assert!((played["simulated"]["cost_usd"].as_f64().unwrap() - 0.252_655).abs() < 0.000_5, "{played:#}");
    assert!((hour["cost_usd"].as_f64().unwrap() - 0.213_030).abs() < 0.000_5, "{hour:#}");
    assert!((hour["delta_usd"].as_f64().unwrap() + 0.039_625).abs() < 0.000_5, "{hour:#}");
    assert_eq!([&hour["delta_makespan_ms"], &hour["makespan_ms"]].map(Value::as_f64), [Some(0.0), Some(604_000.0)]);
    for words in ["recorded", "modelled", "unknown"] {
        assert_eq!(rows[2][words].as_array().unwrap().len(), 2, "{words}");
    }
}

#[test]
fn the_table_fits_a_narrow_terminal_and_says_what_it_rests_on() {
    let place = folder("run-otherwise-table");
    session(&place);
    let run = ["run", "--recording", "session.jsonl", "--ttl", "1h", "--with", "forks", "--quiet"];
    let output = command(&place, &run).env("COLUMNS", "80").output().unwrap();
    let shown = said(&output);
    assert_eq!(shown.0, 0, "{}", shown.2);
    for part in [
        "(as recorded)",
        "(as played)",
        "ttl=1h",
        "(all together)",
        "Every recorded answer still fits its request",
        "Answers would differ",
        "Unknown: what an agent that knows its parent's history would have done",
    ] {
        assert!(shown.1.contains(part), "{part}: {}", shown.1);
    }
    assert!(shown.1.lines().all(|line| line.chars().count() <= 80), "{}", shown.1);
}

#[test]
fn what_a_recording_cannot_show_is_an_error() {
    let place = folder("run-otherwise-mistakes");
    session(&place);
    for (options, part) in [
        (&["--tools-sorted"][..], "a transcript has no tools"),
        (&["--model", "Explore=claude-haiku-4-5"], "found agent `Explore`, expected one of: main, all"),
        (&["--model", "claude-haiku-4-5"], "AGENT=MODEL"),
        (&["--agents-serial", "--launch", "primed"], "--launch"),
    ] {
        let output = forkcast(&place, &[&["run", "--recording", "session.jsonl"], options].concat());
        assert_eq!(code(&output), 2, "{options:?}");
        assert!(said(&output).2.contains(part), "{options:?}: {}", said(&output).2);
    }
    // What asks in the files of these clients is not read.
    for client in ["codex.jsonl", "pi.jsonl"] {
        let path = forkcast_fixtures::fixture(client);
        let output = forkcast(&place, &["run", "--recording", path.to_str().unwrap()]);
        let refused = said(&output).2.contains("what asked for 3 of 3 answers was not found");
        assert!(code(&output) == 2 && refused, "{client}: {}", said(&output).2);
    }
    let without = forkcast(&place, &["run", "--with", "forks"]);
    assert!(code(&without) == 2 && said(&without).2.contains("--recording"), "{}", said(&without).2);
}

/// Recorded requests keep their bytes: the same log with another lifetime, and with sorted tools.
#[test]
fn recorded_requests_are_sent_otherwise() {
    let place = folder("run-otherwise-requests");
    assert_eq!(code(&forkcast(&place, &["run", "forks/fan-out", "--quiet", "--bodies", "--out", "r"])), 0);
    let run =
        ["run", "--recording", "r/exchanges.jsonl", "--quiet", "--format", "json", "--ttl", "1h", "--tools-sorted"];
    let played = json(&forkcast(&place, &run));
    let rows = played["what_if"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["requests"] == 36 && row["ends"] == "finished"), "{rows:#?}");
    assert!(rows[0]["delta_usd"].as_f64().unwrap() > 0.0, "an hour costs more: {}", rows[0]);
}
