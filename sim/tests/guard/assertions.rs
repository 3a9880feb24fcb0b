//! Assertions in a test suite, and their messages.

use std::panic::{AssertUnwindSafe, catch_unwind};

use forkcast_sim::assert_prefix_stable;
use forkcast_sim::guard::{Guard, Rules};
use serde_json::{Value, json};

use super::conversation::{body, replace};

/// The message of a failed assertion.
fn said(assertion: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(assertion)).expect_err("the assertion holds");
    *payload.downcast::<String>().expect("a text")
}

fn short(system: &str, words: &[&str]) -> Value {
    let roles = ["user", "assistant"].into_iter().cycle();
    let messages: Vec<Value> =
        words.iter().zip(roles).map(|(word, role)| json!({"role": role, "content": word})).collect();
    json!({"model": "claude-sonnet-4-5", "system": system, "messages": messages})
}

#[test]
fn every_form_of_a_body_is_accepted() {
    let (older, newer) = (short("Be kind.", &["Hi"]), short("Be kind.", &["Hi", "Hello.", "How are you?"]));
    assert_prefix_stable!(older, newer);
    assert_prefix_stable!(&older, newer.to_string());
    assert_prefix_stable!(older.to_string().as_str(), newer.to_string().into_bytes());
    assert_prefix_stable!(older.to_string().as_bytes(), *br#"{"model":"claude-sonnet-4-5","system":[{"type":"text","text":"Be kind."}],"messages":[{"role":"user","content":"Hi"}]}"#);
}

#[test]
fn a_failure_message_looks_like_this() {
    let (older, mut newer) = (body(3), body(4));
    replace(&mut newer, "/system/0/text", "2026-11-20", "2026-11-21");
    replace(&mut newer, "/tools/1/description", "Edit is said here. Edit", "Edit is said twice. Edit");
    let text = said(|| assert_prefix_stable!(older, newer));
    let golden = include_str!("failure.txt");
    assert_eq!(text, golden, "\n{text}");
}

#[test]
fn short_prompts_without_breakpoints_are_checked_too() {
    let text = said(|| {
        assert_prefix_stable!(short("It is 10:15.", &["Hi"]), short("It is 10:16.", &["Hi", "Hello.", "And?"]));
    });
    assert!(text.contains("system_changed, a time") && text.contains("system[0]"), "{text}");
    said(|| assert_prefix_stable!(short("a", &["Hi"]), short("a", &["Ho", "Hello.", "And?"])));
}

#[test]
fn a_whole_conversation_is_checked_request_by_request() {
    let mut guard = Guard::in_tests();
    for turns in 0..4 {
        guard.assert_next(&body(turns));
    }
    let mut broken = body(4);
    replace(&mut broken, "/messages/3/content/0/text", "plan 1 is", "plan 1 was");
    let text = said(|| drop(guard.assert_next(&broken)));
    assert!(text.contains("request 4") && text.contains("messages[3].content[0]"), "{text}");
}

#[test]
fn a_dropped_breakpoint_fails_even_if_it_was_the_last_one() {
    let mut unmarked = body(2);
    super::conversation::unmark(&mut unmarked);
    unmarked["system"][1].as_object_mut().unwrap().remove("cache_control");
    let text = said(|| assert_prefix_stable!(body(1), unmarked));
    assert!(text.contains("no_breakpoint"), "{text}");
}

#[test]
fn a_body_that_is_no_request_is_reported() {
    let text = said(|| assert_prefix_stable!("{}", "{}"));
    assert!(text.contains("body 0 is no request of the Messages API: no `messages`"), "{text}");
    let text = said(|| assert_prefix_stable!(body(1), "[1, 2"));
    assert!(text.contains("body 1 is no request"), "{text}");
}

#[test]
fn a_change_that_the_rules_allow_passes() {
    let mut guard = Guard::new(Rules::from_toml("[[allow]]\ncause = \"message_edited\"").unwrap());
    guard.assert_next(&body(1));
    let mut edited = body(2);
    replace(&mut edited, "/messages/1/content/0/text", "plan 0 is", "plan 0 was");
    assert!(!guard.assert_next(&edited).findings.is_empty());
}
