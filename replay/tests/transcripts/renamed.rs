//! Totals do not depend on names: files and folders are called anything, files are made in any order, paths are named in any
//! order. Bodies alone are the exception: their names are their order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use forkcast_fixtures::beside;
use forkcast_replay::input::{InputFormat, Inputs, ReadOptions};
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::what_if::WhatIf;
use forkcast_sim::service::Entry;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{answer, prompt};
use crate::places::fixture;

/// Fixtures of every format but bodies.
const NAMES: [&str; 23] = [
    "archive.har",
    "capture.json",
    "cassette.yaml",
    "claude-code.jsonl",
    "codex.jsonl",
    "copilot-cli.jsonl",
    "gemini-cli.json",
    "gemini-cli.jsonl",
    "litellm.jsonl",
    "lmcache.jsonl",
    "log.jsonl",
    "managed-agents.json",
    "managed-agents.jsonl",
    "mooncake.jsonl",
    "opencode.json",
    "pair.jsonl",
    "pi.jsonl",
    "ruby.yml",
    "swe-agent.traj",
    "trace.jsonl",
    "tracelab.jsonl",
    "traces.jsonl",
    "weka.json",
];

/// The bytes of a file.
type Content = Vec<u8>;

/// The fixtures; sessions that share what they repeat; and logs that meet at every instant, one of them twice.
fn contents() -> Vec<Content> {
    let read = |name: &&str| fixture(name);
    let mut all: Vec<Content> = NAMES.iter().map(read).collect();
    let begun = format!("{}\n{}\n", prompt(1, 0), answer("a", 2, 1, 5));
    let renamed = |text: &str, id: &str| text.replace("\"sessionId\":\"s\"", &format!("\"sessionId\":\"{id}\""));
    for (id, words) in [("t", 6), ("u", 7), ("v", 6)] {
        let more = format!("{}\n{}\n", prompt(3, 2), answer(&format!("b{id}"), 4, 3, words));
        all.push(renamed(&format!("{begun}{more}"), id).into_bytes());
    }
    all.push(begun.into_bytes());
    let log = String::from_utf8(read(&"log.jsonl")).unwrap();
    all.push(log.replace("user", "User").into_bytes());
    all.push(log.replace("text", "Text").into_bytes());
    all.push(log.into_bytes());
    all
}

/// What counts, without names: the requests of each session, and the requests with everything that is said of them.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    sessions: Vec<Vec<String>>,
    requests: Vec<String>,
}

fn counted(paths: &[PathBuf]) -> Counted {
    let inputs = Inputs::read(paths, InputFormat::Auto).unwrap();
    let what_if: Vec<WhatIf> = ["ttl=1h", "ttl=best"].iter().map(|spec| spec.parse().unwrap()).collect();
    let replay = replay(&inputs, &Options { what_if, ..Options::default() });
    let mut sessions: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for entry in &replay.entries {
        sessions.entry(entry.line.session).or_default().push(request(entry));
    }
    let mut requests: Vec<String> = sessions.values().flatten().cloned().collect();
    let mut sessions: Vec<Vec<String>> = sessions.into_values().collect();
    requests.sort_unstable();
    sessions.iter_mut().for_each(|requests| requests.sort_unstable());
    sessions.sort_unstable();
    Counted { sessions, requests }
}

fn request(entry: &Entry) -> String {
    let line = &entry.line;
    let sent = (line.at, &line.model, line.recorded, line.predicted, &line.charge, line.unread_writes);
    let judged = (&entry.comparison, entry.unforeseen, &entry.hypotheticals, entry.lower_bound);
    format!("{:?} {sent:?} {judged:?}", entry.origin.line)
}

/// An order and a name for each file.
type Named = (Vec<usize>, Vec<(String, String)>);

fn names(files: usize) -> impl Strategy<Value = Named> {
    let order = Just((0..files).collect::<Vec<usize>>()).prop_shuffle();
    (order, prop::collection::vec(("[a-z0-9]{1,6}", "[a-z0-9]{1,6}"), files))
}

