//! The prefix check of preserved thinking: `thinking.yaml`, change by change, and a slow twin.

mod outcomes;
mod twin;

use forkcast_sim::guard::{Facts, Finding, Guard, NoteKind, Report, Rule, Rules, Sent};
use forkcast_sim::wire::Usage;
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
    /// A note about thinking, and words of it.
    noted: Option<[String; 2]>,
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
                let place = format!("request {} at {at}: HTTP 400 on `", self.cuts.len());
                found.len() == 1 && found[0].starts_with(&place) && found[0].contains(says)
            }
        };
        let kinds = [NoteKind::ThinkingUnbound, NoteKind::ThinkingDropped, NoteKind::ThinkingAltered];
        let notes = report.notes.iter().filter(|noted| kinds.contains(&noted.note));
        let notes: Vec<[&str; 2]> =
            notes.map(|noted| [noted.note.word(), noted.answer.as_deref().unwrap_or("")]).collect();
        let is_noted = match &self.noted {
            None => notes.is_empty(),
            Some([kind, says]) => {
                matches!(&notes[..], [[word, words]] if word == kind && words.contains(says.as_str()))
            }
        };
        let is_broken = |finding: &&Finding| finding.breaks_prefix && finding.rule == Rule::Stability;
        let broken = report.findings.iter().find(is_broken);
        let cause = broken.map_or("none", |finding| finding.cause.word());
        let is_cache_right = self.cache.as_ref().is_none_or(|expected| expected == cause);
        (!is_right || !is_cache_right || !is_noted)
            .then(|| format!("{} ({}): {found:?}; {cause}; {notes:?}", self.name, self.source))
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
    assert!(cases.len() >= 60 && cases.iter().all(|case| case.source.starts_with("A.")), "{} cases", cases.len());
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
fn a_fork_of_an_altered_signature_is_rejected_until_it_is_the_right_one_again() {
    let whole = whole();
    let mut altered = until(&whole, 5);
    content(&mut altered, 1)[0]["signature"] = json!("signed-X");
    let mut fork = altered.clone();
    fork["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "Only look at b.rs."}));
    let mut guard = Guard::new(Rules::default());
    for (chain, body) in [("main", until(&whole, 3)), ("main", altered), ("fork", fork), ("main", whole)] {
        let parent = (chain == "fork").then_some("main");
        let facts = Facts { chain: Some(chain), parent, ..Facts::default() };
        guard.take(&Sent { facts, ..Sent::body(body.to_string().as_bytes()) }).unwrap();
    }
    let found = rejected(&guard.finish());
    let expected = [1, 2].map(|request| format!("request {request} at messages[1].content[0]: HTTP 400"));
    assert!(
        found.len() == 2 && found.iter().zip(&expected).all(|(found, start)| found.starts_with(start)),
        "{found:?}"
    );
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
