//! Locations of recordings: fixtures made by hand, and data outside the project.

use std::fs;
use std::path::{Path, PathBuf};

use forkcast_fixtures::beside;
use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_sim::time::Instant;

/// Folders with transcripts of clients that record final usage.
pub const TRANSCRIPTS: [&str; 5] =
    ["cc-agentv", "cc-entireio-cli", "cc-marot-spotter", "cc-oh-my-posh", "cc-packmind-context-evaluator"];

/// Folders with cassettes of Claude models.
pub const CASSETTES: [&str; 6] = [
    "cassettes-crewai",
    "cassettes-dd-trace-py",
    "cassettes-openinference",
    "cassettes-openllmetry",
    "cassettes-pydantic-ai",
    "cassettes-ruby-llm",
];

pub fn fixture(name: &str) -> Vec<u8> {
    fs::read(forkcast_fixtures::fixture(name)).unwrap()
}

pub fn read(name: &str) -> Inputs {
    Inputs::read(&[forkcast_fixtures::fixture(name)], InputFormat::Auto).unwrap()
}

pub fn memory(text: &str) -> Inputs {
    Inputs::from_bytes("memory", text.as_bytes(), InputFormat::Auto)
}

/// Remarks of the reader of the only file.
pub fn notes(inputs: &Inputs) -> Vec<&str> {
    inputs.scopes[0].files[0].notes.iter().map(String::as_str).collect()
}

/// Line and reason of each unreadable place.
pub fn reasons(inputs: &Inputs) -> Vec<(usize, &str)> {
    inputs.unreadable.iter().map(|unreadable| (unreadable.line, unreadable.reason.as_str())).collect()
}

/// index, input, read, written, output
pub type Counts = (usize, Option<(u64, u64, u64, u64)>);

/// The counts of all exchanges.
pub fn counts(inputs: &Inputs) -> Vec<Counts> {
    let usage = |exchange: &Exchange| {
        let usage = exchange.usage?.usage;
        let written = usage.cache_creation_input_tokens();
        Some((usage.input_tokens, usage.cache_read_input_tokens, written, usage.output_tokens))
    };
    inputs.exchanges().map(|exchange| (exchange.origin.index, usage(exchange))).collect()
}

/// Milliseconds and microseconds after 2026-02-12T19:30:44Z: sent, first byte, ended.
pub fn instants(exchange: &Exchange) -> [Option<f64>; 3] {
    let start = Instant::from_millis(1_770_924_644_000);
    [exchange.sent_at, exchange.first_byte_at, exchange.ended_at]
        .map(|at| at.map(|at| (i128::from(at.0) - i128::from(start.0)) as f64 / 1e6))
}

pub fn data() -> Option<PathBuf> {
    beside("")
}

/// All transcripts below, in order of their names.
pub fn transcripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.to_string_lossy();
        if path.is_dir() {
            transcripts(&path, found);
        } else if name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") {
            found.push(path);
        }
    }
}
