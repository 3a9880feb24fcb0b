//! A history in which most messages changed a little, or with only the newest one left, together with changed tools,
//! system prompt or model: a break of its chain, not a new chain. No request has an id.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Facts, Guard, Report, Rules, Sent};
use forkcast_sim::time::Instant;
use serde_json::{Value, json};

use super::conversation::{body, check, mark_end, message, replace, unmark};

/// Changes one letter of each of the first `edited` messages.
fn edited(mut body: Value, edited: usize) -> Value {
    for message in body["messages"].as_array_mut().unwrap().iter_mut().take(edited) {
        for block in message["content"].as_array_mut().unwrap() {
            for key in ["text", "content"] {
                let Some(text) = block[key].as_str() else { continue };
                block[key] = Value::from(text.replacen("is said", "is sayd", 1));
            }
        }
    }
    body
}

type Change = fn(&mut Value);

/// Other changes in the same request.
const HEADS: [(Cause, Change); 4] = [
    (Cause::SystemChanged, |body| replace(body, "/system/0/text", "11-20", "11-21")),
    (Cause::ToolsRemoved, |body| drop(body["tools"].as_array_mut().unwrap().remove(1))),
    (Cause::ModelChanged, |body| body["model"] = json!("claude-opus-4-5")),
    (Cause::ToolChanged, |body| replace(body, "/tools/2/description", "Read is", "Read was")),
];

fn causes(report: &Report) -> Vec<Cause> {
    report.findings.iter().map(|found| found.cause).collect()
}

#[test]
fn messages_that_all_changed_a_little_stay_in_their_chain() {
    for turns in [0, 1, 2, 4, 7] {
        for (cause, change) in HEADS {
            for changed in 1..=turns * 2 + 1 {
                let (older, mut newer) = (body(turns), edited(body(turns + 1), changed));
                change(&mut newer);
                let report = check(&[older, newer]);
                let at = format!("{turns} turns, {changed} messages, {cause}: {:?}", causes(&report));
                assert_eq!(report.chains, 1, "{at}");
                assert!(causes(&report).contains(&cause) && causes(&report).contains(&Cause::MessageEdited), "{at}");
            }
        }
    }
}

#[test]
fn thinking_that_a_model_drops_does_not_change_the_conversation() {
    let thinking = |model: &str, turns: usize, task: &str| {
        let mut messages = vec![message("user", task)];
        for turn in 0..turns {
            messages.push(json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": format!("thought {turn} ").repeat(200), "signature": "s"},
                {"type": "tool_use", "id": format!("t{turn}"), "name": "Bash", "input": {"command": "ls"}}]}));
            messages.push(json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": format!("t{turn}"), "content": format!("file {turn}")}]}));
            messages.push(message("assistant", &format!("seen {turn}")));
            messages.push(message("user", &format!("next {turn}")));
        }
        let mut body = body(0);
        (body["model"], body["messages"]) = (json!(model), messages.into());
        mark_end(&mut body);
        body
    };
    let older = thinking("claude-opus-4-5", 1, "task 0");
    let mut newer = thinking("claude-haiku-4-5", 2, "task 0");
    replace(&mut newer, "/messages/0/content/0/text", "task 0 is", "task 0 was");
    let report = check(&[older, newer]);
    assert_eq!(report.chains, 1);
    assert!(causes(&report).contains(&Cause::ModelChanged) && causes(&report).contains(&Cause::MessageEdited));
}

#[test]
fn a_history_cut_down_to_its_newest_message_continues_next_to_another_agent() {
    for (cause, change) in HEADS {
        let mut newer = body(4);
        newer["messages"].as_array_mut().unwrap().drain(..6);
        change(&mut newer);
        let mut other = body(0);
        other["messages"] = json!([message("user", "elsewhere")]);
        mark_end(&mut other);
        let report = check(&[body(2), body(3), other, newer]);
        assert_eq!(report.chains, 2, "{cause}");
        assert!(report.findings.iter().any(|found| found.request == 3 && found.cause == cause), "{cause}");
        assert!(report.findings.iter().all(|found| found.older == Some(1)), "{:#?}", report.findings);
    }
}

#[test]
fn a_request_that_continues_a_whole_conversation_does_not_join_one_with_another_beginning() {
    // A model in a test that always gives the same answer.
    let scripted = |task: &str, turns: usize| {
        let mut body = body(turns);
        body["messages"][0] = message("user", task);
        mark_end(&mut body);
        body
    };
    let bodies: Vec<Value> = (0..4).flat_map(|turns| ["a", "b"].map(|task| scripted(task, turns))).collect();
    let report = check(&bodies);
    assert_eq!((report.chains, report.findings.len()), (2, 0), "{:#?}", report.findings);
    let in_turn: Vec<Value> = ["a", "b"].iter().flat_map(|task| (0..4).map(|turns| scripted(task, turns))).collect();
    let report = check(&in_turn);
    assert_eq!((report.chains, report.findings.len()), (2, 0), "{:#?}", report.findings);
}

#[test]
fn a_conversation_that_begins_like_another_is_its_own() {
    let asked = |file: &str| {
        let mut body = body(0);
        body["messages"] = json!([message("user", &format!("please review the file src/{file}.rs with care"))]);
        replace(&mut body, "/system/0/text", "11-20", if file == "a" { "11-20" } else { "11-21" });
        unmark(&mut body);
        mark_end(&mut body);
        body
    };
    let report = check(&[asked("a"), asked("b"), asked("c")]);
    assert_eq!(report.chains, 3);
    assert!(report.findings.iter().all(|found| !matches!(found.cause, Cause::MessageEdited)), "{:#?}", report.findings);
}

/// A scenario that was recorded twice has its instants from one recorder: those of the second recording are no later.
#[test]
fn what_was_sent_in_the_same_instant_is_another_recording_of_it() {
    for turns in [0, 3] {
        let (older, mut newer) = (body(turns), edited(body(turns), turns * 2));
        replace(&mut newer, "/system/0/text", "11-20", "11-21");
        for (apart_ms, chains) in [(0, 2), (1, 1)] {
            let mut guard = Guard::new(Rules::default());
            for (body, at_ms) in [(&older, 1_000), (&newer, 1_000 + apart_ms)] {
                let facts = Facts { recorded_at: Some(Instant::from_millis(at_ms)), ..Facts::default() };
                guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
            }
            assert_eq!(guard.finish().chains, chains, "{turns} turns, {apart_ms} ms apart");
        }
    }
}
