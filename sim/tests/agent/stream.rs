//! Answers as they arrive, and the tools that start meanwhile (contract STREAM).

use std::rc::Rc;

use forkcast_sim::agent::Entry;
use forkcast_sim::agent::entry::Nature;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::model::{Answer, Delta, Event, Opened, StopReason};
use forkcast_sim::wire::{Piece, Role, Usage};
use serde_json::{Value, json};

use super::reply::{self, Reply, Step};
use super::theatre::{Played, Theatre};

/// Two calls: the first one's input is complete after 100 ms, its block ends after 200 ms; the second one's is complete
/// after 1,000 ms; the message ends after 1,300 ms.
fn two_calls(first_takes_ms: u64) -> Reply {
    let first = format!("\"takes_ms\":{first_takes_ms},\"says\":\"one \\\"}}\"}}");
    let mut steps: Vec<Step> = Vec::new();
    let mut say = |event: Event, after_ms: u64| {
        steps.extend([Step::Event(event), Step::Wait(after_ms)]);
    };
    say(reply::start(), 0);
    say(reply::opens_call(0, "t1", "Probe"), 0);
    say(reply::input(0, "{"), 100);
    say(reply::input(0, &first), 100);
    say(Event::BlockStop { index: 0 }, 800);
    say(reply::opens_call(1, "t2", "Probe"), 0);
    say(reply::input(1, "{\"takes_ms\":50,\"says\":\"two\"}"), 300);
    say(Event::BlockStop { index: 1 }, 0);
    for event in reply::stop(StopReason::ToolUse) {
        say(event, 0);
    }
    Reply { steps, ..Reply::default() }
}

fn streaming(reply: Reply) -> Theatre {
    Theatre::new(vec![reply, Reply::says("done")]).types(0, "go")
}

fn starts(played: &Played, id: &str) -> Option<u64> {
    played.at(&[("event", "tool.start"), ("tool_use", id)])
}

#[test]
fn stream_01_a_script_with_another_order_is_refused() {
    let text = |index| Event::BlockStart { index, block: Opened::Text };
    let refused = |events: Vec<Event>| Answer { events, ..Answer::default() }.check().unwrap_err();
    assert_eq!(refused(vec![text(0)]), (0, "message_start"));
    assert_eq!(refused(vec![reply::start(), Event::BlockStop { index: 0 }]).0, 1);
    assert_eq!(refused(vec![reply::start(), text(0), Event::MessageStop]).0, 2);
    assert_eq!(refused(vec![reply::start(), text(1)]).0, 1);
    assert_eq!(refused(vec![reply::start()]), (1, "message_stop"));
    let orderly = Answer { events: vec![reply::start(), Event::Ping, Event::MessageStop], ..Answer::default() };
    assert_eq!(orderly.check(), Ok(()));
}

#[test]
fn stream_02_events_are_handled_as_they_arrive() {
    let played = streaming(two_calls(10)).play();
    let kinds = |kind| played.at(&[("event", "response.event"), ("kind", kind)]);
    assert_eq!((kinds("message_start"), kinds("content_block_stop")), (Some(0), Some(200)));
    assert_eq!(kinds("message_stop"), Some(1_300));
}

#[test]
fn stream_03_stream_08_the_start_gives_the_time_to_the_first_token_and_the_end_the_usage() {
    let usage = Usage { input_tokens: 5, cache_read_input_tokens: 70, ..Usage::default() };
    let reply = Reply::says("x").used(usage, 9).first_byte(1_500).with(-1, Step::Wait(400));
    let played = Theatre::new(vec![reply]).types(100, "go").play();
    let first = played.events("response.first")[0];
    assert_eq!(first["after_ms"], 1_500);
    assert_eq!(played.at(&[("event", "usage")]), Some(2_000));
    let expected = json!({ "input": 5, "read": 70, "write_5m": 0, "write_1h": 0, "output": 9 });
    assert_eq!(played.events("usage")[0]["usage"], expected);
    assert_eq!(played.entries()[1].usage, Usage { output_tokens: 9, ..usage });
}

