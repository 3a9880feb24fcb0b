//! Transcripts: the conversation as far as it is shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::lock::{Lock, equality};
use forkcast_sim::guard::{NoteKind, Rules};
use serde_json::{Value, json};

use super::stage::{Folder, breaks, chains, check, long};

fn fixture(name: &str) -> PathBuf {
    forkcast_fixtures::fixture(name)
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
            "timestamp": at(self.seconds), "message": message});
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

/// The instant so many seconds after the session began.
fn at(seconds: usize) -> String {
    format!("2026-09-25T{:02}:{:02}:{:02}.000Z", 10 + seconds / 3_600, seconds / 60 % 60, seconds % 60)
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
fn what_a_request_lost_is_what_its_usage_shows() {
    let mut session = Session::new();
    (0..3).for_each(|_| session.turn("claude-opus-4-8"));
    // Two hours later the entry is gone, and nothing is read: the bytes are the same.
    session.seconds += 7_200;
    let read = std::mem::take(&mut session.tokens);
    session.turn("claude-opus-4-8");
    session.tokens = read + 100;
    (0..2).for_each(|_| session.turn("claude-opus-4-8"));
    // Only the beginning of the hidden prefix is read: it changed, and no block shows it.
    session.tokens = 2_000;
    session.turn("claude-opus-4-8");
    let (_, outcome) = session.folder().check();
    let replayed = replay(&Inputs::read(&[session.folder().path("")], InputFormat::Auto).unwrap(), &Options::default());
    let found: Vec<_> =
        outcome.report.findings.iter().map(|found| (found.request, found.cause, found.loss.unwrap())).collect();
    let lost = replayed.lines().flat_map(|line| line.charge.causes.iter().map(|part| (line.index, part.cause, part)));
    let [(_, Cause::Expired, _), (changed, Cause::SystemChanged, part)] = lost.collect::<Vec<_>>()[..] else {
        panic!("{:?}", replayed.entries);
    };
    let [(request, Cause::SystemChanged, loss)] = found[..] else { panic!("{found:?}") };
    assert_eq!((request, loss.tokens, loss.cost), (changed, part.tokens, part.cost));
    let noted: Vec<_> = outcome.report.notes.iter().map(|note| (note.request, note.note)).collect();
    assert_eq!(noted, [(3, NoteKind::Time(Cause::Expired))]);
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
    // Three requests of one, three and five blocks, each of which is there once.
    assert_eq!(text.matches("\n  [\"messages[").count(), 5);
}

#[test]
fn agents_are_chains_and_name_their_parents() {
    let (fed, outcome) = check(&[fixture("claude-code.jsonl")]);
    assert!(fed.requests > 0);
    assert!(chains(&outcome).iter().all(|(name, _)| name.contains('/')), "{:?}", chains(&outcome));
}

#[test]
fn transcripts_of_codex_are_compared_as_openais_bodies_are() {
    let (fed, outcome) = check(&[fixture("codex.jsonl")]);
    assert_eq!((fed.requests, fed.remarks.openai, fed.remarks.rebuilt), (3, 3, 3));
    assert!(fed.unchecked.is_empty());
    let told = fed.remarks.told();
    assert!(told[0].starts_with("3 requests to OpenAI: compared as its own breakpoints would"), "{told:?}");
    let found: Vec<_> =
        outcome.report.findings.iter().map(|found| (found.cause.word(), found.provider_reason())).collect();
    assert_eq!(found, [("rewound", Some("input_changed"))]);
}

#[test]
fn other_caches_count_as_automatic_ones() {
    let (fed, outcome) = check(&[fixture("gemini-cli.jsonl")]);
    assert_eq!((fed.requests, outcome.report.requests, fed.unchecked.len()), (2, 2, 0));
    assert_eq!(fed.remarks.unprofiled, [("gemini-2.5-flash".to_owned(), 2)].into());
    assert!(
        fed.remarks.told()[0].starts_with("2 requests to `gemini-2.5-flash`: the rules of its cache are not known")
    );
}

#[test]
fn requests_without_usage_are_rebuilt_too() {
    let mut session = Session::new();
    (0..4).for_each(|_| session.turn("claude-opus-4-8"));
    let without = |line: &String| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["message"].as_object_mut().unwrap().remove("usage");
        line.to_string()
    };
    session.lines = session.lines.iter().map(without).collect();
    let (fed, outcome) = session.folder().check();
    assert_eq!((fed.requests, fed.remarks.unmeasured, breaks(&outcome).len()), (4, 4, 0));
    let lock = outcome.lock.unwrap();
    let tokens: Vec<u64> = lock.chains[0].requests.iter().map(|request| request.usage.total_input_tokens()).collect();
    assert!(tokens.windows(2).all(|pair| pair[0] < pair[1]), "{tokens:?}");
}

