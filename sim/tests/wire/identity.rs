//! Which bodies are the same prompt to a cache: `identity.yaml`; and the separation of scopes and models.

use forkcast_sim::wire::{Level, NormalForms, Wire};
use serde::Deserialize;

use super::bodies::{REALISTIC, blocks, read, talk};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    name: String,
    same: bool,
    body: Option<String>,
    a: String,
    b: String,
}

impl Pair {
    fn bodies(&self) -> [String; 2] {
        [&self.a, &self.b].map(|part| self.body.as_ref().map_or(part.clone(), |body| body.replace('$', part)))
    }
}

fn pairs() -> Vec<Pair> {
    serde_saphyr::from_str(include_str!("identity.yaml")).unwrap()
}

#[test]
fn bodies_are_the_same_prompt_if_the_corpus_says_so() {
    for pair in pairs() {
        let mut wire = Wire::default();
        let [a, b] = pair.bodies().map(|body| read(&mut wire, &body));
        let same = (a.root, &a.nodes) == (b.root, &b.nodes);
        assert_eq!(same, pair.same, "{}", pair.name);
        assert_eq!(b.known == b.nodes.len() && !b.nodes.is_empty(), pair.same && !b.nodes.is_empty(), "{}", pair.name);
    }
}

#[test]
fn a_warm_wire_reads_the_same_as_a_fresh_one() {
    let mut warm = Wire::default();
    for body in pairs().iter().flat_map(Pair::bodies).chain([REALISTIC.to_owned()]) {
        for _ in 0..2 {
            let (again, mut fresh) = (read(&mut warm, &body), Wire::default());
            let once = read(&mut fresh, &body);
            assert_eq!(again.places, once.places, "{body}");
            let bytes = |wire: &Wire, request| -> Vec<Vec<u8>> {
                blocks(wire, request).into_iter().map(|block| wire.blocks.bytes(block).to_vec()).collect()
            };
            assert_eq!(bytes(&warm, &again), bytes(&fresh, &once), "{body}");
            let marked = |request: &forkcast_sim::wire::Request| -> Vec<_> {
                request.markers.iter().map(|marker| (marker.place, marker.ttl, marker.automatic)).collect()
            };
            assert_eq!(marked(&again), marked(&once), "{body}");
            assert_eq!((again.markers_sent, again.bad_markers), (once.markers_sent, once.bad_markers), "{body}");
        }
    }
}

#[test]
fn equal_elements_of_different_levels_are_different_blocks() {
    let mut wire = Wire::default();
    let request = read(
        &mut wire,
        r#"{"tools":[{"type":"text","text":"S"}],"system":[{"type":"text","text":"S"}],"messages":[{"type":"text","text":"S"}]}"#,
    );
    let kinds: Vec<_> = request.nodes.iter().map(|node| wire.prefixes.kind(*node)).collect();
    assert_eq!(format!("{kinds:?}"), "[Tool, Text, Parameters]");
}

#[test]
fn the_memory_of_raw_bytes_may_be_cleared() {
    let mut wire = Wire::default();
    let body = |letter: &str| talk(&[&format!("user: {}", letter.repeat(24 << 20))]);
    let bodies = ["a", "b", "c"].map(body);
    let first = bodies.each_ref().map(|body| read(&mut wire, body).nodes);
    let again = bodies.each_ref().map(|body| read(&mut wire, body).nodes);
    assert_eq!(first, again);
    assert_eq!(wire.blocks.len(), 3);
}

#[test]
fn known_counts_the_leading_prefixes_of_earlier_requests() {
    let mut wire = Wire::default();
    let table: [(&[&str], usize); 6] = [
        (&["user: a", "assistant: b"], 0),
        (&["user: a", "assistant: b", "user: c"], 2),
        (&["user: a", "assistant: x", "user: c"], 1),
        (&["user: x", "assistant: b"], 0),
        (&["user: a", "assistant: b", "user: c"], 3),
        (&["user: a"], 1),
    ];
    for (messages, known) in table {
        let request = read(&mut wire, &talk(messages));
        assert_eq!(request.known, known, "{messages:?}");
    }
}

#[test]
fn scopes_and_models_share_no_prefix() {
    let mut wire = Wire::default();
    let body = talk(&["user: a"]);
    let mut read = |scope, model| wire.read(body.as_bytes(), scope, model).unwrap();
    let first = read("s", "claude-opus-4-8");
    let (scope, model, other) = (read("t", "claude-opus-4-8"), read("s", "claude-opus-4-7"), read("s", "mine"));
    for request in [&scope, &model, &other] {
        assert_eq!(request.known, 0);
        assert_ne!((request.root, request.end()), (first.root, first.end()));
    }
    assert_eq!(read("s", "claude-opus-4-8").known, 1);
}

#[test]
fn the_model_of_the_body_takes_precedence_over_the_address() {
    let mut wire = Wire::default();
    let mut read = |body: &str| wire.read(body.as_bytes(), "s", "outside").unwrap();
    let named = read(r#"{"model":"claude-haiku-4-5","messages":[]}"#);
    assert_eq!(named.model, "claude-haiku-4-5");
    assert_eq!(named.resolved.map(|found| found.id.row().id), Some("claude-haiku-4-5"));
    for body in [r#"{"messages":[]}"#, r#"{"model":5,"messages":[]}"#] {
        let unnamed = read(body);
        assert_eq!((unnamed.model.as_str(), unnamed.resolved), ("outside", None));
    }
}

#[test]
fn a_request_has_its_levels_its_end_and_its_envelope() {
    let mut wire = Wire::new(NormalForms::default());
    let request = read(&mut wire, REALISTIC);
    let starts = [Level::Tools, Level::System, Level::Messages].map(|level| request.level_start(level));
    assert_eq!(starts, [0, 2, 3]);
    assert_eq!(request.nodes.last(), Some(&request.end()));
    assert_eq!(request.envelope_value("thinking"), Some(&br#"{"type":"adaptive","display":"omitted"}"#[..]));
    assert_eq!((request.envelope_value("messages"), request.envelope_value("absent")), (None, None));
    let empty = read(&mut wire, r#"{"messages":[]}"#);
    assert_eq!(empty.end(), empty.root);
}