/// Writes the files in the order of `named` and gives their paths in that order.
fn written(folder: &Path, contents: &[Content], (order, names): &Named) -> Vec<PathBuf> {
    let write = |at: &usize| {
        let (folder, (below, name)) = (folder, &names[*at]);
        let path = folder.join(below).join(format!("{name}-{at}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &contents[*at]).unwrap();
        path
    };
    order.iter().map(write).collect()
}

/// Writes the files under other names this many times, and compares each reading with the first.
fn held(contents: &[Content], times: u32) {
    let of = |named: &Named| {
        let folder = tempfile::tempdir().unwrap();
        let paths = written(folder.path(), contents, named);
        (counted(&[folder.path().to_owned()]), counted(&paths))
    };
    let plain = ((0..contents.len()).collect(), vec![("a".to_owned(), "b".to_owned()); contents.len()]);
    let (whole, listed) = of(&plain);
    assert!(!whole.requests.is_empty());
    let mut runner = TestRunner::new(Config { cases: times, failure_persistence: None, ..Config::default() });
    let result = runner.run(&names(contents.len()), |named| {
        let (found, found_listed) = of(&named);
        prop_assert!(found.requests == whole.requests, "{}", different(&found.requests, &whole.requests));
        prop_assert!(found.sessions == whole.sessions);
        prop_assert!(
            found_listed.requests == listed.requests,
            "{}",
            different(&found_listed.requests, &listed.requests)
        );
        prop_assert!(found_listed.sessions == listed.sessions);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

fn different(found: &[String], expected: &[String]) -> String {
    let at = found.iter().zip(expected).position(|(one, other)| one != other).unwrap_or(0);
    format!("{} and {} requests:\n{:?}\n{:?}", found.len(), expected.len(), found.get(at), expected.get(at))
}

#[test]
fn fixtures_count_the_same_whatever_they_are_called() {
    held(&contents(), 24);
}

#[test]
fn recorded_sessions_count_the_same_whatever_they_are_called() {
    for name in ["cc-oh-my-posh", "cc-entireio-cli"] {
        let Some(folder) = beside(name) else { return };
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.to_string_lossy().contains(".jsonl"));
        paths.sort();
        let contents: Vec<Content> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
        held(&contents, 3);
    }
}

#[cfg(unix)]
#[test]
fn files_reached_by_several_named_paths_count_once_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("all/inner");
    std::fs::create_dir_all(&inner).unwrap();
    let files = ["log.jsonl", "claude-code.jsonl", "mooncake.jsonl"];
    for name in files {
        std::fs::copy(forkcast_fixtures::fixture(name), inner.join(name)).unwrap();
    }
    let (all, link) = (folder.path().join("all"), folder.path().join("link"));
    std::os::unix::fs::symlink(&inner, &link).unwrap();
    let whole = counted(std::slice::from_ref(&all));
    let logs = inner.join("log.jsonl");
    for paths in [
        vec![all.clone(), all.clone()],
        vec![all.clone(), logs.clone()],
        vec![logs.clone(), all.clone()],
        vec![inner.clone(), logs.clone(), all.clone()],
        vec![link.clone(), all.clone()],
        vec![all, link],
    ] {
        assert_eq!(counted(&paths), whole, "{paths:?}");
        let inputs = Inputs::read(&paths, InputFormat::Auto).unwrap();
        assert_eq!((inputs.files, inputs.scopes.len()), (files.len(), 1), "{paths:?}");
        let mut taken = 0;
        let options = ReadOptions::default();
        Inputs::read_each(&paths, &options, &|_| true, &mut |piece| taken += piece.file.exchanges.len()).unwrap();
        assert_eq!(taken, inputs.exchanges().count(), "{paths:?}");
    }
    assert_eq!(counted(&[logs.clone(), logs.clone()]), counted(&[logs]));
}
