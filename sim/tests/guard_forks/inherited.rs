//! The part that a fork has to share with its parent, and siblings with each other (contract CACHE-01..28).

use forkcast_sim::guard::{Finding, NoteKind, Rule};
use serde_json::{Value, json};

use super::family::{PARTS, Post, breaks, checked, directive, fork, forking, history, long, next, parent, told};

/// A change to a fork's body, the cause that is found, and the path.
type Change = (&'static str, fn(&mut Value), &'static str, &'static str);

const CHANGES: [Change; 10] = [
    (
        "CACHE-04 one space",
        |body| body["system"][0]["text"] = json!(long("Be brief.") + " "),
        "system_changed",
        "system[0]",
    ),
    ("CACHE-05 two tools swapped", |body| list(&mut body["tools"]).swap(1, 2), "tools_reordered", "tools[1]"),
    ("CACHE-17 no Agent tool", |body| drop(list(&mut body["tools"]).remove(0)), "tools_removed", "tools[0]"),
    (
        "an extra tool",
        |body| list(&mut body["tools"]).insert(0, json!({"name": "Zap", "input_schema": {}})),
        "tools_added",
        "tools[0]",
    ),
    (
        "CACHE-21 the mode in a description",
        |body| body["tools"][3]["description"] = json!("Read, as a fork."),
        "tool_changed",
        "tools[3]",
    ),
    ("CACHE-11 another model", |body| body["model"] = json!("claude-opus-4-8"), "model_changed", "model"),
    ("CACHE-12 another thinking", |body| body["thinking"] = json!({"type": "adaptive"}), "level_parameter", "thinking"),
    (
        "another effort",
        |body| body["output_config"] = json!({"effort": "low"}),
        "level_parameter",
        "output_config.effort",
    ),
    (
        "an early text edited",
        |body| body["messages"][1]["content"][0]["text"] = json!("Six parts."),
        "message_edited",
        "messages[1].content[0]",
    ),
    (
        "a message of the history dropped",
        |body| drop(list(&mut body["messages"]).remove(1)),
        "message_removed",
        "messages[1].content[0]",
    ),
];

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().unwrap()
}

fn changed(mut post: Post, change: fn(&mut Value)) -> Post {
    change(&mut post.body);
    post
}

#[test]
fn cache_07_to_10_forks_that_share_everything_are_no_finding_with_ids_and_without() {
    let posts = [parent(), fork("one"), fork("two"), next(), fork("three"), fork("four")];
    for ids in [true, false] {
        let checked = checked(&posts, ids);
        let found: Vec<Finding> = checked.iter().flat_map(|checked| checked.findings.clone()).collect();
        assert!(found.is_empty(), "ids {ids}: {:?}", told(&found));
    }
}

