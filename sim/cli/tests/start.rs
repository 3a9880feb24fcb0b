//! Scenarios that a person can start from, and fan-outs of recorded sessions.

use std::fs;
use std::path::Path;

use forkcast_fixtures::{fixture, workspace};
use serde_json::Value;

use crate::program::{code, files, fine, folder, forkcast, json, said, stderr, stdout};

#[test]
fn a_new_scenario_runs_and_passes_and_replaces_nothing() {
    let place = folder("new");
    let output = forkcast(&place, &["new", "my-day"]);
    assert_eq!((code(&output), stdout(&output)), (0, ""), "{}", stderr(&output));
    let text = fs::read_to_string(place.join("my-day.yaml")).unwrap();
    assert!(text.contains("`forkcast run my-day.yaml`"), "{text}");
    let run = json(&forkcast(&place, &["run", "my-day.yaml", "-q", "--format", "json"]));
    assert_eq!(run["agents"].as_array().unwrap().len(), 3);
    for name in ["my-day", "my-day.yaml"] {
        let output = forkcast(&place, &["new", name]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("my-day.yaml: already exists"), "{}", stderr(&output));
    }
    assert_eq!(fs::read_to_string(place.join("my-day.yaml")).unwrap(), text);
    // What its comments suggest makes a difference.
    let cost = |arguments: &[&str]| {
        json(&forkcast(&place, &[&["run", "my-day.yaml", "-q", "--format", "json"], arguments].concat()))["totals"]
            ["cost_usd"]
            .clone()
    };
    assert_ne!(cost(&[]), cost(&["--breakpoints", "both", "--ttl", "1h"]));
    for launch in ["primed", "serial", "waves=1"] {
        assert!(cost(&["--launch", launch]).is_number(), "{launch}");
    }
}

#[test]
fn requests_longer_than_the_window_are_named() {
    let place = folder("window");
    fine(&forkcast(&place, &["new", "large", "-q"]));
    let text = fs::read_to_string(place.join("large.yaml")).unwrap();
    fs::write(place.join("large.yaml"), text.replace("system: 7600", "system: 2000000")).unwrap();
    let said = "requests are longer than the model's window: the provider would refuse them";
    let output = forkcast(&place, &["run", "large.yaml", "-q"]);
    assert!(code(&output) == 0 && stdout(&output).contains(said), "{}", stdout(&output));
    let output = forkcast(&place, &["run", "large.yaml", "-q", "--strict"]);
    assert!(code(&output) == 2 && stderr(&output).contains(said), "{}", stderr(&output));
}

/// Whatever the names of agents are.
#[test]
fn lanes_of_agents_fit_into_80_columns() {
    let place = folder("lanes");
    for scenario in ["forks/G02-siblings", "day/working-day", "contract/E24", "contract/E11"] {
        let output = forkcast(&place, &["run", scenario, "-q"]);
        let shown = stdout(&output);
        let lane = |line: &&str| line.contains(['█', '░']);
        let widest = shown.lines().filter(lane).map(|line| line.chars().count()).max();
        assert!((60..=80).contains(&widest.unwrap()), "{scenario}: {shown}");
    }
}

