//! The chain that a request continues.

use forkcast_sim::wire::{ChainId, Chains, Wire};

use super::bodies::{read, talk};

/// Puts bodies into chains, in order; returns the chain of each and whether it is the chain's first.
fn assign(requests: &[(Option<&str>, String)]) -> Vec<(u32, bool)> {
    let (mut wire, mut chains) = (Wire::default(), Chains::default());
    let mut put = |(id, body): &(Option<&str>, String)| {
        let request = read(&mut wire, body);
        let found = chains.assign(*id, &request, &wire);
        (found.chain.0, found.first)
    };
    requests.iter().map(&mut put).collect()
}

fn by_history(bodies: &[String]) -> Vec<u32> {
    let requests: Vec<_> = bodies.iter().map(|body| (None, body.clone())).collect();
    let found = assign(&requests);
    for (at, (chain, first)) in found.iter().enumerate() {
        assert_eq!(*first, found[..at].iter().all(|(other, _)| other != chain));
    }
    found.into_iter().map(|(chain, _)| chain).collect()
}

const LONG: [&str; 6] = ["user: a", "assistant: b", "user: c", "assistant: d", "user: e", "assistant: f"];

fn with_tools(body: &str, tools: &str, system: &str) -> String {
    format!(r#"{{"tools":[{{"name":"{tools}"}}],"system":"{system}",{}"#, &body[1..])
}

#[test]
fn a_chain_continues_by_its_history() {
    let grown = [&LONG[..], &["user: g"]].concat();
    let first_edited = [&["user: A"], &grown[1..]].concat();
    let truncated = grown[3..].to_vec();
    let rewound = ["user: a", "assistant: b", "user: other"];
    let table: [(&str, &[&str]); 5] = [
        ("appended", &grown),
        ("the same again", &LONG),
        ("first message edited", &first_edited),
        ("beginning cut off", &truncated),
        ("gone back", &rewound),
    ];
    for (name, next) in table {
        assert_eq!(by_history(&[talk(&LONG), talk(next)]), [0, 0], "{name}");
    }
    let base = with_tools(&talk(&LONG), "A", "S");
    assert_eq!(by_history(&[base.clone(), with_tools(&talk(&grown), "B", "S")]), [0, 0], "first tool changed");
    assert_eq!(by_history(&[base, with_tools(&talk(&grown), "A", "T")]), [0, 0], "system changed");
}

#[test]
fn a_request_with_little_in_common_begins_a_chain() {
    let table: [(&str, &[&str], &[&str]); 6] = [
        ("another question", &["user: a"], &["user: b"]),
        ("half of the shorter", &["user: a", "assistant: b"], &["user: a", "assistant: x", "user: y"]),
        ("only the last", &["user: a", "assistant: b", "user: c", "assistant: d"], &["user: x", "assistant: d"]),
        ("nothing in the older", &[], &["user: a"]),
        ("nothing in both", &[], &[]),
        ("a middle without its ends", &["user: x", "assistant: b", "user: y"], &["user: a", "assistant: b", "user: c"]),
    ];
    for (name, old, new) in table {
        assert_eq!(by_history(&[talk(old), talk(new)]), [0, 1], "{name}");
    }
}

#[test]
fn siblings_that_share_only_reminders_are_two() {
    let in_one_message = |task: &str| {
        format!(
            r#"{{"system":"S","messages":[{{"role":"user","content":[{{"type":"text","text":"reminder 1"}},{{"type":"text","text":"reminder 2"}},{{"type":"text","text":"{task}"}}]}}]}}"#
        )
    };
    assert_eq!(by_history(&[in_one_message("a"), in_one_message("b")]), [0, 1]);
    let before = |task: &str| talk(&["system: environment", "system: skills", task]);
    assert_eq!(by_history(&[before("user: a"), before("user: b")]), [0, 1]);
    let behind = |task: &str| talk(&[task, "system: environment", "system: skills"]);
    assert_eq!(by_history(&[behind("user: a"), behind("user: b"), behind("user: a")]), [0, 1, 0]);
}

#[test]
fn keys_of_messages_are_no_history() {
    let body = |key: &str, text: &str| format!(r#"{{"messages":[{{"role":"user","content":"{text}"{key}}}]}}"#);
    assert_eq!(by_history(&[body("", "a"), body(r#","x":1"#, "a"), body(r#","x":1"#, "b")]), [0, 0, 1]);
}

#[test]
fn interleaved_chains_are_separated() {
    let a = |n: usize| talk(&LONG[..n]);
    let b = |n: usize| talk(&["user: z", "assistant: y", "user: x", "assistant: w", "user: v"][..n]);
    assert_eq!(by_history(&[a(1), b(1), a(3), b(3), b(5), a(5)]), [0, 1, 0, 1, 1, 0]);
}

#[test]
fn the_chain_with_most_in_common_continues_and_the_newest_of_equals() {
    let fork = |tail: &[&str]| talk(&[&LONG[..4], tail].concat());
    // The second fork continues the chain; the third shares its longer history with the current end of the chain.
    assert_eq!(
        by_history(&[talk(&LONG[..4]), talk(&["user: z"]), fork(&["user: 1"]), fork(&["user: 1", "assistant: 2"])]),
        [0, 1, 0, 0]
    );
    let requests = [(None, talk(&["user: p", "assistant: q"])), (None, talk(&["user: x", "assistant: q", "user: r"]))];
    assert_eq!(assign(&requests), [(0, true), (1, true)]);
    let both = by_history(&[
        talk(&["user: p", "assistant: q"]),
        talk(&["user: x", "assistant: q", "user: r", "assistant: s"]),
        talk(&["user: x", "assistant: q", "user: r", "assistant: s", "user: t"]),
    ]);
    assert_eq!(both, [0, 1, 1]);
}

#[test]
fn ids_win_over_history() {
    let same = || talk(&LONG);
    let other = talk(&["user: z"]);
    let requests = [
        (Some("p"), same()),
        (Some("q"), same()),
        (Some("p"), other.clone()),
        (None, same()),
        (None, same()),
        (Some("q"), other),
    ];
    assert_eq!(assign(&requests), [(0, true), (1, true), (0, false), (2, true), (2, false), (1, false)]);
}

#[test]
fn chains_are_counted() {
    let (mut wire, mut chains) = (Wire::default(), Chains::default());
    assert!(chains.is_empty());
    let request = read(&mut wire, &talk(&["user: a"]));
    assert_eq!(chains.assign(Some("x"), &request, &wire).chain, ChainId(0));
    assert_eq!(chains.assign(None, &request, &wire).chain, ChainId(1));
    assert_eq!((chains.len(), chains.is_empty()), (2, false));
}

#[test]
fn a_repeated_last_message_does_not_hide_the_shared_history() {
    let old = ["user: a", "assistant: b", "user: c", "assistant: ok"];
    let new =
        ["user: A", "assistant: b", "user: c", "assistant: ok", "user: d", "assistant: ok", "user: e", "assistant: ok"];
    assert_eq!(by_history(&[talk(&old), talk(&new)]), [0, 0]);
}
