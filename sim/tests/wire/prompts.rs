//! Bodies and their prompts, block by block: `prompts.yaml`.

use std::fmt::Write;

use forkcast_sim::wire::{Level, NormalForms, Request, Wire};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    body: String,
    prompt: String,
    string_is_block: Option<bool>,
    results_sorted: Option<bool>,
    thinking_stripped: Option<bool>,
    images_in_level: Option<bool>,
    thinking_level: Option<String>,
}

impl Case {
    fn forms(&self) -> NormalForms {
        let default = NormalForms::default();
        NormalForms {
            string_is_block: self.string_is_block.unwrap_or(default.string_is_block),
            results_sorted: self.results_sorted.unwrap_or(default.results_sorted),
            thinking_stripped: self.thinking_stripped.unwrap_or(default.thinking_stripped),
            images_in_level: self.images_in_level.unwrap_or(default.images_in_level),
            thinking_level: match self.thinking_level.as_deref() {
                None => default.thinking_level,
                Some("tools") => Level::Tools,
                Some("system") => Level::System,
                Some(other) => panic!("no level {other}"),
            },
        }
    }
}

/// A request in the words of the corpus.
fn render(wire: &Wire, request: &Request) -> String {
    let mut text = String::new();
    let utf8 = |block| String::from_utf8(wire.blocks.bytes(block).to_vec()).unwrap();
    for (node, place) in request.nodes.iter().zip(&request.places) {
        let block = wire.prefixes.block(*node).unwrap();
        let (kind, role) = (wire.blocks.kind(block), wire.blocks.role(block));
        writeln!(text, "{place} {kind:?} {role:?} {}", utf8(block)).unwrap();
        assert_eq!(kind, wire.prefixes.kind(*node), "{place}");
        assert_eq!(wire.blocks.level(block), place.level, "{place}");
    }
    for excluded in &request.excluded {
        writeln!(text, "excluded {} {:?} {}", excluded.place, excluded.why, utf8(excluded.block)).unwrap();
    }
    for marker in &request.markers {
        let at = request.nodes.iter().position(|node| *node == marker.node).unwrap();
        let on = request.places[at];
        let on = if on == marker.place { String::new() } else { format!(" on {on}") };
        let automatic = if marker.automatic { " automatic" } else { "" };
        writeln!(text, "marker {} {}{on}{automatic}", marker.place, marker.ttl).unwrap();
    }
    for bad in &request.bad_markers {
        writeln!(text, "bad {} {:?}", bad.place, bad.why).unwrap();
    }
    if let Some((automatic, explicit)) = request.automatic_conflict {
        writeln!(text, "conflict {automatic} with {explicit}").unwrap();
    }
    if request.markers_sent > 0 {
        writeln!(text, "sent {}", request.markers_sent).unwrap();
    }
    text
}

fn cases() -> Vec<Case> {
    serde_saphyr::from_str(include_str!("prompts.yaml")).unwrap()
}

#[test]
fn every_body_has_the_prompt_of_the_corpus() {
    let mut wrong = String::new();
    for case in cases() {
        let mut wire = Wire::new(case.forms());
        assert_eq!(*wire.forms(), case.forms());
        let request =
            wire.read(case.body.as_bytes(), "scope", "").unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let found = render(&wire, &request);
        if found != case.prompt {
            writeln!(wrong, "{}\n--- expected\n{}--- found\n{found}", case.name, case.prompt).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_body_read_again_is_all_known_and_the_same() {
    for case in cases() {
        let mut wire = Wire::new(case.forms());
        let first = wire.read(case.body.as_bytes(), "scope", "").unwrap();
        let blocks = wire.blocks.len();
        let again = wire.read(case.body.as_bytes(), "scope", "").unwrap();
        assert_eq!(first.known, 0, "{}", case.name);
        assert_eq!(again.known, again.nodes.len(), "{}", case.name);
        assert_eq!(render(&wire, &first), render(&wire, &again), "{}", case.name);
        assert_eq!((first.nodes, blocks), (again.nodes, wire.blocks.len()), "{}", case.name);
    }
}
