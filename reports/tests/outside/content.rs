//! No error message repeats a value that a recording has in the wrong place, and with ids for names nothing does.

use std::fs;

use forkcast_fixtures::{files, fixture, tempdir};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_reports::names::Names;

use super::forms::{Form, of_check, of_replay};
use super::planted::{MODELS, NAMES, Planted, each_value};

/// Not a word that could be a name, as a prompt is not.
pub const PLANT: &str = "keep quiet: \"xyzzy\", expected plugh";
const SIGNS: [&str; 2] = ["xyzzy", "plugh"];

pub fn leaks(forms: &[Form]) -> Option<&Form> {
    forms.iter().find(|form| SIGNS.iter().any(|sign| form.text.contains(sign)))
}

/// The texts about damage.
fn complaints(inputs: &Inputs) -> Vec<&str> {
    let unreadable = inputs.unreadable.iter().map(|found| found.reason.as_str());
    let repaired = inputs.repaired.iter().map(|found| found.what.as_str());
    unreadable.chain(repaired).collect()
}

#[test]
fn no_error_message_repeats_the_input() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("recording");
    let mut tried = 0;
    let mut leaking = Vec::new();
    for fixture in files(&fixture("")) {
        for Planted { place, field, bytes } in each_value(&fixture, PLANT) {
            tried += 1;
            fs::write(&path, &bytes).unwrap();
            let inputs = Inputs::from_bytes("recording", &bytes, InputFormat::Auto);
            let said = complaints(&inputs);
            if said.iter().any(|said| said.contains("xyzzy")) {
                leaking.push(format!("{place}: {said:?}"));
            }
            let plain: Vec<Form> =
                of_replay(&inputs, Names::Plain).into_iter().chain(of_check(&path, Names::Plain)).collect();
            let Some(form) = leaks(&plain) else { continue };
            if !MODELS.contains(&field.as_str()) && !NAMES.contains(&field.as_str()) {
                leaking.push(format!("{place}: {}", form.name));
            }
            // What is nowhere in a report is nowhere in one with ids for names.
            let hidden: Vec<Form> =
                of_replay(&inputs, Names::Anonymous).into_iter().chain(of_check(&path, Names::Anonymous)).collect();
            if let Some(form) = leaks(&hidden) {
                leaking.push(format!("{place}: {} with ids for names", form.name));
            }
        }
    }
    assert!(tried > 500, "{tried} values");
    assert!(leaking.is_empty(), "of {tried} values {} leak:\n{}", leaking.len(), leaking.join("\n"));
}
