//! `forkcast explain` from the command line: from a run folder, from a folder with bodies, from a recording.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::program::{code, command, fine, folder, forkcast, golden, json, stderr, stdout};

/// The error message for bad input.
fn complaint(output: &Output) -> &str {
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Two turns of a session whose system prompt contains the date; long enough to be cached.
fn session(date: &str, turns: usize) -> String {
    let manual = "Every tool is described at length here. ".repeat(200);
    let turn = |at: usize| {
        let marker = if at + 1 == turns { r#","cache_control":{"type":"ephemeral"}"# } else { "" };
        format!(r#"{{"role":"user","content":[{{"type":"text","text":"Question {at}."{marker}}}]}}"#)
    };
    let messages: Vec<String> = (0..turns).map(turn).collect();
    format!(
        r#"{{"model":"claude-opus-4-8","system":[{{"type":"text","text":"{manual}"}},{{"type":"text","text":"Today is {date}."}}],"messages":[{}]}}"#,
        messages.join(",")
    )
}

fn line(at_ms: u64, body: &str, usage: &str) -> String {
    format!(r#"{{"v":1,"at_ms":{at_ms},"chain":"main","request":{body},"response":{{"usage":{usage}}}}}"#) + "\n"
}

/// Midnight passes between the two requests: the second reads nothing.
fn recording(place: &Path) {
    let first = line(
        1_790_000_000_000,
        &session("2026-09-21", 1),
        r#"{"input_tokens":3,"cache_creation_input_tokens":2600,"output_tokens":5}"#,
    );
    let second = line(
        1_790_000_060_000,
        &session("2026-09-22", 2),
        r#"{"input_tokens":3,"cache_creation_input_tokens":2610,"output_tokens":5}"#,
    );
    fs::write(place.join("log.jsonl"), first + &second).unwrap();
}

/// A session of two requests, the second after a pause of so many minutes, with entries of an hour or of five minutes.
fn paused(place: &Path, minutes: u64, hours: u64) {
    let asked = |turn: u64, parent: &str, at: u64| {
        format!(
            r#"{{"type":"user","uuid":"u{turn}","parentUuid":{parent},"sessionId":"s","timestamp":"2026-11-20T{:02}:{:02}:00Z","version":"2.1.330","cwd":"/work","message":{{"role":"user","content":"Go on."}}}}"#,
            10 + at / 60,
            at % 60
        )
    };
    let said = |turn: u64, at: u64| {
        let [short, long] = if hours == 1 { [0, 50_000] } else { [50_000, 0] };
        format!(
            r#"{{"type":"assistant","uuid":"a{turn}","parentUuid":"u{turn}","sessionId":"s","requestId":"r{turn}","timestamp":"2026-11-20T{:02}:{:02}:05Z","version":"2.1.330","cwd":"/work","message":{{"id":"m{turn}","role":"assistant","model":"claude-opus-4-8","content":[{{"type":"text","text":"Yes."}}],"stop_reason":"end_turn","usage":{{"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":50000,"cache_creation":{{"ephemeral_5m_input_tokens":{short},"ephemeral_1h_input_tokens":{long}}},"output_tokens":20}}}}}}"#,
            10 + at / 60,
            at % 60
        )
    };
    let lines = [asked(0, "null", 0), said(0, 0), asked(1, "\"a0\"", minutes), said(1, minutes)];
    fs::write(place.join("session.jsonl"), lines.join("\n") + "\n").unwrap();
}

#[test]
fn an_expired_entry_has_the_pause_and_its_lifetime() {
    let place = folder("explain-pause");
    for (minutes, hours, expected) in [
        (225, 1, "The agent had sent nothing for 225 minutes; its entries live for an hour."),
        (7, 0, "The agent had sent nothing for 7 minutes; its entries live for five minutes."),
    ] {
        paused(&place, minutes, hours);
        let output = forkcast(&place, &["explain", "session.jsonl"]);
        assert!(fine(&output).contains("expired"), "{}", stdout(&output));
        assert!(stdout(&output).contains(expected), "{}", stdout(&output));
    }
}

/// As reports name it, without the recording in front.
#[test]
fn a_request_alone_is_one_of_the_logs_or_of_the_file_in_its_name() {
    let place = folder("explain-alone");
    paused(&place, 225, 1);
    let logs = place.join("home/.claude/projects/-work");
    fs::create_dir_all(&logs).unwrap();
    fs::copy(place.join("session.jsonl"), logs.join("session.jsonl")).unwrap();
    let explained = |name: &str| command(&place, &["explain", name]).env("HOME", place.join("home")).output().unwrap();
    for name in
        ["s:4", "session.jsonl:4", "1", "#1", "./session.jsonl:4", "home/.claude/projects/-work/session.jsonl:4"]
    {
        let output = explained(name);
        assert!(fine(&output).contains("for 225 minutes"), "{name}: {}", stdout(&output));
    }
    let output = explained("other:4");
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("other:4: no such request, expected its number"), "{}", stderr(&output));
}

#[test]
fn a_body_that_is_no_request_ends_with_2() {
    let place = folder("explain-no-request");
    fs::write(place.join("num.json"), r#"{"model":5,"messages":"x"}"#).unwrap();
    let output = forkcast(&place, &["explain", "num.json"]);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stdout(&output).starts_with("Request 0, num.json#0: unknown model\n"), "{}", stdout(&output));
    assert!(stderr(&output).contains("messages: found a string, expected an array"), "{}", stderr(&output));
}

#[test]
fn a_cause_is_explained_by_its_word() {
    let place = folder("explain-cause");
    let output = forkcast(&place, &["explain", "level_parameter"]);
    assert_eq!((code(&output), stderr(&output)), (0, ""));
    assert!(stdout(&output).starts_with("level_parameter\n"), "{}", stdout(&output));
    assert!(stdout(&output).contains("In cache diagnoses: unavailable (Anthropic); one of"), "{}", stdout(&output));
    let output = forkcast(&place, &["explain", "level_parameters"]);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    fs::create_dir(place.join("expired")).unwrap();
    let output = forkcast(&place, &["explain", "expired"]);
    assert_eq!(code(&output), 2, "a folder of that name comes first: {}", stdout(&output));
}

#[test]
fn the_sample_request_whose_date_changed() {
    let place = folder("explain-sample");
    fine(&forkcast(&place, &["replay", "--out", "run", "-q"]));
    for (format, file) in [("human", "explain.txt"), ("json", "explain.json"), ("csv", "explain.csv")] {
        golden(file, fine(&forkcast(&place, &["explain", "run", "8", "--format", format])));
    }
}

#[test]
fn without_a_request_the_dearest_miss_is_explained() {
    let place = folder("explain-dearest");
    recording(&place);
    let found = json(&forkcast(&place, &["explain", "log.jsonl", "--format", "json"]));
    assert_eq!(found["request"], 1);
    assert_eq!(found["causes"][0]["cause"], "system_changed");
    assert_eq!(found["nearest"]["difference"]["volatile"], "date");
    assert_eq!(found["nearest"]["difference"]["path"], "system[1]");
    assert_eq!(found["matched"]["stopped_by"], "never_written");
    assert_eq!(found["breakpoints"][0]["state"], "absent");
    assert_eq!(found["entries"][0]["state"], "live");
    assert_eq!(found["entries"][0]["last_use_ms_ago"], 60_000);
    assert_eq!(found["levels"][0]["blocks_sent_before"], 1);
}

#[test]
fn a_request_is_named_by_number_or_by_file() {
    let place = folder("explain-names");
    recording(&place);
    let by = |name: &str| fine(&forkcast(&place, &["explain", "log.jsonl", name])).to_owned();
    assert_eq!(by("1"), by("log.jsonl#1"));
    assert_eq!(by("1"), by("#1"));
    assert_eq!(by("1"), by("log.jsonl:2"), "as `check` names it");
    for shortened in ["log:2", "l\u{2026}.jsonl:2", "log.js#1"] {
        assert_eq!(by("1"), by(shortened), "{shortened}: as narrow tables leave it");
    }
    // A file with one request is that request, by the beginning of its name, and as `check` names it.
    let lines = fs::read_to_string(place.join("log.jsonl")).unwrap();
    fs::create_dir(place.join("each")).unwrap();
    for (at, line) in lines.lines().enumerate() {
        fs::write(place.join(format!("each/000{}.jsonl", at + 1)), format!("{line}\n")).unwrap();
    }
    let of_each = |name: &str| fine(&forkcast(&place, &["explain", "each", name])).to_owned();
    for name in ["0002", "0002.jsonl", "each/0002.jsonl"] {
        assert_eq!(of_each("1"), of_each(name), "{name}");
    }
    let pair = |first: &str, second: &str| stdout(&forkcast(&place, &["diff", first, second])).to_owned();
    let lines = pair("log.jsonl:1", "log.jsonl:2");
    assert!(lines.contains("2026-09-22"), "{lines}");
    assert_eq!(lines.replace("jsonl:1", "jsonl#0").replace("jsonl:2", "jsonl#1"), pair("log.jsonl#0", "log.jsonl#1"));
    let output = forkcast(&place, &["explain", "log.jsonl", "2"]);
    assert!(complaint(&output).contains("0 to 1"), "{}", complaint(&output));
    let output = forkcast(&place, &["explain", "log.jsonl", "other.jsonl#1"]);
    assert!(complaint(&output).contains("such as log.jsonl#0"), "{}", complaint(&output));
}

/// What the first screen offers can be typed as it is.
#[test]
fn without_a_path_the_logs_or_the_sample_are_explained() {
    let place = folder("explain-alone");
    let output = forkcast(&place, &["explain"]);
    assert!(stderr(&output).contains("embedded sample"), "{}", stderr(&output));
    assert_eq!(stdout(&output), fine(&forkcast(&place, &["explain", "--session", "sample"])));
    let output = forkcast(&place, &["explain", "--session", "nowhere"]);
    assert!(
        stderr(&output).contains("--session nowhere: no session has an id that begins with this"),
        "{}",
        stderr(&output)
    );
}

/// A limit that holds for nothing is no answer to a misspelled name.
#[test]
fn names_that_leave_no_request_are_bad_input() {
    let place = folder("explain-none-left");
    recording(&place);
    for (option, name) in [("--session", "nowhere"), ("--project", "nothing")] {
        let output = forkcast(&place, &["replay", "log.jsonl", option, name, "--max-cost", "1"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(stderr(&output).contains(&format!("{option} {name}: no ")), "{}", stderr(&output));
    }
}

#[test]
fn a_folder_with_bodies_no_longer_needs_its_recording() {
    let place = folder("explain-bodies");
    recording(&place);
    fine(&forkcast(&place, &["replay", "log.jsonl", "--out", "whole", "--bodies", "-q"]));
    fine(&forkcast(&place, &["replay", "log.jsonl", "--out", "lean", "-q"]));
    let ask = |run: &str, form: &str| forkcast(&place, &["explain", run, "1", "--format", form]);
    let lean: Vec<String> = ["human", "json"].map(|form| fine(&ask("lean", form)).to_owned()).into();
    fs::remove_file(place.join("log.jsonl")).unwrap();
    let whole: Vec<String> = ["human", "json"].map(|form| fine(&ask("whole", form)).to_owned()).into();
    assert_eq!(lean, whole);
    let output = ask("lean", "human");
    let said = complaint(&output);
    assert!(said.contains("log.jsonl") && said.contains("run.json") && said.contains("--bodies"), "{said}");
}

#[test]
fn a_recording_that_changed_since_the_run_is_refused() {
    let place = folder("explain-changed");
    recording(&place);
    fine(&forkcast(&place, &["replay", "log.jsonl", "--out", "run", "-q"]));
    let text = fs::read_to_string(place.join("log.jsonl")).unwrap();
    fs::write(place.join("log.jsonl"), text.replace("claude-opus-4-8", "claude-opus-5")).unwrap();
    let output = forkcast(&place, &["explain", "run", "1"]);
    assert!(complaint(&output).contains("log.jsonl has changed"), "{}", complaint(&output));
}

#[test]
fn a_request_that_cannot_be_found_again_is_an_error() {
    let place = folder("explain-lost");
    recording(&place);
    fine(&forkcast(&place, &["replay", "log.jsonl", "--out", "hidden", "--anonymize", "-q"]));
    let output = forkcast(&place, &["explain", "hidden", "1"]);
    assert!(complaint(&output).contains("--anonymize"), "{}", complaint(&output));
    fs::write(place.join("hidden/ledger.jsonl"), "{\"schema\":").unwrap();
    let output = forkcast(&place, &["explain", "hidden", "1"]);
    assert!(complaint(&output).contains("ledger.jsonl:1"), "{}", complaint(&output));
    let output = forkcast(&place, &["explain", "nowhere", "1"]);
    assert!(complaint(&output).contains("nowhere"), "{}", complaint(&output));
}

#[test]
fn a_count_that_no_request_has_is_refused_with_its_line() {
    let place = folder("explain-counts");
    recording(&place);
    fine(&forkcast(&place, &["replay", "log.jsonl", "--out", "run", "--bodies", "-q"]));
    let ledger = fs::read_to_string(place.join("run/ledger.jsonl")).unwrap();
    let second: Value = serde_json::from_str(ledger.lines().nth(1).unwrap()).unwrap();
    let counts: Vec<String> = second["exchange"]["usage"].as_object().unwrap().keys().cloned().collect();
    let counts = counts.iter().filter(|name| name.ends_with("_tokens") || name.ends_with("_requests"));
    let mut places: Vec<String> = counts.map(|name| format!("/exchange/usage/{name}")).collect();
    assert_eq!(places.len(), 11, "{places:?}");
    places.push("/causes/0/tokens".to_owned());
    for pointer in places {
        for (count, is_taken) in [(10_000_000_000_u64, true), (10_000_000_001, false), (u64::MAX, false)] {
            let mut line = second.clone();
            *line.pointer_mut(&pointer).unwrap() = count.into();
            let changed = format!("{}\n{line}\n", ledger.lines().next().unwrap());
            fs::write(place.join("run/ledger.jsonl"), changed).unwrap();
            let output = forkcast(&place, &["explain", "run", "1"]);
            if is_taken {
                assert_eq!(output.status.code(), Some(0), "{pointer}: {output:?}");
            } else {
                assert!(complaint(&output).contains("ledger.jsonl:2: found more than 10000000000"), "{output:?}");
            }
        }
    }
}

#[test]
fn a_run_folder_contains_the_rules_and_prices_of_the_run() {
    let place = folder("explain-options");
    recording(&place);
    let options = ["--cache", "docs-2026-08", "--prices", "2026-11-01"];
    let replay = [&["replay", "log.jsonl", "--out", "run", "-q"][..], &options].concat();
    fine(&forkcast(&place, &replay));
    let found = json(&forkcast(&place, &["explain", "run", "1", "--format", "json"]));
    assert_eq!(found["rules"], "docs-2026-08");
    let ledger = fs::read_to_string(place.join("run/ledger.jsonl")).unwrap();
    let line: Value = serde_json::from_str(ledger.lines().nth(1).unwrap()).unwrap();
    assert_eq!(found["cost_usd"], line["cost_usd"]);
    assert_eq!(found["perfect_cost_usd"], line["perfect_cost_usd"]);
}

#[test]
fn prices_of_the_run_apply_unless_others_are_given() {
    let place = folder("explain-prices");
    recording(&place);
    let own = "claude-opus-4-8:input=1.000000000007";
    let replay =
        ["replay", "log.jsonl", "--out", "run", "-q", "--price", own, "--discount", "12.5", "--prices", "2026-11-01"];
    fine(&forkcast(&place, &replay));
    let ledger = fs::read_to_string(place.join("run/ledger.jsonl")).unwrap();
    let line: Value = serde_json::from_str(ledger.lines().nth(1).unwrap()).unwrap();
    let output = forkcast(&place, &["explain", "run", "1", "--format", "json"]);
    assert_eq!(json(&output)["cost_usd"], line["cost_usd"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let other = json(&forkcast(&place, &["explain", "run", "1", "--format", "json", "--discount", "50"]));
    assert!(other["cost_usd"].as_f64().unwrap() < line["cost_usd"].as_f64().unwrap());
    // A ledger with another bill than the present book gives: both are reported.
    let cost = line["cost_usd"].to_string();
    fs::write(place.join("run/ledger.jsonl"), ledger.replace(&cost, "7.5")).unwrap();
    let output = forkcast(&place, &["explain", "run", "1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the bill of this request was") && said.contains("$7.5"), "{said}");
}

#[test]
fn prompt_text_is_shown_on_the_terminal_and_in_json_only_when_asked() {
    let place = folder("explain-content");
    recording(&place);
    let ask = |more: &[&str]| {
        let arguments = [&["explain", "log.jsonl", "1"][..], more].concat();
        fine(&forkcast(&place, &arguments)).to_owned()
    };
    assert!(ask(&[]).contains("Today is 2026-09-22."));
    assert!(ask(&["--format", "json", "--show-content"]).contains("Today is 2026-09-22."));
    for hidden in [&["--format", "json"][..], &["--anonymize"], &["--anonymize", "--format", "json"]] {
        let text = ask(hidden);
        assert!(!text.contains("Today is"), "{hidden:?}: {text}");
    }
    assert!(!ask(&["--anonymize"]).contains("log.jsonl"));
}

#[test]
fn a_request_without_a_profile_shows_only_its_bill() {
    let place = folder("explain-profile");
    fs::write(
        place.join("log.jsonl"),
        r#"{"v":1,"request":{"model":"gpt-5","messages":[{"role":"user","content":"a"}]},"response":{"usage":{"prompt_tokens":9,"completion_tokens":2}}}"#,
    )
    .unwrap();
    let output = forkcast(&place, &["explain", "log.jsonl", "0"]);
    assert!(fine(&output).contains("no cache profile"), "{}", fine(&output));
    let found = json(&forkcast(&place, &["explain", "log.jsonl", "0", "--format", "json"]));
    assert_eq!((&found["rules"], &found["matched"], &found["model"]), (&Value::Null, &Value::Null, &"gpt-5".into()));
    let dearest = forkcast(&place, &["explain", "log.jsonl"]);
    assert_eq!(fine(&dearest), fine(&output));
}

/// A run with bodies: every request can be explained, with the bill and the misses of its own ledger.
#[test]
fn every_request_of_a_simulated_run_is_explained_as_in_its_ledger() {
    let place = folder("explain-simulated");
    fine(&forkcast(&place, &["run", "--out", "run", "--bodies", "-q", "--price", "claude-opus-4-8:input=7"]));
    let ledger = fs::read_to_string(place.join("run/ledger.jsonl")).unwrap();
    let lines: Vec<Value> = ledger.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words = |of: &Value| -> Vec<String> {
        of["causes"].as_array().unwrap().iter().map(|cause| cause["cause"].to_string()).collect()
    };
    let mut same = 0;
    for (at, line) in lines.iter().enumerate() {
        let output = forkcast(&place, &["explain", "run", &at.to_string(), "--format", "json"]);
        let found = json(&output);
        assert_eq!(found["cost_usd"], line["cost_usd"], "request {at}");
        assert_eq!(words(&found), words(line), "request {at}");
        // Tokens of a cause may differ because a body does not contain declared sizes; then both are shown.
        same += usize::from(output.stderr.is_empty());
    }
    assert!(same >= 31, "{same} of {} agree to the token", lines.len());
    let dearest = forkcast(&place, &["explain", "run"]);
    assert!(fine(&dearest).contains("s into the run"), "{}", fine(&dearest));
}

#[test]
fn the_error_for_a_simulated_run_without_bodies_explains_how_to_keep_them() {
    let place = folder("explain-bodiless");
    fine(&forkcast(&place, &["run", "E15", "--out", "run", "-q"]));
    let output = forkcast(&place, &["explain", "run", "0"]);
    assert!(complaint(&output).contains("--bodies"), "{}", complaint(&output));
}

#[test]
fn a_request_of_a_trace_is_explained_from_the_trace_and_from_its_run() {
    let place = folder("explain-trace");
    let fixture = forkcast_fixtures::fixture("weka.json");
    fs::copy(&fixture, place.join("weka.json")).unwrap();
    // On one line for all, requests have their numbers.
    fs::write(place.join("line.json"), fs::read_to_string(fixture).unwrap().replace('\n', " ")).unwrap();
    assert!(fine(&forkcast(&place, &["explain", "line.json", "line.json#3"])).starts_with("Request 3, line.json#3"));
    fine(&forkcast(&place, &["replay", "weka.json", "--out", "run", "--quiet"]));
    for run in ["weka.json", "run"] {
        let text = forkcast(&place, &["explain", run, "1"]);
        assert!(fine(&text).starts_with("Request 1, weka.json:"), "{run}: {}", fine(&text));
        assert!(fine(&text).contains("Predicted: read"), "{run}: {}", fine(&text));
        let found = json(&forkcast(&place, &["explain", run, "1", "--format", "json"]));
        assert_eq!(found["schema"], "forkcast.explain/1", "{run}: {found:#}");
    }
    let mooncake = forkcast_fixtures::fixture("mooncake.jsonl");
    fs::copy(mooncake, place.join("mooncake.jsonl")).unwrap();
    assert!(fine(&forkcast(&place, &["explain", "mooncake.jsonl", "2"])).starts_with("Request 2, mooncake.jsonl:3"));
}
