//! Recorded answers decide what became of thinking whose prefix changed (`providers-2026-11.md` A.4).

use forkcast_replay::exchange::Dialect::Messages;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::response;
use forkcast_sim::diagnosis::{AnsweredThinking, DropReason};
use forkcast_sim::guard::{NoteKind, Rule};
use serde_json::{Value, json};

use super::stage::Folder;

/// 2026-11-20.
const START_MS: u64 = 1_795_132_800_000;

const DROPPED: &str = r#"[{"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"},
    {"type":"thinking_mismatch_allowed","path":"messages.3.content.0","reason":"prefix_binding_mismatch"},
    {"type":"thinking_folded","path":"messages.5.content.0"}]"#;

const REFUSED: &str = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. \
                       Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".";

fn body(date: &str, turns: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": format!("Today is {date}. Mend the test.")})];
    for turn in 1..turns {
        let thought = json!({"type": "thinking", "thinking": "", "signature": format!("signed-{turn}")});
        messages.push(
            json!({"role": "assistant", "content": [thought, {"type": "text", "text": format!("Done {turn}.")}]}),
        );
        messages.push(json!({"role": "user", "content": format!("Go on with part {turn}.")}));
    }
    json!({"model": "claude-fable-5-2", "max_tokens": 900, "messages": messages})
}

fn answer(transformations: Option<&str>) -> Value {
    let mut answer = json!({"type": "message", "role": "assistant", "model": "claude-fable-5-2", "content": [],
        "usage": {"input_tokens": 40, "output_tokens": 9}});
    if let Some(list) = transformations {
        answer["input_transformations"] = serde_json::from_str(list).unwrap();
    }
    answer
}

/// A log of a request, and one that edits its history, with the answer to the latter.
fn log(status: u16, last: &Value) -> String {
    let line = |at: u64, request: Value, status: u16, response: &Value| json!({"v": 1, "at_ms": START_MS + at, "chain": "main", "request": request, "status": status, "response": response});
    let first = line(0, body("Monday", 1), 200, &answer(None));
    let second = line(60_000, body("Monday", 2), 200, &answer(None));
    [first, second, line(120_000, body("Tuesday", 3), status, last)].map(|line| line.to_string()).join("\n")
}

#[test]
fn transformations_are_read_from_answers_and_streams() {
    let read = |body: &str| response::read(Messages, body.as_bytes()).usage.unwrap().thinking;
    let expected = AnsweredThinking { dropped: 1, reason: Some(DropReason::Prefix), allowed: 1 };
    assert_eq!(read(&answer(Some(DROPPED)).to_string()), Some(expected));
    assert_eq!(read(&answer(Some("[]")).to_string()), Some(AnsweredThinking::default()));
    assert_eq!(read(&answer(None).to_string()), None);
    let stream = |of_delta: &str| {
        let start = json!({"type": "message_start", "message": answer(Some(DROPPED))});
        let delta = format!(r#"{{"type":"message_delta","delta":{{}},"usage":{{"output_tokens":9}}{of_delta}}}"#);
        format!("data: {start}\n\ndata: {delta}\n\ndata: {{\"type\":\"message_stop\"}}\n\n")
    };
    assert_eq!(read(&stream("")), Some(expected));
    assert_eq!(read(&stream(r#","input_transformations":[]"#)), Some(AnsweredThinking::default()), "after a fallback");
}

#[test]
fn an_answer_that_dropped_thinking_is_no_refusal() {
    let text = log(200, &answer(Some(DROPPED)));
    let (_, outcome) = Folder::new(&[("log.jsonl", text.clone())]).check();
    assert_eq!(outcome.report.violations, []);
    let notes = outcome.report.notes.iter().filter(|noted| noted.note == NoteKind::ThinkingUnbound);
    let told: Vec<&str> = notes.filter_map(|noted| noted.answer.as_deref()).collect();
    let expected = "1 thinking block was dropped, as the recorded answer says (`prefix_binding_mismatch`): content before it differs";
    assert!(matches!(told[..], [told] if told.starts_with(expected)), "{told:?}");
    let inputs = Inputs::from_bytes("log.jsonl", text.as_bytes(), InputFormat::Auto);
    let report = replay(&inputs, &Options::default());
    let remarks: Vec<&String> = report.entries.iter().flat_map(|entry| &entry.line.remarks).collect();
    assert!(remarks.iter().any(|remark| remark.contains(expected)), "{remarks:?}");
    assert!(!remarks.iter().any(|remark| remark.contains("HTTP 400")), "{remarks:?}");
}

#[test]
fn a_recorded_refusal_of_thinking_is_a_finding_and_another_one_is_not() {
    let error =
        |message: &str| json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    let text = log(400, &error(REFUSED));
    let (_, outcome) = Folder::new(&[("log.jsonl", text.clone())]).check();
    let violations = &outcome.report.violations;
    assert!(
        matches!(&violations[..], [found] if found.rule == Rule::Thinking && found.chain.as_deref() == Some("main")
        && found.found == format!("HTTP 400: {REFUSED}") && found.expected.contains("drop_block")),
        "{violations:?}"
    );
    assert!(!outcome.report.score["thinking"]);
    let inputs = Inputs::from_bytes("log.jsonl", text.as_bytes(), InputFormat::Auto);
    let report = replay(&inputs, &Options::default());
    assert!(report.entries.iter().any(|entry| entry.line.remarks.iter().any(|remark| remark == REFUSED)));
    let (_, other) = Folder::new(&[("log.jsonl", log(400, &error("max_tokens: Field required")))]).check();
    assert_eq!(other.report.violations, []);
}
