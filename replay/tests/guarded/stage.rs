//! Captures made by hand, and the results of their check.

use std::fs;
use std::path::PathBuf;

use forkcast_replay::check::{Check, Checking, Outcome};
use forkcast_replay::input::ReadOptions;
use forkcast_replay::source::{Fed, feed};
use forkcast_sim::guard::Finding;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A text longer than the cache's minimum, whose words differ from place to place.
pub fn long(word: &str) -> String {
    (0..1_500).map(|at| format!("{word} {at} ")).collect()
}

/// The body of a conversation about `topic` with `turns` questions; its last block carries a breakpoint.
pub fn body(topic: &str, turns: usize) -> Value {
    let text = |role: &str, text: String| json!({"role": role, "content": [{"type": "text", "text": text}]});
    let mut messages: Vec<Value> = vec![text("user", format!("Tell me of {topic}."))];
    for turn in 1..turns {
        messages.push(text("assistant", format!("Of {topic} there is to say: {turn}.")));
        messages.push(text("user", format!("What is behind number {turn} of {topic}?")));
    }
    messages.last_mut().unwrap()["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    json!({"model": "claude-opus-4-8", "max_tokens": 100,
        "tools": [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}],
        "system": [{"type": "text", "text": long("rule"), "cache_control": {"type": "ephemeral"}}],
        "messages": messages})
}

/// A folder of files.
pub struct Folder(TempDir);

impl Folder {
    pub fn new(files: &[(&str, String)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = folder.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("captures").join(name)
    }

    /// The result of a check of the whole folder.
    pub fn check(&self) -> (Fed, Outcome) {
        check(&[self.0.path().join("captures")])
    }
}

pub fn check(paths: &[PathBuf]) -> (Fed, Outcome) {
    check_with(paths, &ReadOptions::default())
}

pub fn check_with(paths: &[PathBuf], options: &ReadOptions) -> (Fed, Outcome) {
    let mut check = Check::new(Checking { recording: Some(Default::default()), ..Checking::default() });
    let fed = feed(paths, options, &|_| true, &mut check).unwrap();
    let outcome = check.finish();
    assert_eq!(fed.requests, outcome.origins.len());
    assert_eq!(fed.requests, outcome.report.requests);
    assert_eq!(outcome.lock.as_ref().unwrap().requests(), fed.requests);
    (fed, outcome)
}

/// Chain, cause, path and file of those findings that break a prefix.
pub fn breaks(outcome: &Outcome) -> Vec<(String, &'static str, String, String)> {
    let broken = outcome.report.findings.iter().filter(|finding| finding.breaks_prefix);
    let file = |finding: &Finding| {
        let file = &outcome.origins[finding.request].file;
        file.split_once("captures/").map_or(file.clone(), |(_, file)| file.to_owned())
    };
    broken.map(|found| (found.chain.clone(), found.cause.word(), found.path.clone(), file(found))).collect()
}

/// The chains of the lock with the number of their requests.
pub fn chains(outcome: &Outcome) -> Vec<(String, usize)> {
    let chains = &outcome.lock.as_ref().unwrap().chains;
    chains.iter().map(|chain| (chain.name.clone(), chain.requests.len())).collect()
}
