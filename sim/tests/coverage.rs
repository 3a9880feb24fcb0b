//! Every behaviour of the runtime is covered by a test or a scenario, or deferred to a later part.

#![allow(clippy::disallowed_methods)] // A test may read files.

mod listing;

use listing::all;

#[test]
fn every_behaviour_is_covered_or_deferred() {
    let open: Vec<String> = all()
        .into_iter()
        .filter(|(_, behaviour)| behaviour.held_by.is_empty() && behaviour.deferred.is_none())
        .map(|(id, _)| id)
        .collect();
    assert!(open.is_empty(), "{} behaviours are held by no test and not deferred: {}", open.len(), open.join(" "));
}

#[test]
fn deferred_behaviours_are_not_covered_too() {
    for (id, behaviour) in all().into_iter().filter(|(_, behaviour)| behaviour.deferred.is_some()) {
        assert!(behaviour.held_by.is_empty(), "{id} is deferred and held by {:?}", behaviour.held_by);
    }
}

#[test]
fn every_behaviour_has_a_sentence_in_our_own_words() {
    let silent: Vec<String> =
        all().into_iter().filter(|(_, behaviour)| behaviour.says.is_none()).map(|(id, _)| id).collect();
    assert!(silent.is_empty(), "{} behaviours are not described: {}", silent.len(), silent.join(" "));
}
