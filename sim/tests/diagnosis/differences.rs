//! The differences of two requests and their places: `differences.yaml`.

use forkcast_sim::diagnosis::{Difference, compare, first_difference};
use forkcast_sim::wire::{NormalForms, Request, Wire};
use serde::Deserialize;

use super::body::expand;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    name: String,
    results_sorted: Option<bool>,
    /// Both bodies with a text in place of `$`, or in full.
    body: Option<String>,
    older: String,
    newer: String,
    differences: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    cause: String,
    path: String,
    name: Option<String>,
    /// The common beginning of the two blocks; absent for parameters.
    same: Option<String>,
    volatile: Option<String>,
}

fn read(pair: &Pair) -> (Wire, Request, Request) {
    let forms = NormalForms { results_sorted: pair.results_sorted.unwrap_or(true), ..NormalForms::default() };
    let mut wire = Wire::new(forms);
    let mut request = |part: &str| {
        let body = pair.body.as_ref().map_or(part.to_owned(), |body| body.replace('$', part));
        let body = expand(&body);
        wire.read(body.as_bytes(), "scope", "").unwrap_or_else(|error| panic!("{}: {error}\n{body}", pair.name))
    };
    let (older, newer) = (request(&pair.older), request(&pair.newer));
    (wire, older, newer)
}

/// A difference in the words of the corpus.
fn told(found: &Difference) -> String {
    let volatile = found.volatile.map(|volatile| volatile.word());
    format!("{} {} | {} | {:?} | {volatile:?}", found.cause, found.path, found.name, found.offset_in_block)
}

fn expected(expected: &Expected, found: Option<&Difference>) -> String {
    let name = expected.name.as_deref().or(found.map(|found| found.name.as_str())).unwrap_or_default();
    let offset = expected.same.as_ref().map(|same| same.len() as u64);
    format!("{} {} | {name} | {offset:?} | {:?}", expected.cause, expected.path, expected.volatile.as_deref())
}

/// Consistency of the offsets and indices of a difference.
fn check_indices(name: &str, wire: &Wire, newer: &Request, found: &Difference) {
    let offset = found.offset_in_block;
    let sizes = newer.nodes.iter().map(|node| wire.blocks.len_bytes(wire.prefixes.block(*node).unwrap()));
    let before: u64 = sizes.take(found.new_index).sum();
    assert_eq!(found.offset_in_prefix, offset.map(|offset| before + offset), "{name}: {}", found.path);
    let in_newer = newer.places.get(found.new_index).map(ToString::to_string);
    if found.new.is_some() && offset.is_some() {
        assert_eq!(in_newer.as_deref(), Some(found.path.as_str()), "{name}: the index is that of the path");
    }
    assert!(found.old.is_some() || found.new.is_some() || found.path == "model", "{name}");
}

#[test]
fn each_difference_is_found_once_with_its_cause_and_its_place() {
    let pairs: Vec<Pair> = serde_saphyr::from_str(include_str!("differences.yaml")).unwrap();
    let mut wrong = Vec::new();
    for pair in &pairs {
        let (wire, older, newer) = read(pair);
        let found = compare(&wire, &older, &newer).differences;
        let expected: Vec<String> =
            pair.differences.iter().enumerate().map(|(at, one)| expected(one, found.get(at))).collect();
        let told: Vec<String> = found.iter().map(told).collect();
        if told != expected {
            wrong.push(format!("{}\n  expected {expected:#?}\n  found {told:#?}", pair.name));
        }
        found.iter().for_each(|found| check_indices(&pair.name, &wire, &newer, found));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_request_equals_itself_and_appended_blocks_are_no_difference() {
    let pairs: Vec<Pair> = serde_saphyr::from_str(include_str!("differences.yaml")).unwrap();
    for pair in &pairs {
        let (wire, older, newer) = read(pair);
        for request in [&older, &newer] {
            let comparison = compare(&wire, request, request);
            assert!(comparison.differences.is_empty() && comparison.alignment.appends(), "{}", pair.name);
            assert_eq!(comparison.alignment.common(), request.nodes.len(), "{}", pair.name);
        }
    }
}

#[test]
fn scopes_are_compared_like_any_requests() {
    let mut wire = Wire::default();
    let body = expand(r#"{"messages":[<u:a>,<a:b>]}"#);
    let [one, two] = ["one", "two"].map(|scope| wire.read(body.as_bytes(), scope, "").unwrap());
    assert!(compare(&wire, &one, &two).differences.is_empty());
}

#[test]
fn the_first_difference_of_two_texts_is_counted_in_bytes() {
    for (a, b, offset) in
        [("", "", 0), ("a", "", 0), ("", "a", 0), ("ab", "abc", 2), ("abc", "ab", 2), ("éa", "éb", 2), ("ab", "ab", 2)]
    {
        assert_eq!(first_difference(a.as_bytes(), b.as_bytes()), offset, "{a} {b}");
    }
}
