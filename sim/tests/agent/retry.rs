//! Refused and broken calls (`clients.md` 1), and the state after an abort.

use forkcast_sim::agent::entry::Nature;
use forkcast_sim::agent::permission::Mode;
use forkcast_sim::model::{Broken, Event};
use serde_json::json;

use super::reply::{Reply, Step};
use super::theatre::Theatre;

#[test]
fn an_overload_refusal_is_retried_with_the_same_bytes_after_growing_waits() {
    let replies = (0..3).map(|_| Reply::refused(529, None)).chain([Reply::says("at last")]).collect();
    let played = Theatre::new(replies).types(0, "go").play();
    let at: Vec<u64> = played.asked.iter().map(|asked| asked.at_ms).collect();
    assert_eq!(at, [0, 600, 1_800, 4_300]);
    let bodies: Vec<_> = played.asked.iter().map(|asked| asked.question.draft.body()).collect();
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
    let attempts: Vec<u32> = played.asked.iter().map(|asked| asked.question.attempt).collect();
    assert_eq!((attempts, played.reasons()), (vec![0, 1, 2, 3], vec!["completed".to_owned()]));
}

#[test]
fn each_retry_is_reported_with_its_reason_and_wait() {
    let replies = vec![Reply::refused(529, None), Reply::lost(), Reply::says("at last")];
    let played = Theatre::new(replies).types(0, "go").play();
    let told = played.events("request.retry");
    let waits: Vec<_> = told.iter().map(|event| (&event["attempt"], &event["wait_ms"])).collect();
    assert_eq!(waits, [(&json!(1), &json!(600)), (&json!(2), &json!(1_200))]);
    let why = |at: usize| told[at]["why"].as_str().unwrap();
    assert!(why(0).contains("529") && why(1) != why(0) && !why(1).is_empty(), "{told:?}");
}

#[test]
fn retry_after_is_obeyed() {
    let played = Theatre::new(vec![Reply::refused(429, Some(3_400)), Reply::says("x")]).types(0, "go").play();
    assert_eq!(played.asked[1].at_ms, 3_400);
}

#[test]
fn stop_02_after_eleven_attempts_the_refusal_replaces_the_answer() {
    let replies = (0..11).map(|_| Reply::refused(500, None)).collect();
    let played = Theatre::new(replies).types(0, "go").play();
    assert_eq!(played.asked.len(), 11);
    assert_eq!(played.asked[10].at_ms, 178_900);
    assert_eq!(played.entries()[1].nature, Nature::ApiError);
    assert_eq!(played.reasons(), ["completed"]);
}

#[test]
fn other_refusals_are_final() {
    let played = Theatre::new(vec![Reply::refused(400, None)]).types(0, "go").play();
    assert_eq!((played.asked.len(), played.reasons()), (1, vec!["completed".to_owned()]));
}

#[test]
fn loop_10_a_broken_stream_leaves_tombstones_and_is_requested_again() {
    let call = Reply::calls(&[("t1", "Probe", json!({}))]);
    let broken = call.cut(4, Some(Step::Break(Broken::Reset)));
    let played = Theatre::new(vec![broken, Reply::says("whole")]).types(0, "go").play();
    assert_eq!(played.asked[1].at_ms, 600);
    assert_eq!(played.asked[0].question.draft.body(), played.asked[1].question.draft.body());
    let struck = played.words("transcript.append", "kind");
    assert_eq!(struck, ["typed", "results", "tombstone", "tombstone", "said"], "its result and its part");
    assert_eq!(played.entries().len(), 2);
    let kept = played.main.session.transcripts.replay("main").unwrap();
    assert_eq!(kept.len(), 2);
}

#[test]
fn loop_10_pings_and_errors_of_a_stream_are_passed_on_unchanged() {
    let failed = Event::Error { kind: "overloaded_error".into(), message: "full".into() };
    let broken = Reply::says("x").with(1, Step::Event(Event::Ping)).with(1, Step::Wait(500));
    let broken = broken.cut(5, Some(Step::Event(failed)));
    let played = Theatre::new(vec![broken, Reply::says("y")]).types(0, "go").play();
    let taken_back = ["message_start", "ping", "content_block_start", "content_block_delta", "error", "tombstone"];
    let whole = ["message_start", "content_block_start", "content_block_delta", "content_block_stop"];
    let end = ["message_delta", "message_stop", "said"];
    assert_eq!(played.words("ui.event", "kind"), [&taken_back[..], &whole, &end].concat());
    assert_eq!(played.at(&[("event", "ui.event"), ("kind", "message_start")]), Some(0));
    assert_eq!(played.at(&[("event", "ui.event"), ("kind", "ping")]), Some(500));
}

