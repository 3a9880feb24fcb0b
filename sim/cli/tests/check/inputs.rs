//! Possible inputs of a check, and messages about the others.

use std::fs;

use serde_json::Value;

use super::bodies::{CALM, Turn, body, code, folder, forkcast, json, restless, stderr, stdout, write};

fn line(turn: Turn, chain: &str) -> String {
    format!(r#"{{"v":1,"chain":"{chain}","request":{}}}"#, body(turn)) + "\n"
}

#[test]
fn a_recording_is_checked_by_its_chains() {
    let place = folder("recording");
    let other = Turn { tool: "Reads one file", steps: 1, ..CALM };
    let text = [line(CALM, "a"), line(CALM, "b"), line(Turn { steps: 1, ..CALM }, "a"), line(other, "b")].concat();
    fs::write(place.join("log.jsonl"), text).unwrap();
    let found = json(&place, &["check", "log.jsonl", "--lock", "none"]);
    assert_eq!((found["chains"].as_u64(), found["requests"].as_u64()), (Some(2), Some(4)));
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!((findings[0]["request"].as_u64(), findings[0]["older"].as_u64()), (Some(3), Some(1)));
    assert!(findings[0]["chain"].as_str().unwrap().ends_with('b'));
    assert_eq!(findings[0]["file"], "log.jsonl");
    assert_eq!(findings[0]["line"], 4);
}

#[test]
fn a_scenario_is_run_and_its_forks_conform() {
    let place = folder("scenario");
    let found = json(&place, &["check", "forks/fan-out", "--conformance", "forks", "-q"]);
    assert_eq!(found["passed"], true, "{found:#}");
    let card = found["conformance"].as_array().unwrap();
    assert!(card.len() >= 10, "{card:#?}");
    assert!(card.iter().all(|graded| graded["passed"] != false), "{card:#?}");
    assert_eq!(found["score"]["sharing"], true);
    let output = forkcast(&place, &["check", "forks/fan-out", "--conformance", "forks", "-q"]);
    assert!(
        stdout(&output).contains("Checks for forks") && stdout(&output).contains("tools_order"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_conversation_without_forks_is_not_called_conformant() {
    let place = folder("forkless");
    write(&place.join("bodies"), &[CALM; 3]);
    let found = json(&place, &["check", "bodies", "--conformance", "forks"]);
    let card = found["conformance"].as_array().unwrap();
    assert!(card.iter().any(|graded| graded["passed"].is_null()), "{card:#?}");
}

#[test]
fn answers_without_usage_leave_the_requests_checked() {
    let place = folder("without-usage");
    fs::create_dir(place.join("calls")).unwrap();
    for (at, steps) in [0, 1, 2].into_iter().enumerate() {
        let answer = r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Yes."}]}"#;
        let call = format!(r#"{{"request":{},"response":{answer}}}"#, body(Turn { steps, ..CALM }));
        fs::write(place.join(format!("calls/{at}.json")), call).unwrap();
    }
    let output = forkcast(&place, &["check", "calls", "--lock", "none"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(!stdout(&output).contains("could not be read"), "{}", stdout(&output));
    let found = json(&place, &["check", "calls", "--lock", "none"]);
    assert_eq!(found["requests"], 3);
    assert!(found["inputs"]["repaired"].to_string().contains("answer has no `usage`"), "{found:#}");
}

#[test]
fn damage_is_located_and_the_rest_is_checked() {
    let place = folder("damaged");
    write(&place.join("bodies"), &restless());
    let whole = fs::read_to_string(place.join("bodies/005.json")).unwrap();
    fs::write(place.join("bodies/006.json"), &whole[..whole.len() / 2]).unwrap();
    fs::write(place.join("bodies/007.json"), r#"{"model":"gpt-5.6-sol","previous_response_id":"resp_1","input":"a"}"#)
        .unwrap();
    let output = forkcast(&place, &["check", "bodies", "--lock", "none", "--format", "json"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("forkcast: bodies/006.json:1: "), "{}", stderr(&output));
    let found: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(found["requests"], 6);
    assert_eq!(found["findings"].as_array().unwrap().len(), 2);
    let inputs = found["inputs"].to_string();
    assert!(inputs.contains("006.json") && inputs.contains("007.json"), "{inputs}");
    let output = forkcast(&place, &["check", "bodies", "--lock", "none"]);
    assert!(stdout(&output).contains("Not checked: bodies/006.json"), "{}", stdout(&output));
    assert!(stdout(&output).lines().next().unwrap().contains("1 place could not be read"), "{}", stdout(&output));
    let output = forkcast(&place, &["check", "bodies", "--lock", "none", "--format", "csv"]);
    assert!(stderr(&output).contains("Not checked: bodies/006.json"), "{}", stderr(&output));
    assert!(stdout(&output).contains("unreadable,bodies/006.json,1,"), "{}", stdout(&output));
}

/// Unreadable input was not checked, so a check of it neither passes nor writes a lock.
#[test]
fn a_check_does_not_pass_with_a_body_that_cannot_be_read() {
    let place = folder("unread");
    write(&place.join("bodies"), &[CALM; 3]);
    assert_eq!(code(&forkcast(&place, &["lock", "bodies", "-q"])), 0);
    let before = fs::read_to_string(place.join("forkcast.lock")).unwrap();
    let whole = fs::read_to_string(place.join("bodies/002.json")).unwrap();
    fs::write(place.join("bodies/002.json"), &whole[..whole.len() / 2]).unwrap();
    for (format, told) in [
        ("human", "Not checked: bodies/002.json:1"),
        ("markdown", "bodies/002.json:1"),
        ("json", "\"passed\": false"),
        ("csv", "unreadable,bodies/002.json,1,"),
        ("junit", "<error message="),
        ("github", "::error file=bodies/002.json,line=1,title=not checked::"),
        ("sarif", "\"executionSuccessful\": false"),
    ] {
        let output = forkcast(&place, &["check", "bodies", "--lock", "none", "--format", format]);
        assert_eq!(code(&output), 2, "{format}: {}", stderr(&output));
        assert!(stdout(&output).contains(told), "{format}: {}", stdout(&output));
        assert!(stderr(&output).contains("forkcast: bodies/002.json:1: "), "{format}: {}", stderr(&output));
    }
    for arguments in [&["check", "bodies", "--update"][..], &["lock", "bodies"]] {
        let output = forkcast(&place, arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("no lock was written"), "{arguments:?}: {}", stderr(&output));
        assert_eq!(fs::read_to_string(place.join("forkcast.lock")).unwrap(), before, "{arguments:?}");
    }
}

#[test]
fn nothing_to_check_is_bad_input() {
    let place = folder("nothing");
    fs::create_dir(place.join("empty")).unwrap();
    fs::write(place.join("text.txt"), "no requests").unwrap();
    for path in ["empty", "text.txt", "absent"] {
        let output = forkcast(&place, &["check", path]);
        assert_eq!((code(&output), stdout(&output)), (2, ""), "{path}");
        assert!(stderr(&output).contains(path), "{}", stderr(&output));
        let output = forkcast(&place, &["lock", path]);
        assert_eq!(code(&output), 2, "{path}");
        assert!(!place.join("forkcast.lock").exists(), "{path}");
    }
    assert_eq!(code(&forkcast(&place, &["check"])), 2);
}

#[test]
fn progress_is_reported_on_request_and_quiet_prints_nothing() {
    let place = folder("quiet");
    write(&place.join("bodies"), &[CALM; 3]);
    let output = forkcast(&place, &["check", "bodies", "--quiet", "--progress", "plain"]);
    assert_eq!((code(&output), stderr(&output)), (0, ""));
    let output = forkcast(&place, &["check", "bodies", "--progress", "plain"]);
    assert!(stderr(&output).contains("forkcast: checking"), "{}", stderr(&output));
}

#[test]
fn a_replay_shows_which_agent_started_which() {
    let place = folder("family");
    let answered = |chain: &str, parent: &str, turn: Turn| {
        let request = body(turn);
        let usage = r#"{"usage":{"input_tokens":4000,"output_tokens":10}}"#;
        format!(r#"{{"v":1,"chain":"{chain}"{parent},"request":{request},"response":{usage}}}"#) + "\n"
    };
    let child = Turn { tool: "Reads one file", ..CALM };
    let text = [
        answered("a", "", CALM),
        answered("b", r#","parent":"a""#, child),
        answered("c", r#","parent":"b""#, Turn { steps: 2, ..child }),
    ];
    fs::write(place.join("log.jsonl"), text.concat()).unwrap();
    let found = json(&place, &["replay", "log.jsonl"]);
    let agents = found["sessions"][0]["agents"].as_array().unwrap();
    let told: Vec<_> = agents.iter().map(|agent| (&agent["id"], &agent["parent"], &agent["kind"])).collect();
    let expected = [("a", None, "main"), ("b", Some("a"), "named"), ("c", Some("b"), "named")];
    let expected = expected.map(|(id, parent, kind)| (id.into(), parent.map_or(Value::Null, Value::from), kind.into()));
    assert_eq!(told, expected.each_ref().map(|(id, parent, kind): &(Value, Value, Value)| (id, parent, kind)));
    let input = |agent: usize| agents[agent]["with_children"]["usage"]["input_tokens"].as_u64().unwrap();
    assert_eq!([input(0), input(1), input(2)], [12_000, 8_000, 4_000]);
}
