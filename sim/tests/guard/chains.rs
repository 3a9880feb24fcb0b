//! Chains of requests without names.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Facts, NoteKind, Report, Rule, Sent};
use forkcast_sim::time::Instant;
use serde_json::{Value, json};

use super::conversation::{body, check, guard, mark_end, message, replace, take, text};

/// [`body`] of two turns, a tool call, and a directive of its own.
fn sibling(word: &str, turns: usize) -> Value {
    let mut body = body(2);
    let messages = body["messages"].as_array_mut().unwrap();
    messages
        .push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": "f", "name": "Agent", "input": {}}]}));
    messages.push(message("user", word));
    for turn in 0..turns {
        messages.push(message("assistant", &format!("{word} answers {turn}")));
        messages.push(message("user", &format!("{word} goes on {turn}")));
    }
    mark_end(&mut body);
    body
}

#[test]
fn siblings_without_ids_are_chains_of_their_own() {
    let bodies = [
        body(1),
        body(2),
        sibling("a", 0),
        sibling("b", 0),
        sibling("c", 0),
        sibling("b", 1),
        sibling("a", 1),
        sibling("d", 0),
    ];
    let mut guard = guard();
    let chains: Vec<(u32, bool)> =
        bodies.iter().map(|body| take(&mut guard, body)).map(|checked| (checked.chain.0, checked.first)).collect();
    assert_eq!(chains, [(0, true), (0, false), (0, false), (1, true), (2, true), (1, false), (0, false), (3, true)]);
    let report = guard.finish();
    assert!(report.findings.is_empty() && report.warnings.is_empty(), "{:#?} {:?}", report.findings, report.warnings);
}

#[test]
fn of_two_equally_shared_chains_the_fully_repeated_one_continues() {
    let goes_on = |word: &str| {
        let mut body = sibling(word, 0);
        let messages = body["messages"].as_array_mut().unwrap();
        messages.extend([message("assistant", &format!("{word} is done")), message("user", "go on")]);
        mark_end(&mut body);
        body
    };
    let report = check(&[body(2), sibling("a", 0), sibling("b", 0), goes_on("a"), goes_on("b")]);
    assert_eq!((report.chains, report.findings.len()), (2, 0), "{:#?}", report.findings);
}

#[test]
fn a_retry_for_another_answer_is_no_break() {
    let again = |word: &str| {
        let mut body = body(2);
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(message("assistant", word));
        messages.push(message("user", "and then?"));
        mark_end(&mut body);
        body
    };
    let report = check(&[body(2), again("first answer"), again("second answer")]);
    assert_eq!((report.chains, report.findings.len()), (2, 0));
}

#[test]
fn a_sibling_that_lost_its_shared_part_is_a_finding() {
    let mut broken = sibling("b", 0);
    replace(&mut broken, "/system/0/text", "2026-11-20", "2026-11-21");
    let report = check(&[body(1), body(2), sibling("a", 0), broken]);
    let breaking: Vec<_> = report.findings.iter().filter(|finding| finding.breaks_prefix).collect();
    assert!(breaking.iter().any(|finding| finding.cause == Cause::SystemChanged), "{breaking:#?}");
}

#[test]
fn an_edit_before_the_end_stays_in_its_chain() {
    let mut edited = body(3);
    replace(&mut edited, "/messages/3/content/0/text", "plan 1 is", "plan 1 was");
    let report = check(&[body(1), body(2), edited]);
    assert_eq!(report.chains, 1);
    let found: Vec<_> =
        report.findings.iter().map(|finding| (finding.rule, finding.cause, finding.breaks_prefix)).collect();
    assert_eq!(found, [(Rule::Stability, Cause::MessageEdited, true)]);
}

#[test]
fn a_request_that_continues_nothing_begins_a_chain_with_a_warning() {
    let other = |turn: usize| {
        let mut body = body(0);
        body["messages"] = json!(
            (0..=turn * 2).map(|at| message(["user", "assistant"][at % 2], &format!("other {at}"))).collect::<Vec<_>>()
        );
        mark_end(&mut body);
        body
    };
    let report = check(&[body(0), other(0), body(1), other(1)]);
    assert_eq!((report.chains, report.findings.len()), (2, 0));
    assert_eq!(report.warnings.len(), 1);
    assert!(
        report.warnings[0].contains("request 1 names no agent and continues no conversation"),
        "{:?}",
        report.warnings
    );
}

#[test]
fn a_request_that_continues_two_chains_equally_gets_a_warning() {
    let report = check(&[body(2), sibling("a", 0), sibling("b", 0), sibling("b", 0), {
        // It continues neither sibling, and shares as much with one as with the other.
        let mut body = sibling("c", 3);
        replace(&mut body, "/system/0/text", "2026-11-20", "2026-11-21");
        body
    }]);
    assert!(
        report.warnings.iter().any(|warning| warning.contains("two conversations equally")),
        "{:?}",
        report.warnings
    );
}

