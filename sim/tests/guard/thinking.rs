//! The prefix check of preserved thinking: `thinking.yaml`, change by change, and a slow twin.

use forkcast_sim::diagnosis::ThinkingCheck;
use forkcast_sim::guard::{Facts, Finding, Guard, NoteKind, Report, Rule, Rules, Sent, Severity};
use forkcast_sim::wire::{ChainId, NormalForms, Request, Usage, Wire};
use proptest::prelude::*;
use serde::Deserialize;
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
    let marker = json!({"type": "ephemeral"});
    json!({"model": MODEL, "max_tokens": 900, "tools": [tool("Read"), tool("Edit")], "cache_control": marker,
        "system": [{"type": "text", "text": "You mend tests."},
            {"type": "text", "text": "Be brief.", "cache_control": marker}],
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

fn content(body: &mut Value, message: usize) -> &mut Vec<Value> {
    body["messages"][message]["content"].as_array_mut().unwrap()
}

/// A change of a conversation's last request.
#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    source: String,
    /// Changes of all requests.
    #[serde(default)]
    before: Vec<Patch>,
    /// Numbers of messages of the earlier requests.
    #[serde(default = "turns")]
    cuts: Vec<usize>,
    #[serde(default)]
    change: Vec<Patch>,
    /// Another spelling in the last request.
    respell: Option<[String; 2]>,
    /// The first cause that breaks the prefix, or `none`.
    cache: Option<String>,
    rejected: Option<Rejected>,
}

fn turns() -> Vec<usize> {
    vec![1, 3, 5]
}

/// A JSON Patch (RFC 6902), as far as it is needed.
#[derive(Debug, Deserialize)]
struct Patch {
    op: String,
    path: String,
    #[serde(default)]
    value: Value,
}

/// The first rejected block, and words of the reason.
#[derive(Debug, Deserialize)]
struct Rejected {
    at: String,
    says: String,
}

fn patch(body: &mut Value, patches: &[Patch]) {
    for Patch { op, path, value } in patches {
        let (parent, name) = path.rsplit_once('/').unwrap();
        let parent = body.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {path}"));
        match (op.as_str(), parent) {
            ("add", Value::Array(list)) => list.insert(name.parse().unwrap_or(list.len()), value.clone()),
            ("remove", Value::Array(list)) => drop(list.remove(name.parse().unwrap())),
            ("replace", Value::Array(list)) => list[name.parse::<usize>().unwrap()] = value.clone(),
            ("add" | "replace", Value::Object(members)) => drop(members.insert(name.to_owned(), value.clone())),
            ("remove", Value::Object(members)) => drop(members.remove(name).unwrap()),
            (op, parent) => panic!("{op} at {path} in {parent}"),
        }
    }
}

impl Case {
    /// The bodies as sent.
    fn bodies(&self) -> Vec<String> {
        let mut whole = whole();
        patch(&mut whole, &self.before);
        let mut bodies: Vec<String> = self.cuts.iter().map(|cut| until(&whole, *cut).to_string()).collect();
        patch(&mut whole, &self.change);
        let last = whole.to_string();
        bodies.push(self.respell.iter().fold(last, |last, [from, to]| {
            assert!(last.contains(from), "{}: no {from}", self.name);
            last.replace(from, to)
        }));
        bodies
    }

    /// What is wrong with the report; `None` if it is right.
    fn fault(&self, report: &Report) -> Option<String> {
        let found = rejected(report);
        let is_right = match &self.rejected {
            None => found.is_empty(),
            Some(Rejected { at, says }) => {
                let place = format!("request 3 at {at}: HTTP 400 on `{MODEL}`: ");
                found.len() == 1 && found[0].starts_with(&place) && found[0].contains(says)
            }
        };
        let is_broken = |finding: &&Finding| finding.breaks_prefix && finding.rule == Rule::Stability;
        let broken = report.findings.iter().find(is_broken);
        let cause = broken.map_or("none", |finding| finding.cause.word());
        let is_cache_right = self.cache.as_ref().is_none_or(|expected| expected == cause);
        (!is_right || !is_cache_right).then(|| format!("{} ({}): {found:?}; {cause}", self.name, self.source))
    }
}

#[test]
fn each_change_is_valid_or_rejected_as_the_pages_say() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("thinking.yaml")).unwrap();
    let mut faults = Vec::new();
    for case in &cases {
        let mut guard = Guard::in_tests();
        for body in case.bodies() {
            let facts = Facts { chain: Some("main"), ..Facts::default() };
            guard.take(&Sent { facts, ..Sent::body(body.as_bytes()) }).unwrap();
        }
        faults.extend(case.fault(&guard.finish()));
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(cases.len() >= 50 && cases.iter().all(|case| case.source.starts_with("A.")), "{} cases", cases.len());
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
fn a_fork_of_a_changed_history_is_rejected_as_its_parent_is() {
    let whole = whole();
    let [mut changed, mut fork] = [until(&whole, 5), until(&whole, 5)];
    fork["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "Only look at b.rs."}));
    for body in [&mut changed, &mut fork] {
        body["system"][0]["text"] = json!("You review tests.");
    }
    let mut guard = Guard::new(Rules::default());
    for (chain, body) in [("main", until(&whole, 1)), ("main", until(&whole, 3)), ("main", changed), ("fork", fork)] {
        let parent = (chain == "fork").then_some("main");
        let facts = Facts { chain: Some(chain), parent, ..Facts::default() };
        guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
    }
    assert_eq!(rejected(&guard.finish()).len(), 2);
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
    Answer {
        thoughts: usize,
    },
    System(u8),
    Tools(u8),
    EditMessage(usize, u8),
    /// White space at the end of a text.
    Pad(usize),
    DropThinking(usize),
    DropFirst,
    PutBack,
}

/// The definition, block by block: what was before each thinking block when it was made.
#[derive(Default)]
struct Twin {
    made: Vec<Made>,
}

/// A thinking block, all content before it, and the thinking block before it.
type Made = (usize, Vec<String>, Option<usize>);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Thought(usize),
}

/// A history: user and assistant messages in turn.
#[derive(Clone, Default)]
struct History {
    system: u8,
    tools: u8,
    messages: Vec<Vec<Part>>,
}

impl History {
    /// Tools in two orders, and one more.
    const TOOLS: [&[&str]; 3] = [&["Read", "Edit"], &["Edit", "Read"], &["Read", "Edit", "New"]];

    fn body(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Thought(number) => thinking(*number),
        };
        let message = |(at, parts): (usize, &Vec<Part>)| json!({"role": (["user", "assistant"][at % 2]), "content": parts.iter().map(part).collect::<Vec<_>>()});
        let messages: Vec<Value> = self.messages.iter().enumerate().map(message).collect();
        let tools: Vec<Value> = Self::TOOLS[usize::from(self.tools)].iter().map(|name| tool(name)).collect();
        json!({"model": MODEL, "tools": tools, "system": format!("prompt {}", self.system), "messages": messages})
            .to_string()
    }

    /// All thinking blocks.
    fn thoughts(&self) -> Vec<Made> {
        let mut found: Vec<Made> = Vec::new();
        let mut tools = Self::TOOLS[usize::from(self.tools)].to_vec();
        tools.sort_unstable();
        let mut before = vec![format!("{tools:?}"), format!("system {}", self.system)];
        for (at, parts) in self.messages.iter().enumerate() {
            for part in parts {
                match part {
                    Part::Text(text) => before.push(format!("{} {}", at % 2, text.trim())),
                    Part::Thought(number) => {
                        let after = found.last().map(|(number, ..)| *number);
                        found.push((*number, before.clone(), after));
                    }
                }
            }
        }
        found
    }

    /// The texts of a message.
    fn texts(&mut self, at: usize) -> impl Iterator<Item = &mut String> {
        let messages = self.messages.len();
        self.messages[at % messages].iter_mut().filter_map(|part| match part {
            Part::Text(text) => Some(text),
            Part::Thought(_) => None,
        })
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

/// A history that is edited, with its twin.
#[derive(Default)]
struct Edited {
    history: History,
    twin: Twin,
    answers: usize,
    /// A thinking block that was left out, and the text after it.
    dropped: Option<[Part; 2]>,
}

impl Edited {
    fn step(&mut self, step: Step) {
        let Self { history, dropped, .. } = self;
        match step {
            Step::Answer { thoughts } => self.answer(thoughts),
            Step::System(word) => history.system = word,
            Step::Tools(set) => history.tools = set,
            Step::EditMessage(at, word) => {
                history.texts(at).for_each(|text| *text = format!("{} {word}", text.split(' ').next().unwrap()));
            }
            Step::Pad(at) => history.texts(at).for_each(|text| text.push_str(" \n")),
            Step::DropThinking(nth) => {
                let thought = |(at, part): (usize, &Part)| matches!(part, Part::Thought(_)).then_some(at);
                let places = history.messages.iter().enumerate().flat_map(|(message, parts)| {
                    parts.iter().enumerate().filter_map(thought).map(move |part| (message, part))
                });
                if let Some((message, part)) = places.collect::<Vec<_>>().get(nth) {
                    let parts = &mut history.messages[*message];
                    *dropped = Some([parts.remove(*part), parts[*part].clone()]);
                }
            }
            Step::DropFirst if history.messages.len() > 2 => drop(history.messages.drain(0..2)),
            Step::DropFirst => {}
            Step::PutBack => {
                if let Some([thought, beside]) = dropped.take()
                    && let Some(parts) = history.messages.iter_mut().find(|parts| parts.contains(&beside))
                {
                    let at = parts.iter().position(|part| *part == beside).unwrap();
                    parts.insert(at, thought);
                }
            }
        }
    }

    /// An answer to the request that was just sent, and the user's next message.
    fn answer(&mut self, thoughts: usize) {
        self.answers += 1;
        let said = self.answers;
        let thought = |nth| [Part::Thought(said * 10 + nth), Part::Text(format!("answer{said}.{nth}"))];
        let mut answer: Vec<Part> = (0..thoughts).flat_map(thought).collect();
        answer.push(Part::Text(format!("end{said}")));
        self.history.messages.push(answer);
        let new = self.history.thoughts().into_iter().filter(|(number, ..)| number / 10 == said);
        self.twin.made.extend(new);
        self.history.messages.push(vec![Part::Text(format!("continue with part {said}"))]);
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..3_usize).prop_map(|thoughts| Step::Answer { thoughts }),
        1 => (0..2_u8).prop_map(Step::System),
        1 => (0..3_u8).prop_map(Step::Tools),
        1 => (0..6_usize, 0..2_u8).prop_map(|(at, word)| Step::EditMessage(at, word)),
        1 => (0..6_usize).prop_map(Step::Pad),
        1 => (0..4_usize).prop_map(Step::DropThinking),
        1 => Just(Step::DropFirst),
        1 => Just(Step::PutBack),
    ];
    proptest::collection::vec(step, 1..10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_request_is_rejected_if_the_definition_says_so(steps in steps()) {
        let begin = vec![vec![Part::Text("begin with the first part".to_owned())]];
        let mut edited = Edited { history: History { messages: begin, ..History::default() }, ..Edited::default() };
        let (mut wire, mut check) = (Wire::new(NormalForms::DEFAULT), ThinkingCheck::default());
        let mut previous: Option<Request> = None;
        for step in steps {
            let request = wire.read(edited.history.body().as_bytes(), "", "").unwrap();
            let rejected = check.take(&wire, &request, ChainId(0), previous.as_ref(), None);
            prop_assert_eq!(rejected.is_some(), edited.twin.is_rejected(&edited.history), "{:?}", rejected);
            previous = Some(request);
            edited.step(step);
        }
    }
}
