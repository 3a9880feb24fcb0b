//! Transcripts: the conversation as far as it is shown.

use std::path::Path;

use serde_json::{Value, json};

use super::stage::{Folder, breaks, chains, check};

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A session of turns: a prompt and an answer each.
struct Session {
    lines: Vec<String>,
    seconds: usize,
    tokens: u64,
}

impl Session {
    fn new() -> Self {
        Self { lines: Vec::new(), seconds: 0, tokens: 5_000 }
    }

    fn line(&mut self, kind: &str, message: &Value, more: &Value) {
        self.seconds += 1;
        let number = self.lines.len();
        let mut line = json!({"type": kind, "sessionId": "s1", "uuid": format!("u{number}"), "version": "2.1.200",
            "parentUuid": number.checked_sub(1).map(|before| format!("u{before}")), "cwd": "/home/someone/project",
            "timestamp": format!("2026-09-25T10:{:02}:{:02}.000Z", self.seconds / 60, self.seconds % 60), "message": message});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.lines.push(line.to_string());
    }

    fn turn(&mut self, model: &str) {
        let text = format!("Question {}", self.lines.len());
        self.line("user", &json!({"role": "user", "content": text}), &json!({}));
        let read = self.tokens;
        self.tokens += 100;
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": read, "cache_creation_input_tokens": 97,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 97}, "output_tokens": 20});
        let id = format!("msg_{}", self.lines.len());
        let content = json!([{"type": "text", "text": format!("Answer {id}")}]);
        let message = json!({"role": "assistant", "id": id, "model": model, "type": "message", "content": content,
            "stop_reason": "end_turn", "usage": usage});
        self.line("assistant", &message, &json!({"requestId": format!("req_{id}")}));
    }

    fn folder(&self) -> Folder {
        Folder::new(&[("session.jsonl", self.lines.join("\n"))])
    }
}

#[test]
fn a_conversation_that_only_grows_breaks_nothing() {
    let mut session = Session::new();
    (0..6).for_each(|_| session.turn("claude-opus-4-8"));
    let (fed, outcome) = session.folder().check();
    assert_eq!((fed.requests, breaks(&outcome).len()), (6, 0));
    assert_eq!(chains(&outcome), [("s1/main".to_owned(), 6)]);
    assert_eq!(outcome.origins[5].line, 12);
}

#[test]
fn another_model_breaks_it_and_no_byte_is_claimed() {
    let mut session = Session::new();
    ["claude-opus-4-8", "claude-opus-4-8", "claude-sonnet-4-6"].into_iter().for_each(|model| session.turn(model));
    let (_, outcome) = session.folder().check();
    assert_eq!(breaks(&outcome).iter().map(|found| found.1).collect::<Vec<_>>(), ["model_changed"]);
    let finding = &outcome.report.findings[0];
    assert_eq!((finding.offset_in_block, finding.offset_in_prefix, &finding.windows), (None, None, &None));
}

#[test]
fn a_lock_begins_at_the_first_visible_message() {
    let mut session = Session::new();
    (0..3).for_each(|_| session.turn("claude-opus-4-8"));
    let (_, outcome) = session.folder().check();
    let lock = outcome.lock.unwrap();
    let first = lock.prompt(&lock.chains[0].requests[0]);
    assert_eq!(first.len(), 1);
    assert_eq!(
        (first[0].place.to_string(), first[0].block.name.as_str()),
        ("messages[0].content[0]".to_owned(), "user")
    );
    let text = lock.text();
    assert!(!text.contains("Question") && !text.contains("system"), "{text}");
    // Three requests of one, three and five blocks, each of which stands once.
    assert_eq!(text.matches("\n  [\"messages[").count(), 5);
}

#[test]
fn agents_are_chains_and_name_their_parents() {
    let (fed, outcome) = check(&[fixture("claude-code.jsonl")]);
    assert!(fed.requests > 0);
    assert!(chains(&outcome).iter().all(|(name, _)| name.contains('/')), "{:?}", chains(&outcome));
}

#[test]
fn transcripts_of_models_without_a_profile_are_counted() {
    let (fed, outcome) = check(&[fixture("codex.jsonl")]);
    assert_eq!((fed.requests, outcome.report.requests), (0, 0));
    assert!(fed.unchecked.iter().any(|found| found.reason.contains("no cache profile")), "{:?}", fed.unchecked);
    assert!(fed.nothing().unwrap().contains("no cache profile"));
}