#[test]
fn names_of_the_input_decide() {
    let mut guard = guard();
    let (older, mut newer) = (body(1).to_string(), body(2));
    newer["messages"] = json!([message("user", "something else")]);
    let newer = newer.to_string();
    let first = guard
        .take(&Sent {
            facts: Facts { chain: Some("main"), scope: "a", ..Facts::default() },
            ..Sent::body(older.as_bytes())
        })
        .unwrap();
    let second = guard
        .take(&Sent {
            facts: Facts { chain: Some("main"), scope: "a", ..Facts::default() },
            ..Sent::body(newer.as_bytes())
        })
        .unwrap();
    let third = guard
        .take(&Sent {
            facts: Facts { chain: Some("main"), scope: "b", ..Facts::default() },
            ..Sent::body(older.as_bytes())
        })
        .unwrap();
    assert_eq!((first.chain_name.as_str(), second.chain_name.as_str()), ("main", "main"));
    assert_eq!((third.chain_name.as_str(), third.first), ("b/main", true));
    assert!(!second.findings.is_empty());
}

#[test]
fn a_replaced_history_stays_in_its_chain() {
    let mut compacted = body(0);
    compacted["messages"] =
        json!([message("user", "a summary"), message("assistant", "understood"), message("user", "go on")]);
    compacted["messages"][0]["content"][0]["text"] = json!(text("a summary", 400));
    mark_end(&mut compacted);
    let mut renewed = body(8);
    for message in renewed["messages"].as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            for key in ["id", "tool_use_id"] {
                if let Some(id) = block.get_mut(key) {
                    *id = json!(format!("new-{}", id.as_str().unwrap()));
                }
            }
        }
    }
    for (replaced, cause) in [(compacted, Cause::Compacted), (renewed, Cause::MessageEdited)] {
        let report = check(&[body(7), replaced]);
        assert_eq!(report.chains, 1);
        assert_eq!(report.findings.first().map(|found| (found.cause, found.breaks_prefix)), Some((cause, true)));
    }
}

/// A request with only one user text left.
fn told(text: &str) -> Value {
    let mut body = body(0);
    body["messages"] = json!([{"role": "user", "content": [{"type": "text", "text": text}]}]);
    mark_end(&mut body);
    body
}

/// The requests with this note.
fn noted(report: &Report, kind: NoteKind) -> Vec<usize> {
    report.notes.iter().filter(|noted| noted.note == kind).map(|noted| noted.request).collect()
}

#[test]
fn a_history_replaced_by_a_summary_stays_in_its_chain() {
    let openings = [
        "This session is being continued from a previous conversation that ran out of context. The summary below covers",
        "The conversation history before this point was compacted into the following summary:\n\n<summary>\nplan",
        "The following is a summary of a branch that this conversation came back from:\n\n<summary>\nplan",
        "Here is a summary of the conversation to date:\n\nplan",
        "You are in the middle of a conversation that has been summarized.\n\nplan",
        "Another language model started to solve this problem and produced a summary of its thinking process. Plan",
        "You were originally given instructions from a user over one or more turns. Here were the user messages: plan",
        "Some of the conversation history has been summarized to free up context.\n\nplan",
        "<state_snapshot>\n  <overall_goal>plan</overall_goal>\n</state_snapshot>",
        "I spoke to you previously about a number of things.\nI asked you to plan",
        "<summary>\nplan\n</summary>",
        "\nThis session is being continued from a previous conversation that ran out of context. The conversation is",
    ];
    for (opening, turns) in openings.into_iter().flat_map(|opening| [(opening, 1), (opening, 7)]) {
        let report = check(&[body(turns), told(opening), told(&format!("{opening} and once more"))]);
        assert_eq!((report.chains, noted(&report, NoteKind::NewChain)), (1, vec![]), "{opening}");
        let found: Vec<_> =
            report.findings.iter().map(|found| (found.request, found.cause, found.breaks_prefix)).collect();
        assert_eq!(found[0], (1, Cause::Compacted, true), "{opening}");
    }
}

/// [`body`] with a history that the provider summarised after `turns` turns; the client still sends all of it.
fn compacted(turns: usize, more: usize) -> Value {
    let mut body = body(turns);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": [
        {"type": "compaction", "content": text("summary", 40)}, {"type": "text", "text": "Where was I?"}]}));
    messages.push(message("user", "go on"));
    for turn in 0..more {
        messages.push(message("assistant", &format!("answer {turn}")));
        messages.push(message("user", &format!("question {turn}")));
    }
    mark_end(&mut body);
    body
}

