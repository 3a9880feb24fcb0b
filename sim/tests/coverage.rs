//! Every behaviour of the contract is covered by a test or a scenario, or listed with the reason why it is not.

#![allow(clippy::disallowed_methods)] // A test may read files.

mod breaks;
mod listing;

use std::collections::BTreeSet;
use std::fs;

use forkcast_fixtures::{shared, workspace};
use listing::{all, sentences};

#[test]
fn every_behaviour_of_the_contract_is_covered_or_deferred() {
    let open: Vec<String> = all()
        .into_iter()
        .filter(|(_, behaviour)| behaviour.held_by.is_empty() && behaviour.deferred.is_none())
        .map(|(id, behaviour)| format!("{id} {}", behaviour.says))
        .collect();
    assert!(open.is_empty(), "{} behaviours are held by no test and not deferred:\n{}", open.len(), open.join("\n"));
}

#[test]
fn every_break_can_be_made_and_breaks_known_behaviours() {
    let known = all();
    for edit in breaks::all() {
        let text = fs::read_to_string(workspace().join(&edit.file)).expect("a source file");
        assert!(edit.place(&text).is_some(), "{}: {:?} is not there once", edit.file, edit.old);
        assert_ne!(edit.old, edit.new);
        assert!(edit.ids.iter().all(|id| known.contains_key(id)), "{:?}", edit.ids);
    }
}

#[test]
fn deferred_behaviours_are_not_covered_too() {
    for (id, behaviour) in all().into_iter().filter(|(_, behaviour)| behaviour.deferred.is_some()) {
        assert!(behaviour.held_by.is_empty(), "{id} is deferred and held by {:?}", behaviour.held_by);
    }
}

/// The contract as it was given, outside the project.
#[test]
fn every_line_of_the_given_contract_is_known() {
    let Some(path) = shared("contract.md") else { return };
    let given = fs::read_to_string(path).unwrap();
    let given: BTreeSet<String> = sentences(&given).into_iter().map(|(id, _)| id).collect();
    let known: BTreeSet<String> = all().into_keys().collect();
    assert_eq!(given.len(), 545);
    let absent: Vec<_> = given.symmetric_difference(&known).collect();
    assert!(absent.is_empty(), "one of the two contracts lacks {absent:?}");
}
