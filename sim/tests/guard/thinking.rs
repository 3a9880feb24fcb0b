//! The prefix check of preserved thinking: `providers-2026-11.md` A.6, change by change, and a slow twin.

use forkcast_sim::guard::{Facts, Guard, NoteKind, Report, Rule, Rules, Sent, Severity};
use forkcast_sim::wire::Usage;
use proptest::prelude::*;
use serde_json::{Value, json};

const MODEL: &str = "claude-fable-5-2";

fn thinking(number: usize) -> Value {
    json!({"type": "thinking", "thinking": format!("thought {number}"), "signature": format!("signed-{number}")})
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("{name} a file."), "input_schema": {"type": "object", "properties": {}}})
}

/// Three turns with thinking, two of them with a call.
fn whole() -> Value {
    let mut messages = vec![json!({"role": "user", "content": [
        {"type": "text", "text": "It is Monday."}, {"type": "text", "text": "Mend the test."}]})];
    for number in 1..=2 {
        let id = format!("call_{number}");
        messages.push(json!({"role": "assistant", "content": [thinking(number),
            {"type": "tool_use", "id": id, "name": "Read", "input": {"path": "a.rs", "lines": 20}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": format!("file {number}")}]}));
    }
    messages.push(json!({"role": "assistant", "content": [thinking(3), {"type": "text", "text": "Done."}]}));
    messages.push(json!({"role": "user", "content": "Thanks. Now the next one."}));
    json!({"model": MODEL, "max_tokens": 900, "tools": [tool("Read"), tool("Edit")],
        "system": [{"type": "text", "text": "You mend tests."}, {"type": "text", "text": "Be brief."}],
        "messages": messages})
}

/// The first `messages` messages.
fn until(body: &Value, messages: usize) -> Value {
    let mut body = body.clone();
    body["messages"].as_array_mut().unwrap().truncate(messages);
    body
}

fn checked(bodies: &[Value], rules: Rules, usage: Option<Usage>) -> Report {
    let mut guard = Guard::new(rules);
    for body in bodies {
        let facts = Facts { chain: Some("main"), usage, ..Facts::default() };
        guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
    }
    guard.finish()
}

fn rejected(report: &Report) -> Vec<String> {
    let of_thinking = report.violations.iter().filter(|violation| violation.rule == Rule::Thinking);
    of_thinking.map(|violation| format!("{}: {}", violation.what, violation.found)).collect()
}

/// What becomes of the last request if only it is changed.
fn outcome(change: impl Fn(&mut Value)) -> Vec<String> {
    let whole = whole();
    let mut last = whole.clone();
    change(&mut last);
    rejected(&checked(&[until(&whole, 1), until(&whole, 3), until(&whole, 5), last], Rules::default(), None))
}

type Change = fn(&mut Value);

fn content(body: &mut Value, message: usize) -> &mut Vec<Value> {
    body["messages"][message]["content"].as_array_mut().unwrap()
}

/// Changes that leave all thinking valid.
const VALID: [(&str, Change); 19] = [
    ("nothing", |_| {}),
    ("a marker is added", |body| content(body, 4)[0]["cache_control"] = json!({"type": "ephemeral"})),
    ("tools in another order", |body| body["tools"].as_array_mut().unwrap().reverse()),
    ("defaults spelled out", |body| {
        body["tools"][0]["type"] = json!("custom");
        body["tools"][0]["strict"] = json!(false);
        body["tools"][1]["allowed_callers"] = json!(["direct"]);
    }),
    ("a deferred tool that nothing names", |body| {
        let mut deferred = tool("Rare");
        deferred["defer_loading"] = json!(true);
        body["tools"].as_array_mut().unwrap().push(deferred);
    }),
    ("another effort", |body| body["output_config"] = json!({"effort": "low"})),
    ("another tool choice", |body| body["tool_choice"] = json!({"type": "any"})),
    ("other limits", |body| body["max_tokens"] = json!(5)),
    ("key order and numbers of an input", |body| {
        content(body, 1)[1]["input"] = serde_json::from_str(r#"{"lines":20.0,"path":"a.rs","none":null}"#).unwrap();
    }),
    ("white space at the ends of a text", |body| body["system"][1]["text"] = json!(" Be brief.\n")),
    ("a text of white space", |body| content(body, 0).push(json!({"type": "text", "text": "  "}))),
    ("is_error false", |body| content(body, 2)[0]["is_error"] = json!(false)),
    ("a string for a block", |body| {
        content(body, 2)[0]["content"] = json!([{"type": "text", "text": "file 1"}]);
    }),
    ("the billing header", |body| {
        let header = json!({"type": "text", "text": "x-anthropic-billing-header: cch=1"});
        body["system"].as_array_mut().unwrap().insert(0, header);
    }),
    ("leading thinking is cut", |body| drop(content(body, 1).remove(0))),
    ("thinking is cut from the end", |body| drop(content(body, 5).remove(0))),
    ("all thinking is cut", |body| {
        for message in [1, 3, 5] {
            content(body, message).remove(0);
        }
    }),
    ("a rewind to before the second turn", |body| {
        body["messages"].as_array_mut().unwrap().truncate(3);
        body["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "Stop."}));
    }),
    ("a summary alone", |body| body["messages"] = json!([{"role": "user", "content": "Summary: it is done."}])),
];

/// Changes that the check rejects: where the first rejected block is, and what differs.
const REJECTED: [(&str, Change, &str, &str); 13] = [
    ("another system prompt", |body| body["system"][0]["text"] = json!("You mend all."), "1", "first at system[0]"),
    ("a tool is added", |body| body["tools"].as_array_mut().unwrap().push(tool("New")), "1", "the list of tools"),
    ("a tool is removed", |body| drop(body["tools"].as_array_mut().unwrap().pop()), "1", "the list of tools"),
    ("a tool has other words", |body| body["tools"][1]["description"] = json!("Edits."), "1", "the list of tools"),
    (
        "the date of the first message",
        |body| content(body, 0)[0]["text"] = json!("It is Tuesday."),
        "1",
        "first at messages[0].content[0]",
    ),
    (
        "a reminder of the first message is gone",
        |body| drop(content(body, 0).remove(0)),
        "1",
        "first at messages[0].content[0]",
    ),
    (
        "an old result is cleared",
        |body| content(body, 2)[0]["content"] = json!("[cleared]"),
        "3",
        "first at messages[2].content[0]",
    ),
    (
        "an old input is edited",
        |body| content(body, 1)[1]["input"]["path"] = json!("b.rs"),
        "3",
        "first at messages[1].content[1]",
    ),
    (
        "a result is said to be an error",
        |body| content(body, 4)[0]["is_error"] = json!(true),
        "5",
        "first at messages[4].content[0]",
    ),
    (
        "the oldest messages are gone",
        |body| drop(body["messages"].as_array_mut().unwrap().drain(0..2)),
        "1",
        "first at messages[0].content[0]",
    ),
    (
        "one thinking block between others is left out",
        |body| drop(content(body, 3).remove(0)),
        "5",
        "the thinking before it",
    ),
    (
        "thinking in another order",
        |body| {
            let first = content(body, 1)[0].clone();
            let second = std::mem::replace(&mut content(body, 3)[0], first);
            content(body, 1)[0] = second;
        },
        "1",
        "is missing, starting at messages[1].content[1]",
    ),
    (
        "a summary with a kept tail",
        |body| {
            let messages = body["messages"].as_array_mut().unwrap();
            drop(messages.splice(0..3, [json!({"role": "user", "content": "Summary: one file was read."})]));
        },
        "1",
        "first at messages[0].content[0]",
    ),
];

#[test]
fn what_the_check_ignores_is_valid() {
    for (name, change) in VALID {
        assert_eq!(outcome(change), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn what_the_check_rejects_is_named() {
    for (name, change, message, edit) in REJECTED {
        let found = outcome(change);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert!(found[0].starts_with(&format!("request 3 at messages[{message}].content[0]: ")), "{name}: {found:?}");
        assert!(found[0].contains("HTTP 400 on `claude-fable-5-2`: ") && found[0].contains(edit), "{name}: {found:?}");
    }
}

#[test]
fn the_first_repetition_is_judged_against_the_request_that_made_it() {
    let whole = whole();
    let mut other = until(&whole, 3);
    other["system"][0]["text"] = json!("It is 10:01.");
    let report = checked(&[until(&whole, 1), other], Rules::default(), None);
    assert_eq!(rejected(&report).len(), 1);
    assert!(!report.score["thinking"] && !report.passes(&Rules::default()));
}

#[test]
fn content_made_over_a_change_is_valid_and_older_thinking_stays_rejected() {
    let mut whole = whole();
    let first = until(&whole, 1);
    whole["system"][0]["text"] = json!("You mend all.");
    let again = [first, until(&whole, 3), until(&whole, 5), whole.clone()];
    let report = checked(&again, Rules::default(), None);
    let found = rejected(&report);
    assert!(found[0].starts_with("request 1 at messages[1].content[0], and 2 more of the chain"), "{found:?}");
    content(&mut whole, 1).remove(0);
    let mended = checked(&[&again[..3], &[whole]].concat(), Rules::default(), None);
    assert!(
        rejected(&mended)[0].starts_with("request 1 at messages[1].content[0], and 1 more"),
        "the last one is valid"
    );
}

#[test]
fn an_aside_of_the_client_did_not_ask_for_the_next_answer() {
    let whole = whole();
    let mut aside = until(&whole, 3);
    *content(&mut aside, 2) =
        vec![json!({"type": "text", "text": "Give this conversation a title of at most five words."})];
    let bodies = [until(&whole, 1), until(&whole, 3), aside, until(&whole, 5), whole];
    let report = checked(&bodies, Rules::default(), None);
    assert_eq!(rejected(&report), Vec::<String>::new());
}

/// Model, setting, and whether the check fails or what is noted.
const OUTCOMES: [(&str, Option<&str>, &str); 9] = [
    ("claude-fable-5-2", None, "fails"),
    ("claude-fable-5-1", None, "fails"),
    ("claude-opus-5-5", None, "fails"),
    ("claude-sonnet-5-5", None, "fails"),
    ("claude-haiku-5-5", None, "noted"),
    ("claude-opus-5-5", Some("drop_block"), "noted"),
    ("claude-haiku-5-5", Some("error"), "fails"),
    ("claude-sonnet-5", Some("error"), "nothing"),
    ("claude-opus-4-8", None, "nothing"),
];

#[test]
fn the_outcome_depends_on_the_model_and_the_setting() {
    for (model, setting, expected) in OUTCOMES {
        let mut whole = whole();
        whole["model"] = json!(model);
        if let Some(setting) = setting {
            whole["thinking"] = json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": setting}});
        }
        let mut last = whole.clone();
        content(&mut last, 0)[0]["text"] = json!("It is Tuesday.");
        let report = checked(&[until(&whole, 1), until(&whole, 5), last], Rules::default(), None);
        let noted = report.notes.iter().any(|noted| noted.note == NoteKind::ThinkingUnbound);
        let found = match (rejected(&report).is_empty(), noted) {
            (false, _) => "fails",
            (true, true) => "noted",
            (true, false) => "nothing",
        };
        assert_eq!(found, expected, "{model} {setting:?}");
    }
}

#[test]
fn an_answer_or_the_rules_make_it_a_note() {
    let whole = whole();
    let mut last = whole.clone();
    last["system"][0]["text"] = json!("You mend all.");
    let bodies = [until(&whole, 5), last];
    let answered = Usage { input_tokens: 400, ..Usage::default() };
    let noted = Rules { thinking: Severity::Note, ..Rules::default() };
    for (rules, usage) in [(Rules::default(), Some(answered)), (noted, None)] {
        let report = checked(&bodies, rules, usage);
        assert_eq!(rejected(&report), Vec::<String>::new());
        let notes = report.notes.iter().filter(|noted| noted.note == NoteKind::ThinkingUnbound);
        assert_eq!(notes.map(|noted| noted.path.as_str()).collect::<Vec<_>>(), ["messages[1].content[0]"]);
    }
    let off = checked(&bodies, Rules { thinking: Severity::Off, ..Rules::default() }, None);
    assert!(!off.score.contains_key("thinking"));
}

#[test]
fn a_fork_that_keeps_its_parents_history_is_valid_and_one_with_another_prompt_is_not() {
    for (system, expected) in [("You mend tests.", 0), ("You review tests.", 1)] {
        let whole = whole();
        let mut fork = until(&whole, 6);
        fork["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "Only look at b.rs."}));
        fork["system"][0]["text"] = json!(system);
        let mut guard = Guard::new(Rules::default());
        for (chain, body) in [("main", until(&whole, 1)), ("main", until(&whole, 5)), ("main", whole), ("fork", fork)] {
            let parent = (chain == "fork").then_some("main");
            let facts = Facts { chain: Some(chain), parent, ..Facts::default() };
            guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
        }
        assert_eq!(rejected(&guard.finish()).len(), expected, "{system}");
    }
}

#[test]
fn agents_of_tests_with_equal_signatures_are_no_fault() {
    let whole = whole();
    let other = whole.to_string().replace("mend", "write").replace("Mend", "Write").replace("Monday", "Sunday");
    let other =
        other.replace("call_", "id_").replace("file ", "poem ").replace("a.rs", "poem.md").replace("Done", "So");
    let other: Value = serde_json::from_str(&other).unwrap();
    let mut guard = Guard::new(Rules::default());
    for (chain, body) in [("a", until(&whole, 3)), ("b", until(&other, 3)), ("a", whole), ("b", other)] {
        let facts = Facts { chain: Some(chain), ..Facts::default() };
        guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
    }
    assert_eq!(rejected(&guard.finish()), Vec::<String>::new());
}

/// An edit of a random history.
#[derive(Clone, Copy, Debug)]
enum Step {
    Answer { thinks: bool },
    System(u8),
    EditMessage(usize, u8),
    DropThinking(usize),
    DropFirst,
    PutBack,
}

/// The definition, block by block: what was before each thinking block when it was made.
#[derive(Default)]
struct Twin {
    made: Vec<(usize, Vec<String>, Option<usize>)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Thought(usize),
}

/// A history: user and assistant messages in turn.
#[derive(Clone, Default)]
struct History {
    system: u8,
    messages: Vec<Vec<Part>>,
}

impl History {
    fn body(&self) -> Value {
        let part = |part: &Part| match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Thought(number) => thinking(*number),
        };
        let message = |(at, parts): (usize, &Vec<Part>)| json!({"role": (["user", "assistant"][at % 2]), "content": parts.iter().map(part).collect::<Vec<_>>()});
        let messages: Vec<Value> = self.messages.iter().enumerate().map(message).collect();
        json!({"model": MODEL, "system": format!("prompt {}", self.system), "messages": messages})
    }

    /// All content before each thinking block, with the block before it.
    fn thoughts(&self) -> Vec<(usize, Vec<String>, Option<usize>)> {
        let mut found: Vec<(usize, Vec<String>, Option<usize>)> = Vec::new();
        let mut before = vec![format!("system {}", self.system)];
        for (at, parts) in self.messages.iter().enumerate() {
            for part in parts {
                match part {
                    Part::Text(text) => before.push(format!("{} {text}", at % 2)),
                    Part::Thought(number) => {
                        let after = found.last().map(|(number, ..)| *number);
                        found.push((*number, before.clone(), after));
                    }
                }
            }
        }
        found
    }
}

impl Twin {
    fn is_rejected(&self, sent: &History) -> bool {
        sent.thoughts().into_iter().any(|(number, before, after)| {
            let Some((_, made_before, made_after)) = self.made.iter().find(|(known, ..)| *known == number) else {
                return false;
            };
            *made_before != before || (after.is_some() && after != *made_after)
        })
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<bool>().prop_map(|thinks| Step::Answer { thinks }),
        2 => Just(Step::Answer { thinks: true }),
        1 => (0..2_u8).prop_map(Step::System),
        1 => (0..6_usize, 0..2_u8).prop_map(|(at, word)| Step::EditMessage(at, word)),
        1 => (0..4_usize).prop_map(Step::DropThinking),
        1 => Just(Step::DropFirst),
        1 => Just(Step::PutBack),
    ];
    proptest::collection::vec(step, 1..12)
}

proptest! {
    #[test]
    fn a_request_is_rejected_if_the_definition_says_so(steps in steps()) {
        let mut history = History { system: 0, messages: vec![vec![Part::Text("begin".to_owned())]] };
        let mut twin = Twin::default();
        let mut dropped = None;
        let mut guard = Guard::new(Rules::default());
        let mut rejections = 0;
        let mut said = 0;
        for step in steps {
            let facts = Facts { chain: Some("main"), ..Facts::default() };
            let body = history.body().to_string();
            guard.take(&Sent { facts, ..Sent::body(body.as_bytes()) }).unwrap();
            rejections += usize::from(twin.is_rejected(&history));
            match step {
                Step::Answer { thinks } => {
                    said += 1;
                    let mut answer = vec![Part::Text(format!("answer {said}"))];
                    if thinks {
                        answer.insert(0, Part::Thought(said));
                    }
                    history.messages.push(answer);
                    // As the model saw the request that was just sent.
                    twin.made.extend(history.thoughts().into_iter().filter(|(number, ..)| thinks && *number == said));
                    history.messages.push(vec![Part::Text(format!("go on {said}"))]);
                }
                Step::System(word) => history.system = word,
                Step::EditMessage(at, word) => {
                    let messages = history.messages.len();
                    for part in &mut history.messages[at % messages] {
                        if let Part::Text(text) = part {
                            *text = format!("{} {word}", text.split(' ').next().unwrap());
                        }
                    }
                }
                Step::DropThinking(nth) => {
                    let thinking = history.messages.iter_mut().filter(|parts| matches!(parts[0], Part::Thought(_)));
                    if let Some(parts) = thinking.into_iter().nth(nth) {
                        dropped = Some((parts[1].clone(), parts.remove(0)));
                    }
                }
                Step::DropFirst if history.messages.len() > 2 => drop(history.messages.drain(0..2)),
                Step::DropFirst => {}
                Step::PutBack => {
                    let taken: Option<(Part, Part)> = dropped.take();
                    if let Some((beside, thought)) = taken
                        && let Some(parts) = history.messages.iter_mut().find(|parts| parts[0] == beside)
                    {
                        parts.insert(0, thought);
                    }
                }
            }
        }
        let found = guard.finish();
        let more = |what: &str| what.split("and ").nth(1).and_then(|more| more.split(' ').next()?.parse::<usize>().ok());
        let counted = found.violations.iter().filter(|violation| violation.rule == Rule::Thinking);
        let counted: usize = counted.map(|violation| 1 + more(&violation.what).unwrap_or(0)).sum();
        prop_assert_eq!(counted, rejections);
    }
}
