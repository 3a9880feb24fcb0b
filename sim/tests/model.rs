//! Scripted, recorded and generated models.

use std::rc::Rc;

use forkcast_sim::model::answer::Said;
use forkcast_sim::model::recorded::{Fidelity, Recorded, Take};
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::model::{Answer, Delta, Event, Grammar, Opened, Question, Script, StopReason};
use forkcast_sim::seed::Seed;
use forkcast_sim::wire::{Draft, Level, Mark, Message, NormalForms, Piece, Request, Role, Ttl, Usage, Wire};
use serde_json::{Value, json};

pub mod generated;

use generated::{Call, Generated, Habits};

/// A request with these texts in turn, the user's first.
fn draft(texts: &[&str]) -> Draft {
    let message = |(at, text): (usize, &&str)| {
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        Rc::new(Message { role, content: [Piece::text(text)].into() })
    };
    let tool = json!({ "name": "Read", "description": "Reads.", "input_schema": { "type": "object" } });
    Draft {
        model: "claude-opus-5-5".into(),
        tools: [Piece::new(tool.to_string())].into(),
        system: [Piece::text("Be brief.")].into(),
        messages: texts.iter().enumerate().map(message).collect(),
        parameters: Rc::from([]),
        marks: Vec::new(),
    }
}

fn asks(agent: &str, agent_type: &str, turn: u32, texts: &[&str]) -> Question {
    Question {
        agent: agent.into(),
        agent_type: agent_type.into(),
        started_by: None,
        turn,
        attempt: 0,
        draft: Rc::new(draft(texts)),
    }
}

fn rule(agent: Option<&str>, text: &str) -> Rule {
    let reply = Reply { said: vec![Said::Text(text.to_owned())], ..Reply::default() };
    Rule { agent: agent.map(Rc::from), reply, ..Rule::default() }
}

fn once(agent: &str, text: &str) -> Rule {
    Rule { times: Some(1), ..rule(Some(agent), text) }
}

/// The text of an answer.
fn text(answer: &Answer) -> String {
    let texts = answer.events.iter().filter_map(|event| match event {
        Event::BlockDelta { delta: Delta::Text(text), .. } => Some(&**text),
        _ => None,
    });
    texts.collect()
}

fn said(script: &mut impl Script, question: &Question) -> String {
    script.answer(question).map_or_else(|unscripted| unscripted.0, |answer| text(&answer))
}

#[test]
fn every_agent_uses_the_rules_of_its_type_independently() {
    let mut script = Scripted::new(vec![once("worker", "one"), once("worker", "two")]);
    let ask = |agent: &str, turn| asks(agent, "worker", turn, &["go"]);
    assert_eq!(said(&mut script, &ask("a", 0)), "one");
    assert_eq!(said(&mut script, &ask("b", 0)), "one");
    assert_eq!(said(&mut script, &ask("a", 1)), "two");
    assert_eq!(said(&mut script, &ask("b", 1)), "two");
}

#[test]
fn rules_match_instance_turn_and_last_user_text() {
    let mut script = Scripted::new(vec![
        Rule { instance: Some(2), ..rule(Some("worker"), "second worker") },
        Rule { turn: Some(3), ..rule(None, "fourth answer") },
        Rule { last_user_is: Some("stop".into()), ..rule(None, "stopped") },
        Rule { last_user: Some("status".into()), ..rule(Some("main"), "all is well") },
        rule(Some("agent-7"), "by id"),
        rule(None, "anything"),
    ]);
    assert_eq!(said(&mut script, &asks("a", "worker", 0, &["go"])), "anything");
    assert_eq!(said(&mut script, &asks("b", "worker", 0, &["go"])), "second worker");
    assert_eq!(said(&mut script, &asks("main", "main", 3, &["go"])), "fourth answer");
    assert_eq!(said(&mut script, &asks("main", "main", 0, &["the status, please"])), "all is well");
    assert_eq!(said(&mut script, &asks("main", "main", 0, &["the status, please", "well", "stop"])), "stopped");
    assert_eq!(said(&mut script, &asks("main", "main", 0, &["please stop"])), "anything");
    assert_eq!(said(&mut script, &asks("agent-7", "looker", 0, &["go"])), "by id");
}

