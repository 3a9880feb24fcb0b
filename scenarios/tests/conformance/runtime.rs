//! Our own runtime passes the whole suite; each deliberately broken principle fails the matching checks.

use super::capture::{card, failed, of_run, without_ids};

/// Runs with forks of a warm parent, in both profiles.
const WHOLE: [&str; 5] =
    ["forks/fan-out", "forks/client-2026", "forks/client-2026+primed", "forks/G04-three-ways", "forks/G15-review"];

#[test]
fn own_forks_pass_every_check_in_both_profiles() {
    for name in WHOLE {
        let card = card(&of_run(name));
        assert!(card.is_whole(), "{name}\n{card}");
    }
}

/// Principles of the runtime that are deliberately broken, and the checks that fail besides `parent_unharmed`: in these
/// runs a flag flips, which the parent's next request shows.
const BROKEN: [(&str, &[&str]); 11] = [
    ("contract/E16", &[]),
    ("contract/E16+re-render", &["system_reused"]),
    ("contract/E16+added-space", &["system_reused"]),
    ("contract/E16+filter-tools", &["tools_order"]),
    ("contract/E16+drop-agent", &["tools_order"]),
    ("contract/E16+reorder-tools", &["tools_order"]),
    ("contract/E16+mode-in-tools", &["tools_schema"]),
    ("contract/E16+strip-history", &["message_spelling"]),
    ("contract/E16+other-model", &["same_model"]),
    ("contract/E16+other-thinking", &["same_thinking"]),
    ("contract/E15+cold-burst", &["launch_timing"]),
];

#[test]
fn cache_33_each_broken_principle_fails_its_check() {
    for (name, expected) in BROKEN {
        let card = card(&of_run(name));
        let expected: Vec<&str> = expected.iter().copied().chain(["parent_unharmed"]).collect();
        assert!(card.forks == 5 && failed(&card) == expected, "{name}: {expected:?}\n{card}");
    }
}

#[test]
fn checks_that_a_folder_of_bodies_cannot_decide_are_reported_as_open() {
    let card = card(&without_ids(&of_run("forks/client-2026")));
    let launch = card.rows.iter().find(|row| row.check.word() == "launch_timing").unwrap();
    assert_eq!(launch.passed, None);
    assert_eq!(launch.why_unknown, Some("the input does not say when requests were sent"));
    assert!(card.passes() && !card.is_whole(), "{card}");
}

#[test]
fn a_run_without_forks_is_reported_as_such() {
    let card = card(&of_run("contract/E01"));
    assert!(
        card.rows.iter().all(|row| row.passed.is_none() && row.why_unknown == Some("there is no fork in the input")),
        "{card}"
    );
}
