//! A replaced history, possibly together with tools and system prompt, among requests of two kinds of agents without
//! ids.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Finding, NoteKind, Report, Rule};
use serde_json::{Value, json};

use super::conversation::{body, check, mark_end, message, replace, text};

/// An agent of another kind in its turn `turns`.
fn other(turns: usize) -> Value {
    let mut other = body(0);
    other["tools"] = json!([{"name": "Search", "input_schema": {"type": "object"}}]);
    other["system"] = json!([{"type": "text", "text": text("elsewhere", 2_000)}]);
    let said = |at: usize| message(["user", "assistant"][at % 2], &format!("elsewhere {at}"));
    other["messages"] = (0..=turns * 2).map(said).collect();
    mark_end(&mut other);
    other
}

/// [`body`] without turns, with these messages.
fn saying(messages: Vec<Value>) -> Value {
    let mut body = body(0);
    body["messages"] = messages.into();
    mark_end(&mut body);
    body
}

type Change = fn(&mut Value);

/// Changes of tools and system prompt.
const HEADS: [(&str, Change); 7] = [
    ("same", |_| {}),
    ("tool added", |body| tools(body).push(json!({"name": "Grep", "input_schema": {"type": "object"}}))),
    ("tool removed", |body| drop(tools(body).remove(1))),
    ("reordered", |body| tools(body).swap(0, 1)),
    ("system word", |body| replace(body, "/system/0/text", "11-20", "11-21")),
    ("system new", |body| body["system"] = json!([{"type": "text", "text": text("all new", 1_200)}])),
    ("both new", |body| {
        body["tools"] = json!([{"name": "Ask", "input_schema": {"type": "object"}}]);
        body["system"] = json!([{"type": "text", "text": text("all new", 1_200)}]);
    }),
];

fn tools(body: &mut Value) -> &mut Vec<Value> {
    body["tools"].as_array_mut().unwrap()
}

const KNOWN: &str = "This session is being continued from a previous conversation that ran out of context. The summary";

/// The remains of a history of seven turns.
fn left(what: &str) -> Vec<Value> {
    let history = body(7)["messages"].as_array().unwrap().clone();
    let [first, last] = [history.first(), history.last()].map(|message| message.unwrap().clone());
    let (known, unknown) = (message("user", KNOWN), message("user", "what went before, in short"));
    match what {
        "known summary" => vec![known],
        "known, last" => vec![known, last],
        "first, known, last" => vec![first, known, last],
        "first, last two" => [vec![first], history[history.len() - 2..].to_vec()].concat(),
        "own words" => {
            let said = text("what went before, in short", 400);
            let unknown = json!({"role": "user", "content": [{"type": "text", "text": said}]});
            vec![unknown, message("assistant", "understood"), message("user", "go on")]
        }
        "unknown, last" => vec![unknown, last],
        _ => vec![unknown],
    }
}

/// The report on request `at`: its findings that break the prefix, or the note about its chain.
fn said(report: &Report, at: usize) -> String {
    let breaks = |found: &&Finding| found.breaks_prefix && found.rule != Rule::Siblings;
    let found = report.findings.iter().filter(|found| found.request == at && breaks(found));
    let mut words: Vec<String> = found.map(|found| found.cause.to_string()).collect();
    words.dedup();
    let noted = |kind| report.notes.iter().any(|noted| noted.request == at && noted.note == kind);
    words.extend(noted(NoteKind::NewChain).then(|| "new_chain".to_owned()));
    words.join(" ")
}

/// Both kinds of agents in turn, then the first one with `left` of its history and a changed head, then both continue.
fn replaced(left: Vec<Value>, change: Change) -> (usize, String) {
    let mut bodies: Vec<Value> = (1..=7).flat_map(|turns| [body(turns), other(turns)]).collect();
    let mut on = left.clone();
    on.extend([message("assistant", "so be it"), message("user", "and then?")]);
    let at = bodies.len();
    for messages in [left, on] {
        let mut newer = saying(messages);
        change(&mut newer);
        bodies.extend([newer, other(8)]);
    }
    let report = check(&bodies);
    assert!(report.findings.iter().all(|found| found.request == at), "{:#?}", report.findings);
    (report.chains, said(&report, at))
}

