//! The notes on two spellings of the same prompt: `harmless.yaml`.

use forkcast_sim::wire::{BodyError, NormalForms, Wire, spelling};
use serde::Deserialize;

use super::bodies::read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    body: Option<String>,
    a: String,
    b: String,
    notes: Vec<String>,
}

#[test]
fn each_harmless_difference_is_named_with_its_place() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("harmless.yaml")).unwrap();
    for case in cases {
        let [a, b] =
            [&case.a, &case.b].map(|part| case.body.as_ref().map_or(part.clone(), |body| body.replace('$', part)));
        let notes = spelling::notes(a.as_bytes(), b.as_bytes(), &NormalForms::default()).unwrap();
        let found: Vec<String> = notes.iter().map(|note| format!("{} {:?}", note.path, note.kind)).collect();
        assert_eq!(found, case.notes, "{}", case.name);
        if !found.is_empty() && !found[0].contains("Spelling") && case.body.is_some() {
            let mut wire = Wire::default();
            assert_eq!(read(&mut wire, &a).nodes, read(&mut wire, &b).nodes, "{}", case.name);
        }
    }
}

#[test]
fn with_the_switch_off_string_and_list_are_two_prompts() {
    let forms = NormalForms { string_is_block: false, ..NormalForms::default() };
    let body = |content: &str| format!(r#"{{"system":{content},"messages":[{{"role":"user","content":{content}}}]}}"#);
    let (string, list) = (body(r#""a""#), body(r#"[{"type":"text","text":"a"}]"#));
    assert_eq!(spelling::notes(string.as_bytes(), list.as_bytes(), &forms), Ok(Vec::new()));
}

#[test]
fn invalid_bodies_are_refused() {
    let good = br#"{"messages":[]}"#;
    for (a, b) in [(&b"{}"[..], &good[..]), (good, b"{}")] {
        assert!(matches!(spelling::notes(a, b, &NormalForms::default()), Err(BodyError::Missing { key: "messages" })));
    }
}