/// Two turns about `topic`.
fn about(topic: &str) -> Folder {
    let mut session = Session::new();
    for _ in 0..2 {
        session.turn("claude-opus-4-8");
    }
    session.lines.iter_mut().for_each(|line| *line = line.replace("Question", topic));
    session.folder()
}

#[test]
fn blocks_of_equal_content_are_equal_and_no_others() {
    let lock = |topic: &str| about(topic).check().1.lock.unwrap();
    let (one, same, other) = (lock("Question"), lock("Question"), lock("Problems"));
    assert_eq!(one.text(), same.text());
    let digests = |lock: &Lock| -> Vec<String> {
        let last = lock.prompt(&lock.chains[0].requests[1]);
        last.iter().map(|placed| placed.block.digest.to_string()).collect()
    };
    // Question, answer, question: the answers are equal in both.
    let shared: Vec<bool> = digests(&one).iter().zip(&digests(&other)).map(|(one, other)| one == other).collect();
    assert_eq!(shared, [false, true, false]);
    let first = one.prompt(&one.chains[0].requests[0])[0].block;
    assert_eq!((first.bytes, first.chunks.len(), &first.content), ("\"Question 0\"".len() as u64, 0, &None));
    assert_eq!(Lock::parse(&one.text()).unwrap().text(), one.text());
}

#[test]
fn another_text_of_the_same_length_shows_against_the_lock() {
    let pinned = Lock::parse(&about("Question").check().1.lock.unwrap().text()).unwrap();
    let (_, outcome) = about("Problems").check();
    assert_eq!(outcome.report.findings, []);
    let found = equality(&pinned, &outcome.lock.unwrap(), &Rules::default()).findings;
    let told: Vec<_> =
        found.iter().map(|found| (found.cause.word(), found.path.as_str(), found.offset_range)).collect();
    let edited = |path| ("message_edited", path, None);
    assert_eq!(told, [edited("messages[0].content[0]"), edited("messages[2].content[0]")]);
}

#[test]
fn blocks_of_which_only_sizes_are_known_are_their_conversations_own() {
    let text = fs::read_to_string(fixture("tracelab.jsonl")).unwrap();
    let digests = |text: &str| -> BTreeSet<String> {
        let lock = Folder::new(&[("rounds.jsonl", text.to_owned())]).check().1.lock.unwrap();
        let requests = lock.chains.iter().flat_map(|chain| &chain.requests);
        requests.flat_map(|request| lock.prompt(request)).map(|placed| placed.block.digest.to_string()).collect()
    };
    let (one, other) =
        (digests(&text), digests(&text.replace("claude:s1", "claude:s9").replace("codex:s2", "codex:s8")));
    assert!(!one.is_empty() && one.is_disjoint(&other));
    assert_eq!(one, digests(&text));
}

#[test]
fn runs_of_one_name_are_sessions_of_their_own_and_stages_of_one_chat_are_one() {
    let run = |task: &str| {
        let words = |role: &str, text: &str| json!({"role": role, "content": text});
        json!({"trajectory": [], "info": {}, "history": [words("user", &long(task)), words("assistant", "Done."),
            words("user", "And?"), words("assistant", "Done too.")]})
        .to_string()
    };
    let two = Folder::new(&[("a/one.traj", run("bees")), ("b/one.traj", run("ants"))]);
    let (_, outcome) = two.check();
    assert_eq!(chains(&outcome), [("one/main".to_owned(), 2), ("one~2/main".to_owned(), 2)]);
    assert_eq!(outcome.report.findings, []);
    let text = fs::read_to_string(fixture("gemini-cli.jsonl")).unwrap();
    let early = text.lines().take(5).collect::<Vec<_>>().join("\n");
    let (_, outcome) = Folder::new(&[("early.jsonl", early), ("late.jsonl", text)]).check();
    assert_eq!(chains(&outcome).len(), 1, "{:?}", chains(&outcome));
}

#[test]
fn every_format_is_equal_to_its_own_lock() {
    let mut files: Vec<_> = fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file() && file.extension().is_none_or(|extension| extension != "csv"));
    assert!(files.len() > 25);
    for file in files {
        let told = file.display().to_string();
        let (fed, outcome) = check(std::slice::from_ref(&file));
        assert!(fed.requests > 0, "{told}: {:?}", fed.unchecked);
        let text = outcome.lock.unwrap().text();
        let pinned = Lock::parse(&text).unwrap_or_else(|bad| panic!("{told}: {bad}"));
        let again = check(&[file]).1.lock.unwrap();
        assert_eq!(again.text(), text, "{told}");
        let found = equality(&pinned, &again, &Rules::default());
        assert!(
            found.findings.is_empty()
                && found.missing.is_empty()
                && found.strangers.is_empty()
                && found.notes.is_empty(),
            "{told}"
        );
    }
}