/// The remaining history, the change of the head, the number of chains, and the report.
const CASES: [(&str, [(usize, &str); 7]); 7] = [
    (
        "known summary",
        [
            (2, "compacted"),
            (2, "tools_added compacted"),
            (2, "tools_removed compacted"),
            (2, "tools_reordered compacted"),
            (2, "system_changed compacted"),
            (2, "system_changed compacted"),
            (3, "new_chain"),
        ],
    ),
    (
        "known, last",
        [
            (2, "compacted"),
            (2, "tools_added compacted"),
            (2, "tools_removed compacted"),
            (2, "tools_reordered compacted"),
            (2, "system_changed compacted"),
            (2, "system_changed compacted"),
            (3, "new_chain"),
        ],
    ),
    (
        "own words",
        [
            (2, "compacted"),
            (2, "tools_added compacted"),
            (2, "tools_removed compacted"),
            (2, "tools_reordered compacted"),
            (2, "system_changed compacted"),
            (3, "new_chain"),
            (3, ""),
        ],
    ),
    (
        "first, known, last",
        [
            (2, "compacted"),
            (2, "tools_added compacted"),
            (2, "tools_removed compacted"),
            (2, "tools_reordered compacted"),
            (2, "system_changed compacted"),
            (2, "system_changed compacted"),
            (3, "new_chain"),
        ],
    ),
    (
        "first, last two",
        [
            (2, "history_truncated"),
            (2, "tools_added history_truncated"),
            (2, "tools_removed history_truncated"),
            (2, "tools_reordered history_truncated"),
            (2, "system_changed history_truncated"),
            (2, "system_changed history_truncated"),
            (3, "new_chain"),
        ],
    ),
    (
        "unknown, last",
        [(3, "new_chain"), (3, "new_chain"), (3, "new_chain"), (3, "new_chain"), (3, "new_chain"), (3, ""), (3, "")],
    ),
    (
        "unknown",
        [(3, "new_chain"), (3, "new_chain"), (3, "new_chain"), (3, "new_chain"), (3, "new_chain"), (3, ""), (3, "")],
    ),
];

