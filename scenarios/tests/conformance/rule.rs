//! The sharing rule over whole runs: what a guard finds in the requests of our own runtime.

use std::collections::BTreeSet;

use forkcast_scenarios::catalog;
use forkcast_sim::guard::{Finding, Guard, Rule, Rules};

use super::capture::{Capture, of_run, without_ids};

/// Runs in which forks are deliberately kept from sharing, and the causes that the guard reports. All other runs of the
/// catalog share correctly.
const BROKEN: [(&str, &[&str]); 10] = [
    ("contract/E16+added-space", &["system_changed"]),
    ("contract/E16+re-render", &["system_changed"]),
    ("contract/E16+filter-tools", &["tools_removed"]),
    ("contract/E16+drop-agent", &["tools_removed"]),
    ("contract/E16+reorder-tools", &["tools_reordered"]),
    ("contract/E16+mode-in-tools", &["tool_changed"]),
    ("contract/E16+other-model", &["model_changed"]),
    ("contract/E16+other-thinking", &["level_parameter"]),
    ("forks/G04-three-ways+session", &["level_parameter"]),
    ("forks/G15-review+own-tools", &["tools_removed"]),
];

/// The causes for which forks read less than they should, without duplicates. Agents of one kind have other tools in the
/// background than in the foreground, and do not share with each other.
fn causes(captures: &[Capture]) -> BTreeSet<&'static str> {
    let mut guard = Guard::new(Rules::default());
    let found = captures.iter().flat_map(|capture| guard.take(&capture.sent()).unwrap().findings);
    let is_broken = |finding: &Finding| finding.breaks_prefix && finding.rule == Rule::Sharing && !finding.with_sibling;
    let breaks = found.filter(is_broken);
    breaks.map(|finding| finding.cause.word()).collect()
}

#[test]
fn cache_33_forks_that_do_not_share_are_found_by_cause_with_and_without_ids() {
    let mut wrong = Vec::new();
    // A history that is cut in the middle is reported block by block, and without ids it cannot be attributed.
    for entry in catalog::all().iter().filter(|entry| entry.name != "contract/E16+strip-history") {
        let expected = BROKEN.iter().find(|(name, _)| *name == entry.name).map_or(&[][..], |(_, causes)| causes);
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        let captures = of_run(&entry.name);
        // For bytes alone, a main agent whose tools come and go is a fork of itself.
        let by_bytes = (!entry.name.starts_with("day/long-day")).then(|| ("without", without_ids(&captures)));
        for (what, captures) in std::iter::once(("with ids", captures.clone())).chain(by_bytes) {
            let found = causes(&captures);
            if found != expected {
                wrong.push(format!("{} {what}: {found:?}, expected {expected:?}", entry.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cache_18_a_fork_of_a_cut_history_is_found() {
    assert!(causes(&of_run("contract/E16+strip-history")).contains("message_removed"));
}
