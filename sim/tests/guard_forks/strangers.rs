//! Conversations that have something in common but are unrelated.

use serde_json::{Value, json};

use super::family::{Post, body, breaks, fork, long, parent, said, told, user};

#[test]
fn named_conversations_without_a_caller_are_unrelated() {
    let session = |chain: &'static str, day: &str| {
        let mut body = body(vec![user("What is here?")]);
        body["system"][0]["text"] = json!(format!("{}Today is {day}.", long("Be brief.")));
        Post { chain, parent: None, body }
    };
    let posts = [session("s1", "2026-11-21"), session("s2", "2026-11-21"), session("s3", "2026-11-22")];
    assert_eq!(told(&breaks(&posts, true)), []);
}

#[test]
fn questions_after_the_same_examples_are_no_forks() {
    let asked = |chain: &'static str, question: &str| {
        let shots = (0..4).flat_map(|shot| [user(&format!("Example {shot}")), said(&format!("Answer {shot}"))]);
        let mut messages: Vec<Value> = shots.collect();
        messages.push(user(question));
        Post { chain, parent: None, body: body(messages) }
    };
    let posts = [asked("q1", "What is one?"), asked("q2", "What is two?"), asked("q3", "What is three?")];
    assert_eq!(told(&breaks(&posts, true)), []);
}

#[test]
fn a_parent_of_the_same_name_in_another_scope_is_not_the_parent() {
    let mut guard = forkcast_sim::guard::Guard::new(forkcast_sim::guard::Rules::default());
    let other = Post { body: body(vec![user(&long("Another question.")), said("So."), user("Fork now.")]), ..parent() };
    for (post, scope) in [(other, "first"), (fork("one"), "second")] {
        let text = post.body.to_string();
        let sent = forkcast_sim::guard::Sent {
            body: text.as_bytes(),
            facts: forkcast_sim::guard::Facts {
                chain: Some(post.chain),
                parent: post.parent,
                scope,
                ..forkcast_sim::guard::Facts::default()
            },
            ..forkcast_sim::guard::Sent::default()
        };
        assert_eq!(told(&guard.take(&sent).unwrap().findings), []);
    }
}

#[test]
fn an_agent_with_its_parents_question_is_no_fork() {
    let child = Post { chain: "child", parent: Some("main"), body: body(vec![user("Fork now.")]) };
    assert_eq!(told(&breaks(&[parent(), child], true)), []);
}

#[test]
fn an_agent_with_its_parents_request_is_the_first_of_its_kind() {
    let asked = |chain, parent, words| Post { chain, parent, body: body(vec![user(words)]) };
    let mut second = asked("b", Some("main"), "Look at two.");
    second.body["tools"].as_array_mut().unwrap().swap(0, 1);
    let posts = [asked("main", None, "Look at one."), asked("a", Some("main"), "Look at one."), second];
    let expected = [(forkcast_sim::guard::Rule::Sharing, 2, Some(1), "tools_reordered", "tools[0]")];
    assert_eq!(told(&breaks(&posts, true)), expected);
}

#[test]
fn a_request_without_a_named_parent_is_no_fork_from_another_scope() {
    let mut guard = forkcast_sim::guard::Guard::new(forkcast_sim::guard::Rules::default());
    let mut other = fork("one");
    other.body["tools"].as_array_mut().unwrap().swap(0, 1);
    for (post, scope) in [(parent(), "first"), (other, "second")] {
        let text = post.body.to_string();
        let (body, chain) = (text.as_bytes(), Some(post.chain));
        let sent = forkcast_sim::guard::Sent {
            facts: forkcast_sim::guard::Facts { chain, scope, ..forkcast_sim::guard::Facts::default() },
            ..forkcast_sim::guard::Sent::body(body)
        };
        assert_eq!(told(&guard.take(&sent).unwrap().findings), []);
    }
}

#[test]
fn system_texts_of_clients_between_messages_make_no_fork() {
    let noted = |chain, mut messages: Vec<Value>| {
        let notes = ["Skills: none.", "Folder: here."]
            .map(|words| json!({"role": "system", "content": [{"type": "text", "text": words}]}));
        messages.extend(notes);
        Post { chain, parent: None, body: body(messages) }
    };
    let mut newer = noted("s2", vec![user("What is two?"), said("An even one."), user("And three?")]);
    newer.body["tools"].as_array_mut().unwrap().swap(0, 1);
    assert_eq!(told(&breaks(&[noted("s1", vec![user("What is one?")]), newer], true)), []);
}