#[test]
fn messages_before_the_providers_own_summary_leave_the_prompt() {
    let mut edited = compacted(7, 2);
    edited["messages"][3]["content"][0]["text"] = json!("another");
    let report = check(&[body(6), body(7), compacted(7, 0), compacted(7, 1), edited]);
    let told: Vec<_> = report
        .findings
        .iter()
        .map(|found| (found.request, found.cause, found.path.as_str(), found.breaks_prefix))
        .collect();
    assert_eq!(told, [(2, Cause::Compacted, "messages[15].content[0]", true)], "{:#?}", report.findings);
    assert_eq!(report.chains, 1);
}

#[test]
fn a_summary_of_no_known_history_begins_a_chain() {
    let summary = told("Here is a summary of the conversation to date: plan");
    // No model had said anything that could be summarised.
    assert_eq!(check(&[body(0), summary.clone()]).chains, 2);
    // Two agents of one kind could continue like this.
    let other = told("another task");
    let mut answered = other.clone();
    let messages = answered["messages"].as_array_mut().unwrap();
    messages.extend([message("assistant", "another answer"), message("user", "another word")]);
    mark_end(&mut answered);
    let report = check(&[body(3), other, answered, summary]);
    assert_eq!((report.chains, noted(&report, NoteKind::NewChain)), (3, vec![1, 3]));
}

#[test]
fn an_agent_that_goes_back_one_step_may_be_a_fork_and_gets_a_note() {
    let otherwise = |word: &str| {
        let mut body = body(2);
        body["messages"].as_array_mut().unwrap().extend([message("assistant", "done"), message("user", word)]);
        mark_end(&mut body);
        body.to_string()
    };
    let bodies = [body(2).to_string(), otherwise("go on"), otherwise("go on otherwise")];
    let notes = |seconds: [u64; 3]| {
        let mut guard = guard();
        for (body, at) in bodies.iter().zip(seconds) {
            let [at, first_byte_at] = [at * 1_000, at * 1_000 + 3_000].map(|at| Some(Instant::from_millis(at)));
            guard
                .take(&Sent { facts: Facts { at, first_byte_at, ..Facts::default() }, ..Sent::body(body.as_bytes()) })
                .unwrap();
        }
        let report = guard.finish();
        assert_eq!((report.chains, report.findings.len()), (2, 0));
        noted(&report, NoteKind::Branch)
    };
    assert_eq!(notes([0, 10, 20]), [2]);
    // It was sent before the other's answer had begun, so it is not the same agent's next turn.
    assert!(notes([0, 10, 11]).is_empty());
    let mut guard = guard();
    bodies.iter().for_each(|body| drop(guard.take(&Sent::body(body.as_bytes())).unwrap()));
    assert_eq!(noted(&guard.finish(), NoteKind::Branch), [2], "unknown without instants");
}

/// A log that begins late has other conversations of the same agent, each from its middle on.
#[test]
fn conversations_that_are_recorded_from_their_middle_replace_none() {
    let conversation = |word: &str, turns: usize| {
        let mut body = body(0);
        let said = |turn: usize| {
            [message("user", &format!("{word} asks {turn}")), message("assistant", &format!("{word} hears {turn}"))]
        };
        let mut messages: Vec<Value> = (0..turns).flat_map(said).collect();
        messages.push(message("user", &format!("{word} goes on")));
        body["messages"] = Value::from(messages);
        mark_end(&mut body);
        body
    };
    let report = check(&[conversation("ann", 3), conversation("ben", 4), conversation("cleo", 2)]);
    assert_eq!((report.chains, report.findings.len()), (3, 0), "{:#?}", report.findings);
    let report = check(&[conversation("ann", 8), conversation("ben", 2)]);
    assert_eq!((report.chains, report.findings.len()), (2, 0), "{:#?}", report.findings);
    // Of a few messages, the first of which is long, it may be a summary of the other.
    let mut summed = conversation("ben", 1);
    summed["messages"][0]["content"][0]["text"] = json!(text("ben sums up", 400));
    assert_eq!(check(&[conversation("ann", 8), summed]).chains, 1);
}

/// [`body`] of two turns on a model that drops thinking in the next turn of the user, with thinking before each call.
fn thoughtful(turns: usize) -> Value {
    let mut body = body(turns);
    for message in body["messages"].as_array_mut().unwrap().iter_mut().filter(|message| message["role"] == "assistant")
    {
        let thought = json!({"type": "thinking", "thinking": text("hm", 40), "signature": "s"});
        message["content"].as_array_mut().unwrap().insert(0, thought);
    }
    body
}