#[test]
fn a_history_replaced_together_with_tools_or_system_prompt_is_a_break_or_a_note() {
    let mut wrong = Vec::new();
    for (what, expected) in CASES {
        for ((head, change), (chains, words)) in HEADS.iter().zip(expected) {
            let found = replaced(left(what), *change);
            if found != (chains, words.to_owned()) {
                wrong.push(format!("{what}, {head}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_request_that_could_continue_either_of_two_chains_begins_its_own() {
    for what in ["known summary", "own words"] {
        let mut newer = saying(left(what));
        tools(&mut newer).swap(0, 1);
        let second = ["another task", "another answer", "another word"];
        let said_so = |count: usize| {
            let roles = ["user", "assistant", "user"].into_iter().zip(second).take(count);
            saying(roles.map(|(role, word)| message(role, word)).collect())
        };
        let mut second = [said_so(1), said_so(3)];
        let report = check(&[&[body(7)], &second[..], &[newer.clone()]].concat());
        assert_eq!((report.chains, said(&report, 3)), (3, "new_chain".to_owned()), "{what}");
        // The third of a kind is compared with the first two, whichever chain it belongs to; nothing names them as siblings.
        let differs = |found: &&Finding| found.rule == Rule::Siblings && found.cause == Cause::ToolsReordered;
        assert_eq!(report.findings.iter().filter(differs).count(), 1, "{what}");
        // If one is more similar than the other, it alone is meant.
        second.iter_mut().for_each(|body| replace(body, "/system/0/text", "11-20", "11-21"));
        let report = check(&[&[body(7)], &second[..], &[newer]].concat());
        assert_eq!((report.chains, said(&report, 3)), (2, "tools_reordered compacted".to_owned()), "{what}");
    }
}

#[test]
fn a_models_words_alone_prove_nothing_if_the_tools_changed_and_the_history_is_no_shorter() {
    let mut examples = saying(vec![
        message("user", "an example"),
        message("assistant", "what to say then"),
        message("user", "another task"),
    ]);
    tools(&mut examples).swap(0, 1);
    for turns in 0..=2 {
        let report = check(&[body(turns), examples.clone()]);
        assert_eq!((report.chains, said(&report, 1)), (2, "new_chain".to_owned()), "{turns} turns");
    }
    assert_eq!(check(&[body(3), examples]).chains, 1);
}

#[test]
fn a_summary_of_an_unknown_history_begins_a_chain() {
    let mut newer = saying(left("known summary"));
    tools(&mut newer).swap(0, 1);
    let report = check(&[body(0), newer]);
    assert_eq!((report.chains, said(&report, 1)), (2, "new_chain".to_owned()));
}

#[test]
fn a_summary_before_the_last_words_of_a_short_history_is_a_compaction() {
    for turns in 1..=3 {
        let last = body(turns)["messages"].as_array().unwrap().last().unwrap().clone();
        let report = check(&[body(turns), saying(vec![message("user", KNOWN), last])]);
        assert_eq!((report.chains, said(&report, 1)), (1, "compacted".to_owned()), "{turns} turns");
    }
}

#[test]
fn the_providers_own_summary_is_recognised_by_its_type() {
    let mut newer = saying(vec![
        json!({"role": "assistant", "content": [{"type": "compaction", "content": "what went before"}]}),
        message("user", "go on"),
    ]);
    tools(&mut newer).swap(0, 1);
    let report = check(&[body(1), newer]);
    let causes: Vec<_> = report.findings.iter().map(|found| found.cause).collect();
    assert_eq!((report.chains, causes), (1, vec![Cause::ToolsReordered, Cause::Compacted]));
}

#[test]
fn an_edited_summary_is_no_compaction() {
    let last = body(1)["messages"].as_array().unwrap().last().unwrap().clone();
    let older = saying(vec![message("user", KNOWN), last.clone()]);
    let mut newer = older.clone();
    replace(&mut newer, "/messages/0/content/0/text", "The summary", "A summary");
    let report = check(&[older, newer]);
    assert_eq!((report.chains, said(&report, 1)), (1, "message_edited".to_owned()));
}

#[test]
fn a_conversation_that_begins_with_the_words_of_another_breaks_nothing() {
    let report = check(&[body(0), body(1), body(2), body(3), body(0), other(0), body(1), body(0)]);
    assert!(report.findings.iter().all(|found| !found.breaks_prefix), "{:#?}", report.findings);
}

/// Openings that no known client uses but many summaries have.
const COMMON: [&str; 7] = [
    "Summary of the conversation so far: the parser fails",
    "## Conversation summary\n\nThe parser fails",
    "What did we do so far? We read the parser",
    "<conversation-summary>The parser fails",
    "[Compacted conversation] The parser fails",
    "Here is a summary of what happened: the parser fails",
    "The conversation so far: the parser fails",
];

#[test]
fn a_text_that_begins_like_many_summaries_replaces_the_only_possible_history() {
    for opening in COMMON {
        let summary = || saying(vec![message("user", opening)]);
        let report = check(&[body(5), body(6), body(7), summary()]);
        assert_eq!((report.chains, said(&report, 3).as_str()), (1, "compacted"), "{opening}");
        // Two conversations of one kind are possible.
        let second = [("user", "another task"), ("assistant", "another answer"), ("user", "another word")];
        let second = |to: usize| saying(second[..to].iter().map(|(role, word)| message(role, word)).collect());
        let report = check(&[body(6), body(7), second(1), second(3), summary()]);
        assert_eq!((report.chains, said(&report, 4).as_str()), (3, "new_chain"), "{opening}");
        // A question may begin like this, and the earlier history is no longer than it.
        let report = check(&[body(0), summary()]);
        assert_eq!(report.chains, 2, "{opening}");
    }
}
