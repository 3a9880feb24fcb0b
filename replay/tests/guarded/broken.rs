//! Unreadable input: reported clearly, and the rest is checked.

use std::fs;

use forkcast_replay::check::{Check, Checking};
use forkcast_replay::input::ReadOptions;
use forkcast_replay::source::feed;
use proptest::prelude::*;
use serde_json::json;

use super::stage::{Folder, body, chains, check};
use crate::places::fixture;

#[test]
fn a_broken_file_is_named_and_the_rest_is_read() {
    let whole = body("bees", 2).to_string();
    let shape = json!({"model": "claude-opus-4-8", "max_tokens": 9, "messages": 7}).to_string();
    let (fed, outcome) = Folder::new(&[
        ("1.json", body("bees", 1).to_string()),
        ("2.json", whole[..whole.len() / 2].to_owned()),
        ("3.json", shape),
        ("4.json", body("bees", 3).to_string()),
    ])
    .check();
    assert_eq!((fed.requests, outcome.report.findings.len()), (2, 0));
    let said: Vec<(String, &str)> = fed
        .inputs
        .unreadable
        .iter()
        .map(|found| (found.file.rsplit('/').next().unwrap().to_owned(), found.reason.as_str()))
        .collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().any(|(file, _)| file == "2.json"));
    let (_, reason) = said.iter().find(|(file, _)| file == "3.json").unwrap();
    assert_eq!(*reason, "request 0: messages: found a number, expected an array");
}

/// A request whose prompt the provider holds.
fn continued() -> String {
    json!({"model": "gpt-5.6-sol", "previous_response_id": "resp_1", "input": "Go on."}).to_string()
}

#[test]
fn requests_whose_prompt_is_elsewhere_are_counted_by_file() {
    let empty = json!({"model": "gemini-2.5-pro", "messages": []}).to_string();
    let folder = Folder::new(&[("1.json", continued()), ("2.json", empty), ("3.json", body("bees", 1).to_string())]);
    let (fed, outcome) = folder.check();
    assert_eq!((fed.requests, outcome.report.requests), (1, 1));
    let told: Vec<String> = fed.unchecked.iter().map(forkcast_replay::source::Foreign::told).collect();
    let expected = [
        "1 request: it goes on from a response that the provider keeps, so its prompt is not in its body",
        "1 request: the recording left the prompt out",
    ];
    assert_eq!(told, expected);
}

#[test]
fn requests_that_the_provider_refused_leave_no_trace() {
    let line = |turn: usize, status: u16| {
        json!({"v": 1, "at_ms": turn * 1000, "chain": "main", "status": status, "request": body("bees", turn)})
            .to_string()
    };
    let log = [line(1, 200), line(3, 529), line(2, 200)].join("\n");
    let (fed, outcome) = Folder::new(&[("log.jsonl", log)]).check();
    assert_eq!((fed.requests, outcome.report.findings.len()), (2, 0));
    assert_eq!(fed.unchecked[0].reason, "the provider refused it, so nothing was read or written");
}

#[test]
fn whoever_watches_can_end_it() {
    let folder = Folder::new(&[("1.json", body("bees", 1).to_string()), ("2.json", body("bees", 2).to_string())]);
    let mut sink = Check::new(Checking::default());
    let fed = feed(&[folder.path("")], &ReadOptions::default(), &|_| false, &mut sink).unwrap();
    assert!(fed.partial);
    assert_eq!((fed.requests, sink.finish().report.requests), (1, 1));
    // The next file may have been read while the first one was judged.
    assert!(fed.inputs.unread_files <= 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn mutated_captures_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in any::<prop::sample::Index>(),
        which in 0..5_usize,
    ) {
        const FIXTURES: [&str; 4] = ["claude-code.jsonl", "archive.har", "capture.json", "cassette.yaml"];
        let mut bytes = match FIXTURES.get(which) {
            Some(name) => fixture(name),
            None => (1..4).map(|turn| body("bees", turn).to_string()).collect::<Vec<_>>().join("\n").into_bytes(),
        };
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()).max(bytes.len() / 2));
        let folder = Folder::new(&[]);
        fs::create_dir_all(folder.path("")).unwrap();
        fs::write(folder.path("mutated"), bytes).unwrap();
        let (_, outcome) = check(&[folder.path("mutated")]);
        chains(&outcome);
        outcome.report.findings.iter().for_each(|finding| drop(finding.to_string()));
    }
}