#[test]
fn cache_04_05_11_12_17_18_21_a_change_in_a_fork_is_found_once_and_names_the_parents_request() {
    let mut wrong = Vec::new();
    for (what, change, cause, path) in CHANGES {
        let posts = [parent(), fork("one"), changed(fork("two"), change), next()];
        let found = breaks(&posts, true);
        if told(&found) != [(Rule::Sharing, 2, Some(0), cause, path)] {
            wrong.push(format!("{what}: {:?}", told(&found)));
        }
        if found.iter().any(|found| found.tokens_lost() == Some(0) || found.cost().is_none()) {
            wrong.push(format!("{what}: no price"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_fork_without_ids_is_recognised_by_its_history() {
    // Tools and system are completely new, and the history is the parent's.
    let posts = [
        parent(),
        fork("one"),
        changed(fork("two"), |body| {
            body["tools"] = json!([]);
            body["system"] = json!(long("Be long."));
        }),
    ];
    let found = breaks(&posts, false);
    assert!(
        found.iter().any(|found| found.request == 2 && found.level == forkcast_sim::wire::Level::Tools),
        "{:?}",
        told(&found)
    );
}

#[test]
fn a_fork_sent_after_its_parent_continued_is_compared_with_the_request_that_it_continues() {
    for ids in [true, false] {
        let posts = [parent(), next(), fork("one"), changed(fork("two"), |body| list(&mut body["tools"]).swap(1, 2))];
        let found = breaks(&posts, ids);
        let of_tools: Vec<_> = told(&found).into_iter().filter(|found| found.4 == "tools[1]").collect();
        assert_eq!(of_tools.len(), 1, "{:?}", told(&found));
        assert_eq!((of_tools[0].1, of_tools[0].3), (3, "tools_reordered"));
        assert!(found.iter().all(|found| found.request == 3), "{:?}", told(&found));
    }
}

#[test]
fn cache_09_a_fork_that_changes_its_parents_latest_exchange_is_compared_with_it() {
    let more = |words: [&str; 2]| [super::family::said(words[0]), super::family::user(words[1])];
    let went_on = |chain: &'static str, exchange: [&str; 2], behind: Vec<Value>| {
        let messages = history().into_iter().chain(more(exchange)).chain(behind).collect();
        let parent = (chain != "main").then_some("main");
        Post { chain, parent, body: super::family::body(messages) }
    };
    let exchange = ["I read the parser.", "It begins with a table of letters."];
    let fork = |exchange: [&str; 2]| went_on("one", exchange, vec![forking(&PARTS), directive(&PARTS, "one")]);
    let last = history().len();
    let edits = [
        ([exchange[0], "It begins with a table of digits."], last + 1),
        (["I have read the parser.", exchange[1]], last),
    ];
    for (edit, at) in edits {
        for ids in [true, false] {
            let posts = [parent(), went_on("main", exchange, Vec::new()), fork(edit)];
            let path = format!("messages[{at}].content[0]");
            // Without ids it counts as the parent's own next request.
            let rule = if ids { Rule::Sharing } else { Rule::Stability };
            assert_eq!(told(&breaks(&posts, ids)), [(rule, 2, Some(1), "message_edited", path.as_str())]);
        }
    }
    assert_eq!(told(&breaks(&[parent(), went_on("main", exchange, Vec::new()), fork(exchange)], true)), []);
}

#[test]
fn a_fork_that_lacks_its_parents_latest_exchange_is_noted() {
    let behind = |posts: &[Post]| {
        let notes = checked(posts, true).into_iter().flat_map(|checked| checked.notes);
        notes.filter(|noted| noted.note == NoteKind::Branch).map(|noted| noted.request).collect::<Vec<_>>()
    };
    let alone = |own: &'static str| {
        let messages = history().into_iter().chain([super::family::user(own)]).collect();
        Post { chain: own, parent: Some("main"), body: super::family::body(messages) }
    };
    assert_eq!(behind(&[parent(), next(), alone("one"), alone("two")]), [2], "a sibling continues the same request");
    assert_eq!(behind(&[parent(), alone("one"), next(), alone("two")]), [0_usize; 0]);
    assert_eq!(behind(&[parent(), next(), fork("one")]), [0_usize; 0], "the parent's answer called it");
}

#[test]
fn a_fork_of_an_old_request_is_no_break() {
    let later = |turns: usize| {
        let more = (0..turns)
            .flat_map(|turn| [super::family::said(&format!("a{turn}")), super::family::user(&format!("u{turn}"))]);
        let messages = history().into_iter().chain(more).collect();
        Post { chain: "main", parent: None, body: super::family::body(messages) }
    };
    let late = |own: &'static str| {
        let messages = history().into_iter().chain([forking(&[own]), directive(&[own], own)]);
        Post { chain: own, parent: Some("main"), body: super::family::body(messages.collect()) }
    };
    let posts = [parent(), later(1), later(2), later(3), late("one"), late("two")];
    let found: Vec<_> = checked(&posts, true).into_iter().flat_map(|checked| checked.findings).collect();
    assert_eq!(told(&found), []);
    let swapped = |body: &mut Value| list(&mut body["tools"]).swap(1, 2);
    let posts = [parent(), later(1), later(2), later(3), changed(late("one"), swapped)];
    assert_eq!(told(&breaks(&posts, true)), [(Rule::Sharing, 4, Some(2), "tools_reordered", "tools[1]")]);
    // A second one is compared with the same request, however far the parent has continued.
    let second = changed(late("two"), swapped);
    let posts = [parent(), later(1), later(2), later(3), late("one"), later(4), later(5), second];
    assert_eq!(told(&breaks(&posts, true)), [(Rule::Sharing, 7, Some(2), "tools_reordered", "tools[1]")]);
}

#[test]
fn cache_16_a_part_that_two_siblings_share_a_third_shares_too() {
    let real = |body: &mut Value| body["messages"][6]["content"][0]["content"] = json!("one has found three floats");
    let posts = [parent(), fork("one"), fork("two"), changed(fork("three"), real)];
    let found = checked(&posts, true).into_iter().flat_map(|checked| checked.findings).collect::<Vec<_>>();
    assert_eq!(told(&found), [(Rule::Sharing, 3, Some(1), "message_edited", "messages[6].content[0]")]);
}

#[test]
fn a_part_in_which_two_siblings_differ_from_their_parent_need_not_be_shared() {
    let swapped = |body: &mut Value| list(&mut body["tools"]).swap(1, 2);
    let mut posts = [parent(), changed(fork("one"), swapped), changed(fork("two"), swapped), fork("three")];
    for post in &mut posts[1..] {
        post.body["messages"][6]["content"][3]["cache_control"] = json!({"type": "ephemeral"});
    }
    assert_eq!(told(&breaks(&posts, true)), [(Rule::Sharing, 1, Some(0), "tools_reordered", "tools[1]")]);
}

#[test]
fn forks_of_forks_share_with_the_fork_that_they_continue() {
    let deeper = |own: &'static str| {
        let messages: Vec<Value> = list(&mut fork("one").body["messages"]).drain(..).collect();
        let calls = forking(&["deep"]);
        let messages = messages.into_iter().chain([calls, directive(&["deep"], own)]).collect();
        Post { chain: own, parent: Some("one"), body: super::family::body(messages) }
    };
    let whole = [parent(), fork("one"), fork("two"), deeper("deep")];
    for ids in [true, false] {
        assert_eq!(told(&breaks(&whole, ids)), [], "ids {ids}");
    }
    let broken =
        [parent(), fork("one"), fork("two"), changed(deeper("deep"), |body| list(&mut body["tools"]).swap(1, 2))];
    assert_eq!(told(&breaks(&broken, true)), [(Rule::Sharing, 3, Some(1), "tools_reordered", "tools[1]")]);
}

/// Other words for all of the parent's history.
fn reword(body: &mut Value) {
    for message in &mut list(&mut body["messages"])[..5] {
        let text = &mut message["content"][0]["text"];
        *text = json!(format!("Once more: {}", text.as_str().unwrap()));
    }
}

#[test]
fn a_fork_is_compared_with_the_siblings_of_its_own_parent() {
    let elsewhere = |mut post: Post, chain, parent| {
        reword(&mut post.body);
        Post { chain, parent, ..post }
    };
    let real = |body: &mut Value| body["messages"][6]["content"][0]["content"] = json!("one has found three floats");
    let posts = [
        parent(),
        fork("one"),
        elsewhere(parent(), "other", None),
        elsewhere(fork("one"), "other one", Some("other")),
        elsewhere(fork("two"), "other two", Some("other")),
        elsewhere(changed(fork("three"), real), "other three", Some("other")),
    ];
    let found = checked(&posts, true).into_iter().flat_map(|checked| checked.findings).collect::<Vec<_>>();
    assert_eq!(told(&found), [(Rule::Sharing, 5, Some(3), "message_edited", "messages[6].content[0]")]);
}

#[test]
fn a_fork_of_a_request_that_was_sent_twice_continues_the_later_one() {
    let unmarked = |body: &mut Value| {
        let last = list(&mut body["messages"]).last_mut().unwrap();
        list(&mut last["content"])
            .iter_mut()
            .for_each(|block| drop(block.as_object_mut().unwrap().remove("cache_control")));
    };
    let posts = [parent(), fork("one"), parent(), changed(fork("two"), unmarked)];
    let found: Vec<_> = checked(&posts, true).into_iter().flat_map(|checked| checked.findings).collect();
    assert_eq!(told(&found), [(Rule::Sharing, 3, Some(2), "no_breakpoint", "messages[4].content[0]")]);
}

#[test]
fn a_called_fork_with_a_fully_reworded_history_is_still_a_fork() {
    let found = breaks(&[parent(), changed(fork("one"), reword)], true);
    let paths = [0, 1, 2, 3, 4].map(|message| format!("messages[{message}].content[0]"));
    let expected = paths.each_ref().map(|path| (Rule::Sharing, 1, Some(0), "message_edited", path.as_str()));
    assert_eq!(told(&found), expected);
}

#[test]
fn a_fork_whose_caller_is_not_named_may_have_changed_its_first_message() {
    let mut edited = Post { parent: None, ..fork("one") };
    edited.body["messages"][0]["content"][0]["text"] = json!(long("What is there?"));
    let found = breaks(&[parent(), edited], true);
    assert_eq!(told(&found), [(Rule::Sharing, 1, Some(0), "message_edited", "messages[0].content[0]")]);
}