#[test]
fn the_catalog_is_written_as_files_and_files_of_others_are_left_alone() {
    let place = folder("catalog");
    for _ in 0..2 {
        fine(&forkcast(&place, &["list", "scenarios", "--out", "all"]));
    }
    let written = files(&place.join("all"));
    let own = files(&workspace().join("scenarios/catalog"));
    let own = own.into_iter().filter(|(name, _)| name.ends_with(".yaml"));
    assert_eq!(written, own.collect());
    fs::write(place.join("all/forks/fan-out.yaml"), "mine").unwrap();
    let output = forkcast(&place, &["list", "scenarios", "--out", "all"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("fan-out.yaml: exists and is no scenario of forkcast"), "{}", stderr(&output));
    assert_eq!(fs::read(place.join("all/forks/fan-out.yaml")).unwrap(), b"mine");
}

#[test]
fn one_session_of_many_can_be_billed() {
    let place = folder("one-session");
    let session = fs::read_to_string(fixture("claude-code.jsonl")).unwrap();
    fs::write(place.join("one.jsonl"), &session).unwrap();
    let ids = [
        ("5e5510a0", "7a7710a0"),
        ("toolu_", "toolu_x"),
        ("msg_", "msg_x"),
        ("req_", "req_x"),
        ("00000000-", "11111111-"),
    ];
    let other = ids.iter().fold(session.clone(), |text, (id, other)| text.replace(id, other));
    fs::write(place.join("two.jsonl"), other).unwrap();
    let cost = |arguments: &[&str]| {
        let report = json(&forkcast(&place, &[&["replay", "-q", "--format", "json"], arguments].concat()));
        (report["totals"]["requests"].as_u64().unwrap(), report["totals"]["recorded"]["cost_usd"].as_f64().unwrap())
    };
    let (requests, alone) = cost(&["one.jsonl"]);
    assert_eq!(cost(&[".", "--session", "5e5510a0"]), (requests, alone));
    assert_eq!(cost(&["."]).0, 2 * requests);
    let report = fine(&forkcast(&place, &[".", "--session", "7a77"])).to_owned();
    assert!(
        report.contains(&format!("of the requested sessions; {requests} other requests only filled the cache")),
        "{report}"
    );
    let report = fine(&forkcast(&place, &["replay", ".", "--session", "none"])).to_owned();
    assert!(report.contains("No request of a session whose id begins with `none`."), "{report}");
}

#[test]
fn a_scenario_without_acts_of_the_user_fails() {
    let place = folder("silent");
    fs::write(place.join("silent.yaml"), "about: Nothing.\nscript: {main: [{say: Yes.}]}\n").unwrap();
    let (code, report, talk) = said_of(&place, &["run", "silent.yaml"]);
    assert_eq!(code, 1, "{talk}");
    assert!(talk.contains("silent.yaml:1:1: `user`: the user does nothing"), "{talk}");
    assert!(talk.contains("`user: [{at_ms: 0, types: Hello}]`"), "{talk}");
    assert!(!report.contains("All expectations hold"), "{report}");
    // What it says to add is enough.
    let text = "about: Nothing.\nscript: {main: [{say: Yes.}]}\nuser: [{at_ms: 0, types: Hello}]\n";
    fs::write(place.join("silent.yaml"), text).unwrap();
    fine(&forkcast(&place, &["run", "silent.yaml"]));
}

fn said_of(place: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = forkcast(place, arguments);
    let (code, report, talk) = said(&output);
    (code, report.to_owned(), talk.to_owned())
}

/// A session of three requests to a model, with prompts of these sizes.
fn session(model: &str, prompts: [u64; 3]) -> String {
    let line = |(turn, tokens): (usize, u64)| {
        format!(
            r#"{{"type":"user","uuid":"u{turn}","parentUuid":{},"sessionId":"s","timestamp":"2026-11-20T10:0{turn}:00Z","version":"2.1.330","cwd":"/work","message":{{"role":"user","content":"Go on."}}}}
{{"type":"assistant","uuid":"a{turn}","parentUuid":"u{turn}","sessionId":"s","requestId":"r{turn}","timestamp":"2026-11-20T10:0{turn}:05Z","version":"2.1.330","cwd":"/work","message":{{"id":"m{turn}","role":"assistant","model":"{model}","content":[{{"type":"text","text":"Yes."}}],"stop_reason":"end_turn","usage":{{"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":{},"cache_creation":{{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":{}}},"output_tokens":20}}}}}}
"#,
            if turn == 0 { "null".to_owned() } else { format!("\"a{}\"", turn - 1) },
            tokens - 10,
            tokens - 10,
        )
    };
    prompts.into_iter().enumerate().map(line).collect()
}

/// Prefix, growth, model and lifetime of the first row.
fn taken(found: &Value) -> (u64, u64, String, String) {
    let row = &found["rows"][0];
    let text = |name: &str| row[name].as_str().unwrap().to_owned();
    (row["prefix_tokens"].as_u64().unwrap(), row["growth_tokens"].as_u64().unwrap(), text("model"), text("ttl"))
}

#[test]
fn a_fan_out_takes_its_parent_from_a_recorded_session() {
    let place = folder("from");
    fs::write(place.join("session.jsonl"), session("claude-opus-4-8", [50_000, 52_000, 56_000])).unwrap();
    let ask =
        |arguments: &[&str]| json(&forkcast(&place, &[&["fanout", "-q", "--format", "json"], arguments].concat()));
    let expected = |prefix, growth| (prefix, growth, "claude-opus-4-8".to_owned(), "1h".to_owned());
    assert_eq!(taken(&ask(&["--from", "session.jsonl"])), expected(56_000, 4_000));
    assert_eq!(taken(&ask(&["--from", "session.jsonl:4"])), expected(52_000, 2_000));
    let (prefix, growth, model, ttl) =
        taken(&ask(&["--from", "session.jsonl", "--prefix", "30k", "--ttl", "5m", "--model", "claude-haiku-4-5"]));
    assert_eq!((prefix, growth, &*model, &*ttl), (30_000, 4_000, "claude-haiku-4-5", "5m"));
    let report = forkcast(&place, &["fanout", "--from", "session.jsonl", "--ttl", "5m"]);
    let says = "Parent as in session.jsonl:6: prefix 56,000 tokens, model claude-opus-4-8, 4,000 more tokens a turn";
    assert!(fine(&report).contains(says), "{}", stdout(&report));
    let output = forkcast(&place, &["fanout", "--from", "session.jsonl", "--format", "csv"]);
    assert!(stderr(&output).contains("lifetime 1h"), "{}", stderr(&output));
    for (named, complaint) in [("session.jsonl:5", "in line 5"), ("absent.jsonl", "absent.jsonl")] {
        let output = forkcast(&place, &["fanout", "--from", named]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(complaint), "{}", stderr(&output));
    }
}

/// The examples of launches in the help and in the README show launches that differ.
#[test]
fn examples_of_launches_show_a_difference() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    // Long commands are broken for the shell.
    let help = stdout(&forkcast(Path::new("."), &["fanout", "--help"])).replace("\\\n      ", "");
    let commands = help.lines().chain(readme.lines()).filter(|line| line.contains("forkcast fanout --"));
    let commands = commands.filter(|line| line.contains("--launch burst,") && !line.contains("--from"));
    let mut seen = 0;
    for line in commands {
        let command = line.split_once("forkcast ").unwrap().1.split("  ").next().unwrap();
        let words: Vec<&str> = command.split(' ').filter(|word| !["--out", "plots"].contains(word)).collect();
        let found = json(&forkcast(Path::new("."), &[&words[..], &["-q", "--format", "json"]].concat()));
        let costs: Vec<&Value> = found["rows"].as_array().unwrap().iter().map(|row| &row["cost_usd"]).collect();
        assert!(costs.windows(2).any(|pair| pair[0] != pair[1]), "{command}");
        seen += 1;
    }
    assert!(seen >= 2, "{seen}");
}