#[test]
fn reminders_and_results_are_not_user_text() {
    let mut question = asks("main", "main", 0, &["the question"]);
    let content =
        vec![Piece::tool_result("t", "status", false), Piece::text("<system-reminder>status</system-reminder>")];
    Rc::make_mut(&mut question.draft).messages.push(Rc::new(Message { role: Role::User, content: content.into() }));
    assert_eq!(question.last_user_text().unwrap(), "the question");
}

#[test]
fn a_question_without_a_rule_is_reported_with_what_to_add() {
    let mut script = Scripted::new(vec![once("worker", "one"), once("worker", "two")]);
    let told = said(&mut script, &asks("main", "main", 0, &["the question"]));
    for part in
        ["`main`", "answer 0", "text has 12 characters", "no rule for it, only for worker", "Add a reply for `main`"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    for _ in 0..2 {
        said(&mut script, &asks("a", "worker", 0, &["go"]));
    }
    let told = said(&mut script, &asks("a", "worker", 2, &["go"]));
    assert!(told.contains("asked for answer 2, but its 2 rules are used up or do not fit"), "{told}");
}

#[test]
fn calls_without_an_id_get_one() {
    let call = || Said::ToolUse { id: "".into(), name: "Read".into(), input: json!({}) };
    let rule = Rule { reply: Reply { said: vec![call(), call()], ..Reply::default() }, ..Rule::default() };
    let mut script = Scripted::new(vec![rule]);
    let mut ids = Vec::new();
    for agent in ["a", "b"] {
        let answer = script.answer(&asks(agent, "worker", 0, &["go"])).unwrap();
        ids.extend(answer.events.into_iter().filter_map(|event| match event {
            Event::BlockStart { block: Opened::ToolUse { id, .. }, .. } => Some(id),
            _ => None,
        }));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

fn start() -> Event {
    Event::MessageStart { id: "m".into(), usage: Usage::default() }
}

fn open(index: usize) -> Event {
    Event::BlockStart { index, block: Opened::Text }
}

fn grow(index: usize) -> Event {
    Event::BlockDelta { index, delta: Delta::Text("a".into()) }
}

fn close(index: usize) -> Event {
    Event::BlockStop { index }
}

fn end() -> Event {
    Event::MessageDelta { stop_reason: Some(StopReason::EndTurn), usage: Usage::default() }
}

#[test]
fn stream_01_events_out_of_order_are_refused_with_place_and_expectation() {
    let stop = Event::MessageStop;
    let error = Event::Error { kind: "overloaded_error".into(), message: "busy".into() };
    let cases: Vec<(Vec<Event>, usize, &str)> = vec![
        (vec![], 0, "message_start"),
        (vec![open(0)], 0, "message_start"),
        (vec![start(), start()], 1, "message_stop"),
        (vec![start(), grow(0)], 1, "content_block_start"),
        (vec![start(), open(1)], 1, "next index"),
        (vec![start(), open(0), open(1)], 2, "content_block_stop"),
        (vec![start(), open(0), grow(1)], 2, "content_block_start of this index"),
        (vec![start(), open(0), close(0), grow(0)], 3, "content_block_start"),
        (vec![start(), open(0), close(0), close(0)], 3, "content_block_start"),
        (vec![start(), open(0), grow(0), end()], 3, "content_block_stop"),
        (vec![start(), open(0), grow(0), stop.clone()], 3, "content_block_stop"),
        (vec![start(), open(0), close(0), end()], 4, "message_stop"),
        (vec![start(), error.clone(), stop.clone()], 2, "nothing"),
    ];
    for (events, at, expected) in cases {
        let shown = format!("{events:?}");
        let (found, says) = Answer { events, ..Answer::default() }.check().unwrap_err();
        assert_eq!(found, at, "{shown}: {says}");
        assert!(says.contains(expected), "{shown}: {says}");
    }
    let whole = vec![start(), Event::Ping, open(0), grow(0), close(0), open(1), close(1), end(), stop];
    let two = [whole.clone(), whole.clone()].concat();
    for events in [whole, two, vec![start(), error]] {
        Answer { events, ..Answer::default() }.check().unwrap();
    }
}

#[test]
fn stream_01_a_script_with_events_out_of_order_is_reported() {
    let reply = Reply { events: Some(vec![start(), open(0), end()]), ..Reply::default() };
    let mut script = Scripted::new(vec![Rule { reply, ..Rule::default() }]);
    let told = said(&mut script, &asks("main", "main", 0, &["go"]));
    assert!(told.contains("event 2, counted from 0, is out of order; expected content_block_stop"), "{told}");
}

/// A recording of two chains, `one` with two takes and `two` with one.
fn recording(fidelity: Fidelity) -> Recorded {
    let mut wire = Wire::new(NormalForms::default());
    let mut take = |chain: &str, texts: &[&str], says: &str| Take {
        chain: chain.into(),
        request: wire.take(&draft(texts), "recorded"),
        answer: Answer::message("m", &[Said::Text(says.to_owned())]),
    };
    let takes = vec![
        take("one", &["first"], "1.0"),
        take("two", &["second"], "2.0"),
        take("one", &["first", "1.0", "go on"], "1.1"),
    ];
    let lengths = |_: &Wire, recorded: &Request, asked: &Request| {
        format!("{} blocks were recorded, {} were sent", recorded.nodes.len(), asked.nodes.len())
    };
    Recorded::new(wire, "recorded", takes, fidelity, Box::new(lengths))
}

#[test]
fn a_recording_answers_the_recorded_questions() {
    let mut model = recording(Fidelity::Strict);
    assert_eq!(said(&mut model, &asks("x", "main", 0, &["second"])), "2.0", "the chain that begins with this question");
    assert_eq!(said(&mut model, &asks("y", "worker", 0, &["first"])), "1.0");
    assert_eq!(said(&mut model, &asks("y", "worker", 1, &["first", "1.0", "go on"])), "1.1");
    let told = said(&mut model, &asks("y", "worker", 2, &["first", "1.0", "go on", "1.1", "more"]));
    assert!(told.contains("asked for answer 2, but chain `one` of the recording ends after 2"), "{told}");
    let told = said(&mut model, &asks("z", "worker", 0, &["first"]));
    assert!(told.contains("one agent more than the recording has: all its 2 chains"), "{told}");
}

#[test]
fn a_divergence_is_reported_with_agent_turn_and_first_difference() {
    let mut model = recording(Fidelity::Strict);
    said(&mut model, &asks("y", "worker", 0, &["first"]));
    let told = said(&mut model, &asks("y", "worker", 1, &["first", "1.0", "go away"]));
    for part in ["`worker`", "(y)", "answer 1 of chain `one`", "5 blocks were recorded, 5 were sent", "loosely"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let mut model = recording(Fidelity::Strict);
    said(&mut model, &asks("y", "worker", 0, &["first"]));
    let told = said(&mut model, &asks("y", "worker", 1, &["first"]));
    assert!(told.contains("5 blocks were recorded, 3 were sent"), "{told}");
}

#[test]
fn a_strict_recording_answers_whoever_asks() {
    let mut model = recording(Fidelity::Strict);
    assert_eq!(said(&mut model, &asks("x", "main", 1, &["first", "1.0", "go on"])), "1.1", "later than the other");
    assert_eq!(said(&mut model, &asks("y", "worker", 0, &["first"])), "1.0", "of the same chain");
    let told = said(&mut model, &asks("y", "worker", 1, &["first"]));
    assert!(told.contains("chain `one` of the recording ends after 2"), "every answer is given once: {told}");
}

#[test]
fn parameters_and_breakpoints_must_be_those_recorded() {
    let mut model = recording(Fidelity::Strict);
    let mut question = asks("y", "worker", 0, &["first"]);
    Rc::make_mut(&mut question.draft).parameters = [("max_tokens".into(), "5".into())].into();
    assert!(said(&mut model, &question).contains("does not ask what answer 0"));
    let mut question = asks("y", "worker", 0, &["first"]);
    Rc::make_mut(&mut question.draft).marks = vec![Mark { level: Level::System, item: 0, part: 0, ttl: Ttl::OneHour }];
    assert!(said(&mut model, &question).contains("does not ask what answer 0"));
}

#[test]
fn a_loose_recording_answers_by_position() {
    let mut model = recording(Fidelity::Loose);
    assert_eq!(said(&mut model, &asks("x", "main", 0, &["something else"])), "1.0");
    assert_eq!(said(&mut model, &asks("x", "main", 1, &["something else", "1.0", "and else"])), "1.1");
    assert_eq!(said(&mut model, &asks("y", "main", 0, &["first"])), "2.0");
    let mut model = recording(Fidelity::Loose);
    assert_eq!(said(&mut model, &asks("y", "main", 0, &["second", "?"])), "2.0", "the chain with most of its blocks");
}

fn calls(answer: &Answer) -> Vec<(String, Value)> {
    let mut calls: Vec<(String, Value)> = Vec::new();
    for event in &answer.events {
        match event {
            Event::BlockStart { block: Opened::ToolUse { name, .. }, .. } => {
                calls.push((name.to_string(), Value::Null));
            }
            Event::BlockDelta { delta: Delta::InputJson(json), .. } => {
                calls.last_mut().unwrap().1 = serde_json::from_str(json).unwrap();
            }
            _ => {}
        }
    }
    calls
}

#[test]
fn generated_answers_depend_only_on_seed_and_agent() {
    let habits = Habits { tools: vec![(Call::Read, 3), (Call::Bash, 1)], ..Habits::default() };
    let model = |seed| Generated::new(&Seed::new(seed), habits.clone());
    let play = |model: &mut Generated, agent: &str| -> Vec<String> {
        (0..40).map(|turn| said(model, &asks(agent, "main", turn, &["go"]))).collect()
    };
    let (mut alone, mut in_company) = (model(1), model(1));
    let expected = play(&mut alone, "a");
    play(&mut in_company, "b");
    assert_eq!(play(&mut in_company, "a"), expected, "another agent's questions change nothing");
    assert_ne!(play(&mut model(1), "b"), expected);
    assert_ne!(play(&mut model(2), "a"), expected);
}

#[test]
fn generated_answers_are_valid_streams_that_call_existing_tools() {
    let mut model = Generated::new(&Seed::new(5), Habits { rounds: 12..=12, calls: 1..=3, ..Habits::default() });
    let (mut rounds, mut ends) = (0, 0);
    for turn in 0..13 {
        let mut question = asks("a", "main", turn, &["go"]);
        if turn > 0 {
            let content = vec![Piece::tool_result("t", "text", false)];
            Rc::make_mut(&mut question.draft)
                .messages
                .push(Rc::new(Message { role: Role::User, content: content.into() }));
        }
        let answer = model.answer(&question).unwrap();
        answer.check().unwrap();
        let made = calls(&answer);
        // The request only offers `Read`, whatever the weights are.
        assert!(
            made.iter().all(|(name, input)| name == "Read" && input["file_path"] == "/repo/src/main.rs"),
            "{made:?}"
        );
        assert!(made.len() <= 3);
        if made.is_empty() { ends += 1 } else { rounds += 1 }
    }
    assert_eq!((rounds, ends), (12, 1), "twelve rounds, then a report");
}

#[test]
fn a_grammar_may_not_end_inside_a_message() {
    let mut grammar = Grammar::default();
    assert!(grammar.end().is_err());
    grammar.step(&start()).unwrap();
    assert!(grammar.end().is_err());
}