#[test]
fn stream_04_stream_05_stream_09_deltas_grow_the_block_at_their_index() {
    let delta = |index, delta| Event::BlockDelta { index, delta };
    let mut events = vec![
        reply::start(),
        Event::BlockStart { index: 0, block: Opened::Thinking },
        delta(0, Delta::Thinking("think ".into())),
        delta(0, Delta::Thinking("twice".into())),
        delta(0, Delta::Signature("sig".into())),
        Event::BlockStop { index: 0 },
        Event::BlockStart { index: 1, block: Opened::Text },
        delta(1, Delta::Text("first ".into())),
        delta(1, Delta::Text("second".into())),
        Event::BlockStop { index: 1 },
        reply::opens_call(2, "t1", "Probe"),
        reply::input(2, "{\"b\":1,"),
        reply::input(2, "\"a\":{\"x\":\"}\"}}"),
        Event::BlockStop { index: 2 },
    ];
    events.extend(reply::stop(StopReason::ToolUse));
    let played = streaming(Reply::events(events)).play();
    let messages = played.asked[1].messages();
    let said = &messages[messages.len() - 2];
    let expected = json!([
        { "type": "thinking", "thinking": "think twice", "signature": "sig" },
        { "type": "text", "text": "first second" },
        { "type": "tool_use", "id": "t1", "name": "Probe", "input": { "b": 1, "a": { "x": "}" } } },
    ]);
    assert_eq!(said["content"], expected);
    assert_eq!(played.entries()[1].text.as_ref(), "first second");
    let body = String::from_utf8(played.asked[1].question.draft.body()).unwrap();
    assert!(body.contains(r#""input":{"b":1,"a":{"x":"}"}}"#), "the keys in the model's order");
}

#[test]
fn stream_06_stream_07_input_is_used_when_its_json_is_complete_and_the_blocks_end_adds_nothing() {
    let played = streaming(two_calls(10)).play();
    assert_eq!(starts(&played, "t1"), Some(100), "before its block ends");
    let mut late = two_calls(10);
    late.steps.retain(|step| !matches!(step, Step::Event(Event::BlockDelta { index: 1, .. })));
    let played = streaming(late).play();
    assert_eq!(starts(&played, "t2"), Some(1_300), "without arguments the end of the block is the only sign");
}

#[test]
fn stream_06_stream_07_text_after_a_complete_input_is_not_part_of_the_call() {
    for more in ["}", " and more", "{\"says\":\"two\"}"] {
        let mut events =
            vec![reply::start(), reply::opens_call(0, "t1", "Probe"), reply::input(0, "{\"says\":\"one\"}")];
        events.extend([reply::input(0, more), Event::BlockStop { index: 0 }]);
        events.extend(reply::stop(StopReason::ToolUse));
        let played = streaming(Reply::events(events)).play();
        assert_eq!(played.words("tool.start", "tool_use"), ["t1"], "{more}");
        assert_eq!(played.words("tool.end", "outcome"), ["ok"], "{more}");
        let messages = played.asked[1].messages();
        let (said, answered) = (&messages[messages.len() - 2], &messages[messages.len() - 1]);
        assert_eq!(said["content"][0]["input"], json!({ "says": "one" }), "sent back as it was made");
        assert_eq!(answered["content"][0]["content"], "one");
    }
}

#[test]
fn stream_06_stream_11_an_input_is_complete_with_its_last_bracket_and_not_before() {
    for input in [r#"{"says":"a } b \" { c ] \\"}"#, r#"{"says":"x","more":[{"y":["]"]},{}]}"#, r#" {"says":"{"} "#] {
        let mut steps = vec![Step::Event(reply::start()), Step::Event(reply::opens_call(0, "t1", "Probe"))];
        for sign in input.chars() {
            steps.extend([Step::Wait(10), Step::Event(reply::input(0, &sign.to_string()))]);
        }
        steps.extend([Step::Wait(5_000), Step::Event(Event::BlockStop { index: 0 })]);
        steps.extend(reply::stop(StopReason::ToolUse).map(Step::Event));
        let played = streaming(Reply { steps, ..Reply::default() }).play();
        let complete_ms = 10 * input.trim_end().len() as u64;
        assert_eq!(starts(&played, "t1"), Some(complete_ms), "{input}");
        assert_eq!(played.words("tool.end", "outcome"), ["ok"], "{input}");
    }
}

#[test]
fn stream_10_a_call_is_handed_over_when_its_block_begins() {
    let played = streaming(two_calls(10)).play();
    assert_eq!(played.at(&[("event", "tool.added"), ("tool_use", "t1")]), Some(0));
    assert_eq!(played.at(&[("event", "tool.added"), ("tool_use", "t2")]), Some(1_000));
}

#[test]
fn stream_11_stream_12_tools_start_when_their_arguments_are_complete_and_run_concurrently() {
    let played = streaming(two_calls(5_000)).play();
    assert_eq!((starts(&played, "t1"), starts(&played, "t2")), (Some(100), Some(1_000)));
    assert_eq!(played.at(&[("event", "tool.end"), ("tool_use", "t2")]), Some(1_050));
    assert!(played.events("tool.start").iter().all(|start| start["during_stream"] == true));
}

#[test]
fn stream_13_results_are_yielded_during_the_stream() {
    let played = streaming(two_calls(10)).play();
    let shown = played.position(&[("event", "ui.event"), ("kind", "results")]).unwrap();
    assert_eq!(played.events[shown].0, 110);
    assert!(shown < played.position(&[("event", "ui.event"), ("kind", "said")]).unwrap());
    let natures: Vec<Nature> = played.entries().iter().map(|entry| entry.nature).collect();
    assert_eq!(
        natures[1..4],
        [Nature::Said, Nature::Results, Nature::Results],
        "in the conversation after the message"
    );
}

#[test]
fn stream_13_a_conversation_read_back_with_early_results_is_sent_as_the_same_messages() {
    let mut theatre = streaming(two_calls(10));
    theatre.settings.placement = Placement::None;
    let played = theatre.play();
    let main = &played.main;
    let kept = main.session.transcripts.replay("main").unwrap();
    let natures: Vec<Nature> = kept.iter().map(|entry| entry.nature).collect();
    assert_eq!(natures[1..4], [Nature::Results, Nature::Results, Nature::Said], "as they were yielded");
    let mut again = Theatre::new(vec![Reply::says("again")]).types(0, "more");
    again.settings.placement = Placement::None;
    again.history = kept;
    let again = again.play();
    let (was, is) = (played.asked[1].messages(), again.asked[0].messages());
    assert_eq!(was[..], is[..was.len()]);
    assert_eq!(is.len(), was.len() + 2);
}

#[test]
fn loop_14_results_of_one_message_are_sent_in_the_order_of_their_calls() {
    let calls = Reply::calls(&[("a", "Probe", json!({})), ("b", "Probe", json!({}))]);
    let kept = Theatre::new(vec![calls, Reply::says("done")]).types(0, "go").play().entries();
    let result = |id: &str| Piece::tool_result(id, id, false);
    let answered = Entry {
        answers: ["b".into(), "a".into()].into(),
        ..Entry::clone(&Entry::of("r".into(), Role::User, vec![result("b"), result("a")], "", Nature::Results))
    };
    let mut theatre = Theatre::new(vec![Reply::says("again")]).types(0, "more");
    theatre.history = vec![kept[0].clone(), kept[1].clone(), Rc::new(answered), kept[kept.len() - 1].clone()];
    let messages = theatre.play().asked[0].messages();
    let ids: Vec<&str> =
        messages[2]["content"].as_array().unwrap().iter().filter_map(|block| block["tool_use_id"].as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[test]
fn stream_14_after_an_abort_nothing_is_added_and_every_call_is_answered() {
    let theatre = Theatre::new(vec![two_calls(5_000), Reply::says("next")]).types(0, "go");
    let played = theatre.escapes(1_000).types(2_000, "go on").play();
    assert_eq!(played.words("tool.added", "tool_use"), ["t1"]);
    assert_eq!(played.words("tool.end", "outcome"), ["interrupted"]);
    assert_eq!(played.reasons(), ["aborted", "completed"]);
    let said = played.asked[1].said();
    assert_eq!(said.matches("\"tool_use_id\":\"t1\"").count(), 1);
    assert!(!said.contains("\"id\":\"t2\""), "a call that was not complete is dropped");
    assert!(said.contains("interrupted this turn"));
}

#[test]
fn stream_15_tools_that_ran_during_the_stream_do_not_run_again() {
    let played = streaming(two_calls(10)).play();
    assert_eq!(played.words("tool.start", "tool_use"), ["t1", "t2"]);
}

#[test]
fn stream_16_without_early_tools_the_messages_are_the_same() {
    let messages = |early: bool| -> Vec<Value> {
        let mut theatre = streaming(two_calls(5_000));
        theatre.settings.streaming_tools = early;
        let played = theatre.play();
        let streams = played.events("tool.start").iter().all(|start| start["during_stream"] == early);
        assert!(streams && (early || starts(&played, "t2") == Some(6_300)));
        played.asked[1].messages()
    };
    assert_eq!(messages(true), messages(false));
}

#[test]
fn stream_17_a_call_that_waits_for_the_message_starts_after_it() {
    let late = Reply::calls(&[("t1", "Late", json!({})), ("t2", "Probe", json!({})), ("t3", "Late", json!({}))]);
    let played = streaming(late.with(-1, Step::Wait(700))).play();
    assert_eq!((starts(&played, "t2"), starts(&played, "t1"), starts(&played, "t3")), (Some(0), Some(700), Some(700)));
    assert_eq!(played.words("tool.start", "tool_use"), ["t2", "t1", "t3"], "in the order of the calls");
}
