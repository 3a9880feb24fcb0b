//! For each check, faults planted in a capture of our own runtime: each fails only that check, and the evidence names
//! the place.

use std::collections::BTreeSet;

use forkcast_sim::guard::conformance::CHECKS;
use forkcast_sim::time::Instant;
use serde_json::{Value, json};

use super::capture::{Capture, card, failed, of_run};

/// A check, a description, the change to the capture, and the path in the evidence.
type Fault = (&'static str, &'static str, fn(&mut Scene), &'static str);

/// Runs with forks, one for each profile.
const RUNS: [&str; 2] = ["forks/fan-out", "forks/client-2026"];

const FAULTS: [Fault; 26] = [
    ("system_reused", "one more space", |scene| push(&mut last(&mut scene.fork["system"])["text"], " "), "system["),
    (
        "system_reused",
        "rendered with another date",
        |scene| front(&mut last(&mut scene.fork["system"])["text"]),
        "system[",
    ),
    ("tools_order", "two tools swapped", |scene| list(&mut scene.fork["tools"]).swap(0, 1), "tools[0]"),
    (
        "tools_order",
        "no Agent tool",
        |scene| list(&mut scene.fork["tools"]).retain(|tool| tool["name"] != "Agent"),
        "tools[0]",
    ),
    (
        "tools_order",
        "one tool more",
        |scene| list(&mut scene.fork["tools"]).push(json!({"name": "Zap", "input_schema": {}})),
        "tools[",
    ),
    ("tools_order", "the last tool gone", |scene| drop(list(&mut scene.fork["tools"]).pop()), "tools"),
    ("tools_schema", "one more space", |scene| push(&mut scene.fork["tools"][0]["description"], " "), "tools[0]"),
    (
        "tools_schema",
        "an argument more",
        |scene| scene.fork["tools"][1]["input_schema"]["properties"]["why"] = json!({"type": "string"}),
        "tools[1]",
    ),
    ("same_model", "another model", |scene| scene.fork["model"] = json!("claude-opus-5-5"), "model"),
    (
        "same_effort",
        "less effort",
        |scene| scene.fork["output_config"]["effort"] = json!("low"),
        "output_config.effort",
    ),
    (
        "same_thinking",
        "another budget",
        |scene| scene.fork["thinking"] = json!({"type": "enabled", "budget_tokens": 4_321}),
        "thinking",
    ),
    ("same_parameters", "a forced tool", |scene| scene.fork["tool_choice"] = json!({"type": "any"}), "tool_choice"),
    ("same_parameters", "faster", |scene| scene.fork["speed"] = json!("fast"), "speed"),
    ("message_spelling", "an early text edited", |scene| push(typed(&mut scene.fork), "."), "messages["),
    ("message_spelling", "the first message dropped", |scene| drop_first(&mut scene.fork), "messages[0]"),
    ("trailing_reminders", "a reminder in front", |scene| remind(&mut scene.fork), "messages[0].content[0]"),
    (
        "trailing_reminders",
        "the directive before the part that siblings share",
        |scene| list(&mut last(&mut scene.fork["messages"])["content"]).rotate_right(1),
        "messages[",
    ),
    ("cache_key", "a key of its own", |scene| scene.fork["prompt_cache_key"] = json!("fork-1"), "prompt_cache_key"),
    ("cache_key", "another workspace", |scene| scene.scope = Some("another".to_owned()), ""),
    ("breakpoints", "none in the messages", |scene| unmark(&mut scene.fork["messages"]), "messages["),
    ("breakpoints", "five", |scene| mark_five(&mut scene.fork), ""),
    (
        "breakpoints",
        "an hour after five minutes",
        |scene| *marker(&mut scene.fork["messages"]) = json!({"type": "ephemeral", "ttl": "1h"}),
        "",
    ),
    ("look_back", "thirty blocks after the history", |scene| pad(&mut scene.fork), "messages["),
    ("launch_timing", "before the parent's first byte", |scene| scene.at = Some(Instant(1)), ""),
    ("parent_unharmed", "the parent's text edited", |scene| push(first_text(&mut scene.next), "."), "messages[0]"),
    ("parent_unharmed", "the fork's tools handed back", |scene| list(&mut scene.next["tools"]).reverse(), "tools[0]"),
];

/// Where faults are planted: a fork's first request, and its parent's next one.
struct Scene {
    fork: Value,
    next: Value,
    scope: Option<String>,
    at: Option<Instant>,
}

#[test]
fn each_planted_fault_fails_only_its_check() {
    let mut wrong = Vec::new();
    for run in RUNS {
        let captures = sorted(of_run(run));
        assert!(card(&captures).is_whole(), "{run}\n{}", card(&captures));
        for (check, what, plant, path) in FAULTS {
            let planted = planted(&captures, plant);
            if planted == captures {
                continue;
            }
            let card = card(&planted);
            let row = card.rows.iter().find(|row| row.check.word() == check).unwrap();
            let named = row.evidence.first().is_some_and(|evidence| evidence.path.starts_with(path));
            if failed(&card) != [check] || !named {
                wrong.push(format!("{run}, {what}: expected {check} at {path}\n{card}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_check_has_a_fault() {
    let planted: BTreeSet<&str> = FAULTS.iter().map(|(check, ..)| *check).collect();
    let checks: BTreeSet<&str> = CHECKS.iter().map(|check| check.word()).collect();
    assert_eq!(planted, checks);
}

/// The capture with a fault in the second fork, a sibling of the first, or in its parent's next request.
fn planted(captures: &[Capture], plant: fn(&mut Scene)) -> Vec<Capture> {
    let mut captures = captures.to_vec();
    let forks: Vec<usize> = firsts(&captures);
    let fork = forks[1];
    // The parent's next request is the first one after the calls returned.
    let parent = captures[fork].parent.clone();
    let mut own = (0..captures.len()).filter(|at| captures[*at].chain == parent);
    let forked_from =
        own.by_ref().take_while(|at| captures[*at].at < captures[forks[0]].at.map(|at| Instant(at.0 - 1))).last();
    let next = (0..captures.len()).find(|at| captures[*at].chain == parent && Some(*at) > forked_from).unwrap();
    let mut scene = Scene { fork: value(&captures[fork]), next: value(&captures[next]), scope: None, at: None };
    plant(&mut scene);
    captures[fork].body = scene.fork.to_string();
    captures[next].body = scene.next.to_string();
    if let Some(scope) = scene.scope {
        captures[fork].scope = scope;
    }
    if let Some(Instant(behind)) = scene.at {
        let parent = forked_from.unwrap();
        // All forks ask at once, before the answer that calls them can have begun.
        captures[parent].first_byte_at = captures[fork].at.map(|at| Instant(at.0 + behind));
    }
    captures
}

/// The first requests of called chains.
fn firsts(captures: &[Capture]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    (0..captures.len())
        .filter(|at| captures[*at].parent.is_some() && seen.insert(captures[*at].chain.clone()))
        .collect()
}

/// The capture of a client with sorted keys, so that an edited tree differs only by the edit.
fn sorted(mut captures: Vec<Capture>) -> Vec<Capture> {
    for capture in &mut captures {
        capture.body = value(capture).to_string();
    }
    captures
}

fn value(capture: &Capture) -> Value {
    serde_json::from_str(&capture.body).unwrap()
}

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().unwrap()
}

fn last(value: &mut Value) -> &mut Value {
    list(value).last_mut().unwrap()
}

fn push(text: &mut Value, more: &str) {
    *text = json!(format!("{}{more}", text.as_str().unwrap()));
}

fn front(text: &mut Value) {
    *text = json!(format!("Today is 2026-11-23. {}", text.as_str().unwrap()));
}

/// The last text that a user typed before the fork; anything before it in its message is a reminder.
fn typed(body: &mut Value) -> &mut Value {
    let texts = list(&mut body["messages"]).iter_mut().rev().skip(2).filter(|message| message["role"] == "user");
    let blocks = texts.filter_map(|message| message["content"].as_array_mut()?.last_mut());
    let mut texts = blocks.filter(|block| block["type"] == "text");
    &mut texts.next().unwrap()["text"]
}

/// The text of the first message's first block.
fn first_text(body: &mut Value) -> &mut Value {
    &mut body["messages"][0]["content"][0]["text"]
}

/// Drops the first message, unless it is the whole history.
fn drop_first(body: &mut Value) {
    let messages = list(&mut body["messages"]);
    if messages.len() > 3 {
        messages.remove(0);
    }
}

fn remind(body: &mut Value) {
    let reminder = json!({"type": "text", "text": "<system-reminder>It is 10:15.</system-reminder>"});
    list(&mut body["messages"][0]["content"]).insert(0, reminder);
}

fn unmark(messages: &mut Value) {
    for block in list(messages).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten() {
        block.as_object_mut().unwrap().remove("cache_control");
    }
}

/// The last breakpoint in the messages.
fn marker(messages: &mut Value) -> &mut Value {
    let blocks = list(messages).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
    let marked = blocks.filter(|block| block.get("cache_control").is_some());
    &mut marked.last().unwrap()["cache_control"]
}

fn mark_five(body: &mut Value) {
    for block in list(&mut body["tools"]).iter_mut().take(4) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

/// Thirty texts between the history and the fork's own last block.
fn pad(body: &mut Value) {
    let content = list(&mut last(&mut body["messages"])["content"]);
    let at = content.len() - 1;
    for number in 0..30 {
        content.insert(at, json!({"type": "text", "text": format!("Note {number}.")}));
    }
}

#[test]
fn a_fork_must_wait_for_the_parents_latest_answer_not_an_earlier_one() {
    let said = |role: &str, words: &str| json!({"role": role, "content": [{"type": "text", "text": words}]});
    let all = ["Begin.", "Begun.", "Go on.", "Forked.", "Look."].map(str::to_owned);
    let body = |to: usize| {
        let messages: Vec<Value> = (0..to).map(|at| said(["user", "assistant"][at % 2], &all[at])).collect();
        json!({"model": "claude-opus-4-8", "max_tokens": 9, "messages": messages}).to_string()
    };
    let sent = |chain: &str, to: usize, [at, first_byte_at]: [u64; 2]| Capture {
        chain: Some(chain.to_owned()),
        parent: (chain != "main").then(|| "main".to_owned()),
        scope: "run".to_owned(),
        body: body(to),
        at: Some(Instant::from_millis(at)),
        first_byte_at: Some(Instant::from_millis(first_byte_at)),
    };
    let fails = |asked: u64| {
        let forked = sent("fork", 5, [asked, 20_000]);
        let parent = [sent("main", 1, [0, 1_000]), sent("main", 3, [10_000, 13_000])];
        failed(&card(&[parent.to_vec(), vec![forked]].concat())).contains(&"launch_timing")
    };
    assert!(fails(11_000), "the first request's answer has only the beginning of it");
    assert!(!fails(13_000));
}