#[test]
fn a_stream_that_is_closed_or_fails_before_its_end_is_broken() {
    let failed = Event::Error { kind: "overloaded_error".into(), message: "full".into() };
    for end in [None, Some(Step::Event(failed))] {
        let theatre = Theatre::new(vec![Reply::says("x").cut(3, end), Reply::says("y")]);
        let played = theatre.types(0, "go").play();
        assert_eq!((played.asked.len(), played.entries()[1].text.as_ref()), (2, "y"));
    }
}

#[test]
fn a_permanently_lost_connection_gives_no_answer() {
    let mut theatre = Theatre::new((0..3).map(|_| Reply::lost()).collect()).types(0, "go");
    theatre.settings.retries.attempts_max = 2;
    let played = theatre.play();
    assert_eq!((played.asked.len(), played.reasons()), (3, vec!["model_error".to_owned()]));
    assert_eq!(played.entries().len(), 1, "nothing replaces it");
}

#[test]
fn loop_15_an_abort_answers_every_call_as_interrupted() {
    let calls = [
        ("a", "Probe", json!({ "says": "early" })),
        ("b", "Probe", json!({ "takes_ms": 60_000 })),
        ("c", "Probe", json!({ "takes_ms": 60_000, "deaf": true })),
        ("d", "Late", json!({ "takes_ms": 60_000 })),
    ];
    let theatre = Theatre::new(vec![Reply::calls(&calls), Reply::says("next")]);
    let played = theatre.types(0, "go").escapes(5_000).types(9_000, "what now?").play();
    assert_eq!(played.reasons(), ["aborted", "completed"]);
    assert_eq!(played.asked[1].at_ms, 9_000);
    let messages = played.asked[1].messages();
    let last = messages.last().unwrap()["content"].as_array().unwrap().clone();
    let ids: Vec<&str> = last.iter().filter_map(|block| block["tool_use_id"].as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"], "each once, in the order of the calls");
    assert_eq!(last[0]["content"], "early");
    assert!(last[1..4].iter().all(|block| block["is_error"] == true));
    assert!(last[4]["text"].as_str().unwrap().contains("interrupted"));
    assert_eq!(last[5]["text"], "what now?");
}

#[test]
fn an_abort_keeps_partial_text_but_no_empty_message() {
    // After and before the text; in both cases the starts of message and block have arrived.
    for (at, expected) in [(3, vec!["user", "assistant", "user"]), (2, vec!["user"])] {
        let slow = Reply::says("half a sentence").with(at, Step::Wait(60_000));
        let theatre = Theatre::new(vec![slow, Reply::says("next")]).types(0, "go").escapes(5_000);
        let played = theatre.types(9_000, "go on").play();
        let messages = played.asked[1].messages();
        let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
        assert_eq!(roles, expected);
        assert_eq!(played.asked[1].said().contains("half a sentence"), at == 3);
    }
}

#[test]
fn an_abort_ends_the_wait_for_an_answer_or_a_retry() {
    let slow = Theatre::new(vec![Reply::says("x").first_byte(60_000)]).types(0, "go").escapes(100).play();
    assert_eq!((slow.reasons(), slow.at_ms), (vec!["aborted".to_owned()], 100));
    let refused = Theatre::new(vec![Reply::refused(529, Some(60_000))]).types(0, "go").escapes(100).play();
    assert_eq!((refused.reasons(), refused.at_ms), (vec!["aborted".to_owned()], 100));
}

#[test]
fn an_abort_ends_the_wait_for_permission() {
    let theatre = Theatre::new(vec![Reply::calls(&[("t1", "Bash", json!({ "command": "make" }))])]);
    theatre.permissions.mode.set(Mode::Default);
    let played = theatre.types(0, "go").escapes(5_000).play();
    assert_eq!(played.reasons(), ["aborted"]);
    assert_eq!(played.words("tool.end", "outcome"), ["denied"], "a question that is left is a no");
    assert!(played.events("tool.start").is_empty());
}
