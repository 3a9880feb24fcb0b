//! An interrupted replay keeps its results and is marked as partial.

use std::cell::Cell;

use forkcast_fixtures::tempdir;
use forkcast_replay::input::{Inputs, Progress, ReadOptions};
use forkcast_replay::replay::{InParts, Options, Passes, replay, replay_until};

#[test]
fn partial_results_are_kept_and_marked() {
    let inputs = Inputs::sample();
    let whole = replay(&inputs, &Options::default());
    assert!(!whole.partial);
    let asked = Cell::new(0);
    let after_five = || {
        asked.set(asked.get() + 1);
        asked.get() > 5
    };
    let part = replay_until(&inputs, &Options::default(), &after_five);
    assert!(part.partial);
    assert_eq!(part.entries.len(), 5);
    for (line, expected) in part.lines().zip(whole.lines()) {
        assert_eq!(line.predicted, expected.predicted);
        assert_eq!(line.charge, expected.charge);
    }
}

/// This many sessions of one request each, stored in a temporary file.
fn sessions(count: usize) -> Inputs {
    let place = tempdir().expect("a folder");
    let folder = place.path();
    let fixture = include_str!("fixtures/claude-code.jsonl");
    for session in 0..count {
        let own = format!("{session:0>8}");
        let text = fixture.replace("5e5510a0", &own).replace("msg_", &format!("msg_{own}_"));
        std::fs::write(folder.join(format!("{own}.jsonl")), text).expect("a file");
    }
    let options = ReadOptions { memory_bytes_max: 0, ..ReadOptions::default() };
    let inputs = Inputs::read_with(&[folder], &options, &|_| true).expect("readable");
    assert_eq!(inputs.sessions.len(), count);
    inputs
}

/// Every line of a pass, and whether it was a part.
fn pass(passes: &Passes<'_>) -> (Vec<String>, bool) {
    let (mut lines, mut partial) = (Vec::new(), false);
    passes.each(&mut |part, _| {
        partial |= part.partial;
        lines.extend(part.entries.iter().map(|entry| format!("{entry:?}")));
    });
    (lines, partial)
}

#[test]
fn every_pass_repeats_the_replay_and_stops_at_the_same_request() {
    let (inputs, options) = (sessions(9), Options::default());
    let kept = replay(&inputs, &options);
    let whole = Passes::new(&inputs, &options, &|| false);
    let expected: Vec<String> = kept.entries.iter().map(|entry| format!("{entry:?}")).collect();
    assert!(expected.len() >= 9);
    assert_eq!(pass(&whole), (expected.clone(), false));
    assert_eq!(pass(&whole), (expected.clone(), false), "again");
    let asked = Cell::new(0);
    let after_four = || {
        asked.set(asked.get() + 1);
        asked.get() > 4
    };
    let stopped = Passes::new(&inputs, &options, &after_four);
    let first = pass(&stopped);
    assert_eq!(first, (expected[..expected.len() / 9 * 4].to_vec(), true));
    assert_eq!(pass(&stopped), first, "the same again, independent of the present answer");
}

#[test]
fn files_already_read_are_kept_and_the_others_are_counted() {
    let place = tempdir().expect("a folder");
    let folder = place.path();
    for name in 0..20 {
        std::fs::write(folder.join(format!("{name}.jsonl")), forkcast_replay::input::SAMPLE).expect("a file");
    }
    let read = |watch: &(dyn Fn(Progress) -> bool + Sync)| Inputs::read_with(&[folder], &ReadOptions::default(), watch);
    let size = forkcast_replay::input::SAMPLE.len() as u64;
    let whole = read(&|progress| {
        assert_eq!((progress.files, progress.bytes), (20, 20 * size));
        true
    });
    assert_eq!(whole.expect("readable").unread_files, 0);
    let part = read(&|progress| progress.files_done < 3).expect("readable");
    let files: usize = part.scopes.iter().map(|scope| scope.files.len()).sum();
    assert_eq!(files + part.unread_files, 20);
    assert!(files >= 3 && part.unread_files > 0, "{files}");
}