/// zed-industries/zed#34155: a request beside the conversation repeats it without its thinking.
#[test]
fn an_agent_that_goes_on_after_a_question_beside_its_tool_loop_is_the_same_agent() {
    let mut aside = thoughtful(2);
    aside["messages"].as_array_mut().unwrap().push(message("user", "a question beside it"));
    let mut guard = guard();
    let chains =
        [thoughtful(1), thoughtful(2), aside, thoughtful(3), thoughtful(4)].map(|body| take(&mut guard, &body).chain.0);
    assert_eq!(chains, [0; 5]);
    let report = guard.finish();
    assert!(!report.findings.iter().any(|finding| finding.cause == Cause::Rewound), "{:#?}", report.findings);
}

/// anthropics/claude-code#63256: the last answer is sent again with the text of its thinking cut.
#[test]
fn an_agent_that_cuts_its_last_thinking_is_the_same_agent() {
    let whole = |body: &mut Value| body["model"] = json!("claude-opus-4-8");
    // A request from which this one could be a fork.
    let mut first = thoughtful(1);
    whole(&mut first);
    let mut older = thoughtful(2);
    whole(&mut older);
    let mut newer = older.clone();
    newer["messages"][3]["content"][0]["thinking"] = json!("hm");
    newer["messages"][4]["content"].as_array_mut().unwrap().push(json!({"type": "text", "text": "Go on."}));
    mark_end(&mut newer);
    let report = check(&[first, older, newer]);
    let found: Vec<(&str, Cause)> = report
        .findings
        .iter()
        .filter(|found| found.breaks_prefix)
        .map(|found| (found.path.as_str(), found.cause))
        .collect();
    assert_eq!((report.chains, found), (1, vec![("messages[3].content[0]", Cause::MessageEdited)]));
}

#[test]
fn a_new_conversation_replaces_none() {
    let mut begins = body(0);
    begins["messages"] = json!([message("user", "something else")]);
    mark_end(&mut begins);
    let report = check(&[body(7), begins]);
    assert_eq!((report.chains, report.findings.len()), (2, 0));
    assert_eq!(noted(&report, NoteKind::NewChain), [1], "it could be the first one's, replaced");
}

#[test]
fn a_request_that_continues_a_branch_is_no_branch_of_a_longer_one() {
    let mut guard = guard();
    let bodies = [body(2), sibling("a", 1), sibling("b", 0), sibling("b", 1)];
    let chains = bodies.map(|body| take(&mut guard, &body).chain.0);
    assert_eq!(chains, [0, 0, 1, 1]);
}

#[test]
fn messages_that_continue_under_another_agents_head_are_handed_over() {
    let mut other = body(0);
    other["tools"] = json!([{"name": "Search", "input_schema": {"type": "object"}}]);
    other["system"] = json!([{"type": "text", "text": text("elsewhere", 2_000)}]);
    other["messages"] =
        json!([message("user", "a question"), message("assistant", "an answer"), message("user", "more")]);
    let mut confused = body(2);
    confused["tools"] = other["tools"].clone();
    confused["system"] = other["system"].clone();
    let mut guard = guard();
    let chains = [body(1), other].map(|body| take(&mut guard, &body).chain.0);
    let checked = take(&mut guard, &confused);
    assert_eq!((chains, checked.chain.0), ([0, 1], 2));
    assert!(checked.findings.iter().all(|found| !found.breaks_prefix), "{:?}", checked.findings);
}

#[test]
fn the_longest_silent_chain_loses_its_spelling_notes_if_bodies_are_too_long_to_keep() {
    let mut guard = guard();
    let mut spelled = |chain, body: &str| {
        let notes = guard
            .take(&Sent { facts: Facts { chain: Some(chain), ..Facts::default() }, ..Sent::body(body.as_bytes()) })
            .unwrap()
            .notes;
        notes.iter().any(|noted| matches!(noted.note, NoteKind::Harmless(_)))
    };
    let (short, respelled) = (body(0).to_string(), serde_json::to_string_pretty(&body(0)).unwrap());
    // With one more short body it is exactly the limit: 8 MiB.
    let long = short.clone() + &" ".repeat((8 << 20) - 2 * short.len());
    let first = [("a", &short), ("b", &short), ("c", &long)].map(|(chain, body)| spelled(chain, body));
    assert_eq!(first, [false; 3]);
    assert_eq!(["b", "a"].map(|chain| spelled(chain, &respelled)), [true, false]);
}

#[test]
fn questions_behind_the_same_examples_are_chains_of_their_own() {
    let ask = |question: &str| {
        let mut body = body(0);
        body["messages"] =
            json!([message("user", "an example"), message("assistant", "its answer"), message("user", question)]);
        mark_end(&mut body);
        body
    };
    let report = check(&["one", "two", "three"].map(ask));
    assert_eq!((report.chains, report.findings.len()), (3, 0), "{:#?}", report.findings);
    let mut on = ask("three");
    on["messages"].as_array_mut().unwrap().extend([message("assistant", "so"), message("user", "and four?")]);
    assert_eq!(check(&[ask("two"), ask("three"), on]).chains, 2, "each can go on");
}
