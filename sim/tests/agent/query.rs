//! The loop itself (contract LOOP).

use std::rc::Rc;

use forkcast_sim::agent::permission::{Mode, Permissions, Rule, Rules};
use forkcast_sim::agent::query::{Reason, Step, Yielded, query};
use forkcast_sim::agent::settings::PartSizes;
use forkcast_sim::agent::tool::Pool;
use forkcast_sim::agent::{Context, Entry, entry::Nature};
use forkcast_sim::model;
use forkcast_sim::model::StopReason;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted;
use forkcast_sim::wire::Usage;
use serde_json::{Value, json};

use super::reply::{self, Reply};
use super::stage::Stage;
use super::theatre::{Played, Theatre};

/// A call of the probe that takes `takes_ms`.
fn probe(id: &str, takes_ms: u64) -> (&str, &str, Value) {
    (id, "Probe", json!({ "takes_ms": takes_ms, "says": id }))
}

/// A main agent that makes these calls in one message, then says that it is done.
fn calling(calls: &[(&str, &str, Value)]) -> Theatre {
    Theatre::new(vec![Reply::calls(calls), Reply::says("done")]).types(0, "go")
}

/// The results in the request `at`, as (id, content).
fn results(played: &Played, at: usize) -> Vec<(String, String)> {
    let messages = played.asked[at].messages();
    let blocks = messages.last().unwrap()["content"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |block: &Value| (text(&block["tool_use_id"]), text(&block["content"]));
    blocks.iter().filter(|block| block["type"] == "tool_result").map(of).collect()
}

#[test]
fn loop_01_the_loop_yields_messages_and_events_and_ends_with_a_reason() {
    let reply = scripted::Reply { said: vec![Said::Text("hello".to_owned())], ..scripted::Reply::default() };
    let stage = Stage::new().says(vec![scripted::Rule { reply, ..scripted::Rule::default() }]);
    let played = stage.play(|session| async move {
        let main = Context::main(&session, Pool::main(&session));
        main.entries.borrow_mut().push(Entry::user("u1".into(), "hi", Nature::Typed));
        let mut query = query(Rc::clone(&main));
        let mut kinds = Vec::new();
        let ended = loop {
            match query.next().await {
                Step::Yielded(Yielded::Stream(event)) => kinds.push(event.name().to_owned()),
                Step::Yielded(Yielded::Entry(entry)) => kinds.push(format!("entry {}", entry.text)),
                Step::Yielded(Yielded::Tombstone(_)) => kinds.push("tombstone".to_owned()),
                Step::Ended(ended) => break ended,
            }
        };
        (kinds, ended)
    });
    let (kinds, ended) = played.value;
    let events = Reply::says("hello").steps.len();
    assert_eq!(kinds.len(), events + 1, "{kinds:?}");
    assert_eq!(kinds.last().unwrap(), "entry hello");
    assert_eq!((ended.reason, ended.turns, ended.error), (Reason::Completed, 1, None));
}

#[test]
fn loop_02_the_loop_knows_tokens_tools_and_compaction_before_its_first_iteration() {
    let usage = Usage { input_tokens: 900, ..Usage::default() };
    let first = Reply::says("one").used(usage, 100);
    let played = Theatre::new(vec![first, Reply::says("two")]).types(0, "a").types(1_000, "b").play();
    let starts = played.events("query.start");
    assert_eq!((&starts[0]["tokens"], &starts[1]["tokens"]), (&json!(0), &json!(1_000)));
    assert_eq!((&starts[0]["entries"], &starts[1]["entries"]), (&json!(1), &json!(3)));
    assert_eq!(starts[0]["tools"], json!(played.main.pool().tools.len()));
    assert_eq!(starts[0]["compaction"], "none");
    assert!(played.position(&[("event", "query.start")]) < played.position(&[("event", "query.step")]));
}

#[test]
fn loop_03_every_iteration_makes_four_steps_in_order() {
    let played = calling(&[probe("t1", 0)]).play();
    let expected = ["compact", "prompt", "call", "decide", "compact", "prompt", "call", "decide"];
    assert_eq!(played.words("query.step", "step"), expected);
    assert_eq!(played.words("query.step", "iteration"), ["0", "0", "0", "0", "1", "1", "1", "1"]);
    let word = |word: &str| played.position(&[("event", word)]).unwrap();
    let step = |step: &str| played.position(&[("event", "query.step"), ("step", step)]).unwrap();
    assert!(step("prompt") < word("prompt.rendered") && word("prompt.rendered") < step("call"));
    assert!(step("call") < word("request.sent") && word("request.sent") < step("decide"));
}

#[test]
fn loop_04_the_user_context_precedes_every_request() {
    let played = calling(&[probe("t1", 0)]).play();
    for asked in &played.asked {
        let first = asked.messages()[0].clone();
        assert_eq!(first["role"], "user");
        let blocks = first["content"].as_array().unwrap();
        assert!(blocks[0]["text"].as_str().unwrap().starts_with("<system-reminder>"));
        assert_eq!(blocks.last().unwrap()["text"], "go");
    }
    assert_eq!(played.asked.len(), 2);
}

#[test]
fn loop_04_messages_sent_before_stay_the_same() {
    let replies = (0..4).map(|_| Reply::calls(&[probe("a", 0), probe("b", 0)])).chain([Reply::says("done")]);
    let played = Theatre::new(replies.collect()).types(0, "go").types(60_000, "and now").play();
    for pair in played.asked.windows(2) {
        let (old, new) = (&pair[0].question.draft, &pair[1].question.draft);
        let same = old.messages.iter().zip(&new.messages).filter(|(old, new)| Rc::ptr_eq(old, new)).count();
        assert_eq!(same, old.messages.len());
        assert!(Rc::ptr_eq(&old.tools, &new.tools) && Rc::ptr_eq(&old.system, &new.system));
    }
}

#[test]
fn a_declared_growth_is_the_total_size_of_each_turns_answer_and_results() {
    let rounds = (0..3).map(|_| Reply::calls(&[probe("a", 0), probe("b", 0)])).chain([Reply::says("done")]);
    let mut theatre = Theatre::new(rounds.collect()).types(0, "go").types(60_000, "and now");
    theatre.settings.sizes = Some(PartSizes { growth: Some(1_000), ..PartSizes::default() });
    let played = theatre.play();
    let last = &played.asked.last().unwrap().question.draft.messages;
    let declared = |at: usize| -> u64 { last[at].content.iter().filter_map(|piece| piece.declared_tokens()).sum() };
    let turns: Vec<u64> = (1..last.len()).step_by(2).map(|at| declared(at) + declared(at + 1)).collect();
    assert_eq!(turns, [1_000; 4], "a turn without results is only its answer");
    assert_eq!(declared(0), 0);
    for pair in played.asked.windows(2) {
        let (old, new) = (&pair[0].question.draft.messages, &pair[1].question.draft.messages);
        assert!(old.iter().zip(new).all(|(old, new)| Rc::ptr_eq(old, new)));
    }
}

#[test]
fn loop_05_a_call_in_any_message_of_an_answer_continues_the_loop() {
    let mut answer = Reply::calls(&[probe("t1", 0)]);
    answer.steps.extend(Reply::says("a second message").steps);
    let played = Theatre::new(vec![answer, Reply::says("done")]).types(0, "go").play();
    assert_eq!((played.asked.len(), played.entries().last().unwrap().text.as_ref()), (2, "done"));
}

#[test]
fn loop_05_loop_06_only_a_call_in_an_assembled_message_continues_the_loop() {
    let mut call = Reply::calls(&[probe("t1", 0)]);
    for step in &mut call.steps {
        if let reply::Step::Event(model::Event::MessageDelta { stop_reason, .. }) = step {
            *stop_reason = Some(StopReason::EndTurn);
        }
    }
    let mut text = Reply::says("no call at all");
    for step in &mut text.steps {
        if let reply::Step::Event(model::Event::MessageDelta { stop_reason, .. }) = step {
            *stop_reason = Some(StopReason::ToolUse);
        }
    }
    let played = Theatre::new(vec![call, text]).types(0, "go").play();
    assert_eq!(played.asked.len(), 2, "a stop reason decides nothing");
    assert_eq!(played.reasons(), ["completed"]);
}

#[test]
fn loop_07_results_are_sent_back_and_the_loop_continues() {
    let call = Reply::calls(&[("t1", "Probe", json!({ "says": "forty-two" }))]);
    let played = Theatre::new(vec![call, Reply::says("It is forty-two.")]).types(0, "How many?").play();
    assert_eq!(played.asked.len(), 2);
    assert_eq!(results(&played, 1), [("t1".to_owned(), "forty-two".to_owned())]);
    assert_eq!(played.reasons(), ["completed"]);
    assert_eq!(played.entries().last().unwrap().text.as_ref(), "It is forty-two.");
}

#[test]
fn loop_08_without_a_call_the_exit_checks_follow() {
    let played = calling(&[probe("t1", 0)]).play();
    let checks = played.words("exit.check", "check");
    assert_eq!(checks, ["api_error", "stop_hooks", "token_budget", "completed"], "once, at the natural end");
}

#[test]
fn loop_09_messages_of_one_stream_are_all_kept_and_their_calls_add_up() {
    let mut steps = Reply::calls(&[probe("a", 0)]).steps;
    steps.extend(Reply::calls(&[probe("b", 0)]).steps);
    let both = Reply { steps, ..Reply::default() };
    let played = Theatre::new(vec![both, Reply::says("done")]).types(0, "go").play();
    let said = played.entries().iter().filter(|entry| entry.nature == Nature::Said).count();
    assert_eq!(said, 3);
    let messages = played.asked[1].messages();
    let calls = messages[messages.len() - 2]["content"].as_array().unwrap().clone();
    assert_eq!((&calls[0]["id"], &calls[1]["id"]), (&json!("a"), &json!("b")));
    let answers: Vec<String> = results(&played, 1).into_iter().map(|(id, _)| id).collect();
    assert_eq!(answers, ["a", "b"]);
}

#[test]
fn loop_11_run_tools_takes_calls_one_after_another_and_asks_for_permission_first() {
    let mut theatre = calling(&[probe("a", 300), probe("b", 100)]);
    theatre.settings.streaming_tools = false;
    let played = theatre.play();
    let order: Vec<String> = played
        .events
        .iter()
        .filter(|(_, event)| ["permission.reply", "tool.start", "tool.end"].contains(&event["event"].as_str().unwrap()))
        .map(|(at, event)| format!("{at} {}", event["event"].as_str().unwrap()))
        .collect();
    let expected = [
        "0 permission.reply",
        "0 tool.start",
        "300 tool.end",
        "300 permission.reply",
        "300 tool.start",
        "400 tool.end",
    ];
    assert_eq!(order, expected);
}

#[test]
fn loop_12_the_next_request_waits_for_every_tool() {
    let played = calling(&[probe("a", 5_000), probe("b", 10)]).play();
    assert_eq!(played.asked[1].at_ms, 5_000);
}

#[test]
fn loop_13_a_refused_call_is_answered_but_not_made_and_the_loop_continues() {
    let mut theatre = calling(&[("t1", "Bash", json!({ "command": "rm -rf /" })), probe("t2", 0)]);
    let deny = vec![Rule::parse("Bash(rm:*)").unwrap()];
    theatre.permissions = Permissions::new(Mode::Default, false, Rules { deny, ..Rules::default() });
    let played = theatre.play();
    assert_eq!(played.position(&[("event", "tool.start"), ("tool_use", "t1")]), None);
    assert_eq!(played.words("tool.end", "outcome"), ["denied", "ok"]);
    let result = &played.asked[1].messages().last().unwrap()["content"][0].clone();
    assert_eq!((&result["tool_use_id"], &result["is_error"]), (&json!("t1"), &json!(true)));
    assert_eq!(played.reasons(), ["completed"]);
}

#[test]
fn loop_14_results_go_back_in_a_user_message_and_errors_are_never_sent() {
    let theatre = Theatre::new(vec![Reply::refused(400, None), Reply::says("fine")]);
    let played = theatre.types(0, "one").types(1_000, "two").play();
    assert_eq!(played.entries()[1].nature, Nature::ApiError);
    assert!(!played.asked[1].said().contains("API error"));
    let messages = played.asked[1].messages();
    assert_eq!(messages.len(), 1, "two user messages in a row are one");
    let blocks = messages[0]["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    assert!(texts.len() > 2 && texts.ends_with(&["one", "two"]), "{texts:?}");
    let played = calling(&[probe("t1", 0)]).play();
    let roles: Vec<Value> = played.asked[1].messages().iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
}

#[test]
fn loop_15_unknown_tools_and_bad_input_are_answered_too() {
    let call = |id, name, input: &str| {
        let mut steps = vec![reply::start(), reply::opens_call(0, id, name), reply::input(0, input)];
        steps.push(model::Event::BlockStop { index: 0 });
        steps.extend(reply::stop(StopReason::ToolUse));
        Reply::events(steps)
    };
    let replies = vec![call("a", "Nothing", "{}"), call("b", "Probe", "{\"says\":"), call("c", "Probe", "[1]")];
    let played = Theatre::new(replies.into_iter().chain([Reply::says("done")]).collect()).types(0, "go").play();
    assert_eq!(played.words("tool.end", "outcome"), ["unknown_tool", "bad_input", "bad_input"]);
    assert_eq!(played.words("tool.start", "tool_use"), Vec::<String>::new());
    for (at, id) in [(1, "a"), (2, "b"), (3, "c")] {
        assert_eq!(results(&played, at).len(), 1);
        assert_eq!(results(&played, at)[0].0, id);
    }
    assert!(results(&played, 1)[0].1.contains("Probe"), "the tools that there are");
}

#[test]
fn loop_16_yielded_messages_are_shown_and_recorded() {
    let played = calling(&[probe("t1", 100)]).play();
    assert_eq!(played.words("transcript.append", "kind"), ["typed", "said", "results", "said"]);
    let shown = played.words("ui.event", "kind");
    for kind in ["said", "results", "content_block_delta", "message_stop"] {
        assert!(shown.contains(&kind.to_owned()), "{kind}");
    }
    let kept = played.main.session.transcripts.replay("main").unwrap();
    let uuids: Vec<_> = kept.iter().map(|entry| entry.uuid.clone()).collect();
    let expected: Vec<_> = played.entries().iter().map(|entry| entry.uuid.clone()).collect();
    assert_eq!(uuids, expected);
}

#[test]
fn loop_17_the_end_of_a_stream_is_a_checkpoint() {
    let played = calling(&[probe("t1", 100)]).play();
    assert_eq!(played.words("checkpoint", "name"), ["query_api_streaming_end"; 2]);
    let at = |fields: &[(&str, &str)]| played.position(fields).unwrap();
    let stop = at(&[("event", "response.event"), ("kind", "message_stop")]);
    let checkpoint = at(&[("event", "checkpoint")]);
    assert!(stop < checkpoint && checkpoint < at(&[("event", "tool.end")]));
}

#[test]
fn loop_18_the_turn_limit_ends_the_loop_after_the_results() {
    let replies = (0..5).map(|_| Reply::calls(&[probe("t", 0)])).collect();
    let mut theatre = Theatre::new(replies).types(0, "go").types(1_000, "again");
    theatre.settings.max_turns = Some(2);
    let played = theatre.play();
    assert_eq!(played.reasons(), ["max_turns", "max_turns"], "the main agent's limit is that of one query");
    assert_eq!(played.asked.len(), 4);
    assert_eq!(played.entries()[4].nature, Nature::Results, "every call was answered");
}

#[test]
fn loop_25_models_are_called_through_one_interface_only() {
    let played = calling(&[probe("t1", 0)]).play();
    assert_eq!(played.events("request.sent").len(), played.asked.len());
    let turns: Vec<u32> = played.asked.iter().map(|asked| asked.question.turn).collect();
    assert_eq!(turns, [0, 1]);
}
