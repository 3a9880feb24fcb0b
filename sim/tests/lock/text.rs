//! The text of a lock: small, complete, without any text of a prompt, and the same for the same input.

use forkcast_sim::guard::Rules;
use forkcast_sim::guard::lock::{Lock, Recording, equality};
use serde_json::json;

use super::stage::{Talk, lock_of, long};

fn forked() -> Lock {
    let parent = Talk::new();
    let fork = |directive: &str| {
        let mut talk = parent.clone();
        talk.messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "I fork."}]}));
        talk.messages.push(json!({"role": "user", "content": [{"type": "text", "text": directive}]}));
        vec![talk.body(7)]
    };
    lock_of(
        &Recording::default(),
        &[
            ("main", None, parent.requests()),
            ("fork-1", Some("main"), fork("Look at the lexer.")),
            ("fork-2", Some("main"), fork("Look at the printer.")),
        ],
    )
}

#[test]
fn the_text_survives_a_round_trip_byte_for_byte() {
    for lock in [Talk::new().lock(), forked(), Lock::default()] {
        let text = lock.text();
        let read = Lock::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.text(), text);
        assert_eq!((read.requests(), read.cost()), (lock.requests(), lock.cost()));
        for (chain, known) in read.chains.iter().zip(&lock.chains) {
            assert_eq!((&chain.name, &chain.parent), (&known.name, &known.parent));
            for (request, known) in chain.requests.iter().zip(&known.requests) {
                let blocks = read.prompt(request).len();
                assert_eq!((blocks, request.levels), (lock.prompt(known).len(), known.levels));
                assert_eq!((&request.breakpoints, request.usage), (&known.breakpoints, known.usage));
            }
        }
    }
}

#[test]
fn the_same_requests_give_the_same_bytes() {
    assert_eq!(forked().text(), forked().text());
}

#[test]
fn shared_parts_of_requests_are_stored_once() {
    let text = forked().text();
    let blocks = text.lines().filter(|line| line.trim_start().starts_with("[\"")).count();
    // Two tools, a system text and five message blocks of the parent; the answer and a directive for each fork.
    assert_eq!(blocks, 8 + 2 + 1, "{text}");
    assert!(text.contains("keeps = { request = 0, blocks = 4 }"), "{text}");
    // A fork's first request is stored relative to its parent's last, a sibling's relative to the previous fork.
    assert!(text.contains("keeps = { request = 2, blocks = 8 }"), "{text}");
    assert!(text.contains("keeps = { request = 3, blocks = 9 }"), "{text}");
}

#[test]
fn after_a_changed_system_prompt_the_conversation_is_listed_as_seen_before() {
    let talk = Talk::new();
    let mut changed = talk.clone();
    changed.system[0]["text"] = json!(long("another"));
    let lock = lock_of(&Recording::default(), &[("main", None, vec![talk.body(3), changed.body(5)])]);
    let text = lock.text();
    assert!(text.contains("keeps = { request = 0, blocks = 2 }"), "{text}");
    assert!(text.contains("[\"=\", 0, 3, 6],"), "{text}");
    assert_eq!(Lock::parse(&text).unwrap().text(), text);
}

#[test]
fn prompt_text_is_only_included_on_request() {
    let talk = Talk::new();
    let plain = talk.lock().text();
    for secret in ["Reads a file", "rule 7", "parser.rs", "line 9", "It reads tokens", "Which ones"] {
        assert!(!plain.contains(secret), "{secret}");
    }
    let shown = Recording { show_content: true, ..Recording::default() };
    let lock = lock_of(&shown, &[("main", None, talk.requests())]);
    let text = lock.text();
    assert!(text.contains("It reads tokens") && text.contains("rule 7"));
    assert_eq!(Lock::parse(&text).unwrap().text(), text);
}

#[test]
fn names_can_be_replaced_by_ids_that_are_equal_for_equal_names() {
    let talk = Talk::new();
    let hidden = Recording { anonymous: true, ..Recording::default() };
    let lock = lock_of(&hidden, &[("main", None, talk.requests()), ("secret-agent", Some("main"), talk.requests())]);
    let text = lock.text();
    for name in ["\"Read\"", "\"main\"", "secret-agent"] {
        assert!(!text.contains(name), "{name}");
    }
    assert!(text.contains("anonymous = true"));
    let parent = lock.chains[1].parent.as_ref().unwrap();
    assert_eq!((parent, Lock::parse(&text).unwrap().text()), (&lock.chains[0].name, text));
}

#[test]
fn a_block_has_a_digest_for_each_256_bytes() {
    let lock = Talk::new().lock();
    for request in &lock.chains[0].requests {
        for placed in lock.prompt(request) {
            assert_eq!(placed.block.chunks.len() as u64, placed.block.bytes.div_ceil(256));
        }
    }
}

#[test]
fn a_lock_without_signs_of_contents_is_read_and_equals_the_same_requests() {
    let newer = Talk::new().lock();
    let mut text = newer.text();
    let signed = text.find("\"Read#").expect("a call has the digest of its content in any order of keys");
    text.replace_range(signed + "\"Read".len()..signed + "\"Read#01234567".len(), "");
    let older = Lock::parse(&text).unwrap();
    assert_eq!(older.text(), text);
    assert!(equality(&older, &newer, &Rules::default()).findings.is_empty());
}

#[test]
fn strange_names_survive() {
    let strange = "a \"tool\" \\ with\nlines, tabs\t, \u{7f} and \u{1} and 名前 \u{202e}";
    let mut talk = Talk::new();
    talk.tools[0]["name"] = json!(strange);
    let lock = lock_of(&Recording::default(), &[(strange, None, talk.requests())]);
    let read = Lock::parse(&lock.text()).unwrap();
    assert_eq!(read.chains[0].name, strange);
    assert_eq!(read.prompt(&read.chains[0].requests[0])[0].block.name, strange);
}

#[test]
fn a_long_conversation_takes_space_only_for_new_blocks() {
    let mut talk = Talk::new();
    for turn in 0..200 {
        talk.messages
            .push(json!({"role": "assistant", "content": [{"type": "text", "text": format!("Answer {turn}")}]}));
        talk.messages.push(json!({"role": "user", "content": [{"type": "text", "text": format!("Question {turn}")}]}));
    }
    let text = talk.lock().text();
    assert_eq!(text.matches("[[chain.request]]").count(), 203);
    assert!(text.len() < 150_000, "{} bytes", text.len());
}
