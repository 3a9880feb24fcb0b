//! The two messages after the history, byte by byte (FORK-20..41, FORK-56).

use std::collections::BTreeSet;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::spawn::fork::text::{PLACEHOLDER, TAG_OPEN};
use forkcast_sim::model::answer::Said;
use serde_json::json;

use super::scene::{Played, Scene, blocks, directive, fork, text, tool};

/// Thinking, text, two forks and another tool between them.
fn mixed() -> Played {
    let read = tool("Read", json!({ "file_path": "/repo/a.rs" }));
    Scene::new(vec![Said::Thinking("Two parts.".into()), text("Both."), fork("one"), read, fork("two")]).play()
}

fn one() -> String {
    directive(Scene::new(vec![fork("one")]).play().first(0))
}

/// The forking message as the parent itself sends it afterwards.
fn parents(played: &Played) -> Vec<String> {
    let after = played.requests("main")[1];
    let at = played.requests("main")[0].messages.len();
    after.messages[at].content.iter().map(|piece| piece.json().to_owned()).collect()
}

#[test]
fn fork_20_fork_21_cache_15_the_forking_message_is_present_with_all_blocks_in_order_and_their_ids() {
    let played = mixed();
    let kinds: Vec<String> =
        blocks(played.first(0), 1).iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_use", "tool_use"]);
    for fork in [0, 1] {
        let draft = played.first(fork);
        let own = &draft.messages[draft.messages.len() - 2];
        assert_eq!(own.content.iter().map(|piece| piece.json().to_owned()).collect::<Vec<_>>(), parents(&played));
    }
}

#[test]
fn fork_21_fork_22_cache_31_the_copy_has_its_own_id_and_no_runtime_id_is_sent() {
    let played = mixed();
    let transcripts = played.found(|event| match event {
        Event::TranscriptAppend { agent, entry, kind: "said", .. } => Some((agent.to_string(), entry.to_string())),
        _ => None,
    });
    let copies: BTreeSet<&String> =
        transcripts.iter().filter(|(agent, _)| agent != "x").map(|(_, entry)| entry).collect();
    assert_eq!(copies.len(), transcripts.len(), "no two transcripts hold one id: {transcripts:?}");
    for (fork, agent) in played.forks().iter().enumerate() {
        let body = String::from_utf8(played.first(fork).body()).unwrap();
        for unsent in
            [&**agent, "agent:builtin:fork", "session-1"].into_iter().chain(copies.iter().map(|id| id.as_str()))
        {
            assert!(!body.contains(&format!("\"{unsent}\"")) && !body.contains(&format!("{unsent}\\n")), "{unsent}");
        }
    }
}

#[test]
fn fork_23_fork_24_fork_25_fork_56_every_call_has_the_same_placeholder_whatever_its_result() {
    let played = mixed();
    for fork in [0, 1] {
        let answers = blocks(played.first(fork), 0);
        assert_eq!(answers.len(), 4);
        for answer in &answers[..3] {
            assert_eq!((&answer["type"], &answer["content"]), (&json!("tool_result"), &json!(PLACEHOLDER)));
            assert!(answer.get("is_error").is_none());
        }
    }
    let told = played.told();
    assert!(
        told.iter().all(|told| !told.contains(PLACEHOLDER)),
        "the parent gets the real results of its calls: {told:?}"
    );
    assert!(PLACEHOLDER.contains("started") && PLACEHOLDER.contains("background"));
}

#[test]
fn fork_26_cache_10_placeholders_are_in_call_order_and_one_text_block_is_last() {
    let played = mixed();
    let called: Vec<_> = blocks(played.first(0), 1)[2..].iter().map(|call| call["id"].clone()).collect();
    let answers = blocks(played.first(0), 0);
    assert_eq!(answers[..3].iter().map(|answer| answer["tool_use_id"].clone()).collect::<Vec<_>>(), called);
    assert_eq!(answers[3]["type"], "text");
}

#[test]
fn fork_27_fork_28_two_messages_follow_the_history_and_the_forking_one_occurs_once() {
    let played = mixed();
    let history = played.requests("main")[0].messages.len();
    let built = played.found(|event| match event {
        Event::ForkBuilt { built, .. } => Some(*built),
        _ => None,
    });
    assert_eq!(built, [2, 2]);
    let draft = played.first(0);
    let roles: Vec<&str> = draft.messages[history..].iter().map(|message| message.role.name()).collect();
    assert_eq!(roles, ["assistant", "user"]);
    let body = String::from_utf8(draft.body()).unwrap();
    assert_eq!(body.matches("\"Two parts.\"").count(), 1);
}

#[test]
fn fork_29_fork_53_cache_27_siblings_share_all_blocks_but_the_last_by_reference_whenever_they_start() {
    let played = mixed();
    let (one, two) = (played.first(0), played.first(1));
    let (last_one, last_two) = (one.messages.last().unwrap(), two.messages.last().unwrap());
    let pairs = last_one.content.iter().zip(&last_two.content);
    assert_eq!(pairs.map(|(one, two)| one.same(two)).collect::<Vec<_>>(), [true, true, true, false]);
    let before = one.messages.len() - 1;
    assert!(one.messages[..before].iter().zip(&two.messages).all(|(one, two)| Rc::ptr_eq(one, two)));
}

#[test]
fn fork_30_fork_31_rules_are_in_their_tag_and_the_labelled_directive_is_at_the_end() {
    let words = one();
    let close = words.find("</fork-boilerplate>").unwrap();
    assert!(words.starts_with(TAG_OPEN) && TAG_OPEN == "<fork-boilerplate>");
    assert_eq!(words[close..], *"</fork-boilerplate>\n\nfork-directive: Look at part one.");
}

#[test]
fn fork_32_fork_33_fork_34_fork_35_fork_36_fork_37_fork_38_fork_39_fork_40_the_rules_name_every_topic() {
    let words = one();
    let first = words.lines().nth(1).unwrap();
    assert!(first.starts_with("Attention") && first.contains("forked worker") && first.contains("not the main agent"));
    for topic in [
        "to fork by default; that is for your parent",
        "start no agents",
        "No conversation",
        "ask nothing",
        "suggest no next steps",
        "Use your tools directly",
        "no text between calls",
        "Report once",
        "Stay inside the scope",
        "commit them before you report",
        "under 500 words",
        "begins with `Scope:`",
    ] {
        assert!(words.contains(topic), "{topic}");
    }
}

#[test]
fn fork_41_the_form_of_the_report_has_five_labels_in_order() {
    let words = one();
    let labels = ["\nScope:", "\nResult:", "\nKey files:", "\nFiles changed:", "\nIssues:"];
    let places: Vec<usize> = labels.iter().map(|label| words.find(label).expect(label)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(words.contains("hash of the commit"));
}
