//! Damaged transcripts: no panics, no long runs, reading twice gives the same, losses are accounted for, and a cut file
//! contains nothing that the whole one does not.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use forkcast_replay::formats::{self, Format, Reading};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::transcript::What;
use forkcast_sim::wire::TOKENS_MAX;
use proptest::prelude::*;

use crate::edits::{Edit, apply, edit};

use super::fixture;

const FIXTURES: &[(Format, &str)] = &[
    (Format::Codex, "codex.jsonl"),
    (Format::Pi, "pi.jsonl"),
    (Format::GeminiCli, "gemini-cli.json"),
    (Format::GeminiCli, "gemini-cli.jsonl"),
    (Format::CopilotCli, "copilot-cli.jsonl"),
    (Format::OpenCode, "opencode.json"),
    (Format::ManagedAgents, "managed-agents.jsonl"),
    (Format::ManagedAgents, "managed-agents.json"),
    (Format::SweAgent, "swe-agent.traj"),
    (Format::TraceLab, "tracelab.jsonl"),
];

/// The maximum time for a file of a few kilobytes: hundreds of times that of the slowest in a debug build, for machines are busy.
const LONGEST: Duration = Duration::from_secs(10);

fn read(format: Format, bytes: &[u8]) -> Reading {
    let started = Instant::now();
    let reading = formats::read(format, "memory", bytes);
    assert!(started.elapsed() < LONGEST, "{}: {:?}", format.name(), started.elapsed());
    reading
}

fn told(reading: &Reading) -> BTreeSet<String> {
    let faults = reading.unreadable.iter().chain(&reading.repaired).map(|fault| format!("{}: {fault}", fault.line));
    faults.chain(reading.skipped.iter().cloned()).chain(reading.notes.iter().cloned()).collect()
}

/// Answers with usage, and all.
fn answers(reading: &Reading) -> (usize, usize) {
    let items = reading.threads.iter().flat_map(|thread| &thread.items);
    let answers: Vec<bool> = items
        .filter_map(|item| match &item.what {
            What::Answer(answer) => Some(answer.usage.is_some()),
            _ => None,
        })
        .collect();
    (answers.iter().filter(|has| **has).count(), answers.len())
}

/// All tokens of all answers.
fn tokens(reading: &Reading) -> u64 {
    let items = reading.threads.iter().flat_map(|thread| &thread.items);
    let usage = items.filter_map(|item| match &item.what {
        What::Answer(answer) => answer.usage,
        _ => None,
    });
    usage.map(|recorded| recorded.usage.total_input_tokens() + recorded.usage.output_tokens).sum()
}

#[test]
fn a_truncated_file_has_no_extra_requests_and_is_reported() {
    for (format, name) in FIXTURES {
        let bytes = fixture(name);
        let whole = read(*format, &bytes);
        for length in (0..bytes.len()).step_by(7) {
            let part = read(*format, &bytes[..length]);
            assert!(tokens(&part) <= tokens(&whole), "{name} cut at {length}");
            let lost = answers(&part).0 < answers(&whole).0;
            let at_a_line = bytes[..length].trim_ascii().ends_with(b"}") || bytes[..length].trim_ascii().is_empty();
            assert!(!lost || at_a_line || !told(&part).is_empty(), "{name} cut at {length} says nothing");
        }
    }
}

/// The text before a count of each format.
const COUNTS: &[(&str, &str)] = &[
    ("codex.jsonl", "\"last_token_usage\":{\"input_tokens\":"),
    ("pi.jsonl", "\"cacheRead\":"),
    ("pi.jsonl", "\"tokensBefore\":"),
    ("gemini-cli.json", "\"tool\": "),
    ("gemini-cli.jsonl", "\"input\":"),
    ("copilot-cli.jsonl", "\"inputTokens\":"),
    ("copilot-cli.jsonl", "\"outputTokens\":"),
    ("opencode.json", "\"reasoning\": 15,\n      \"cache\": {\n       \"read\": "),
    ("managed-agents.jsonl", "\"cache_read_input_tokens\":"),
    ("managed-agents.json", "\"input_tokens\": "),
    ("swe-agent.traj", "\"tokens_sent\": "),
    ("tracelab.jsonl", "\"claude_uncached_input_tokens\":"),
];

#[test]
fn a_count_beyond_the_bound_is_refused_with_its_place_and_the_request_is_kept() {
    for (name, before) in COUNTS {
        let (format, _) = *FIXTURES.iter().find(|(_, fixture)| fixture == name).unwrap();
        let text = String::from_utf8(fixture(name)).unwrap();
        let whole = read(format, text.as_bytes());
        let start = text.find(before).unwrap_or_else(|| panic!("{name}: no {before}")) + before.len();
        let end = start + text[start..].find(|byte: char| !byte.is_ascii_digit()).unwrap();
        for count in [TOKENS_MAX + 1, u64::MAX] {
            let reading = read(format, format!("{}{count}{}", &text[..start], &text[end..]).as_bytes());
            let says = format!("is {count}, expected a whole number from 0 to {TOKENS_MAX}");
            let fault = reading.unreadable.iter().find(|fault| fault.what.contains(&says));
            assert!(fault.is_some_and(|fault| fault.line > 0), "{name} {before}{count}: {:?}", reading.unreadable);
            // Without the sum, the requests of a sum are separate.
            assert!(answers(&reading).1 >= answers(&whole).1, "{name} {before}{count}");
            assert!(tokens(&reading) <= tokens(&whole), "{name} {before}{count}");
        }
        // Half of the bound, since some add two counts up.
        let large = read(format, format!("{}{}{}", &text[..start], TOKENS_MAX / 2, &text[end..]).as_bytes());
        assert!(!told(&large).iter().any(|fault| fault.contains("expected a whole number")), "{name} {before}");
    }
}

#[test]
fn nesting_and_numbers_without_end_break_no_reader() {
    let deep = 100_000;
    let brackets = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let objects = format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep));
    let digits = "9".repeat(100_000);
    for (format, name) in FIXTURES {
        let text = String::from_utf8(fixture(name)).unwrap();
        for key in
            ["content", "payload", "data", "message", "messages", "raw", "info", "history", "timing_events", "usage"]
        {
            for value in [&brackets, &objects, &digits] {
                let edited = text.replace(&format!("\"{key}\":"), &format!("\"{key}\":{value},\"{key}\":"));
                read(*format, edited.as_bytes());
                read(*format, text.replace(&format!("\"{key}\":"), &format!("\"{key}\":{value},\"x\":")).as_bytes());
            }
        }
    }
}

#[test]
fn long_files_take_time_in_proportion() {
    // Lines that refer to others, again and again: compactions, rewinds, branches, checkpoints.
    let many = 20_000;
    let files: [(Format, String); 4] = [
        (Format::Codex, {
            let line = r#"{"timestamp":"2026-03-02T09:00:00.000Z","type":"compacted","payload":{"message":"s"}}"#;
            let back = r#"{"timestamp":"2026-03-02T09:00:00.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":3}}"#;
            format!("{line}\n{back}\n").repeat(many)
        }),
        (Format::Pi, {
            let line = |i: usize| {
                format!(
                    r#"{{"type":"compaction","id":"{i}","parentId":"0","timestamp":"x","summary":"s","firstKeptEntryId":"0","tokensBefore":1}}"#
                )
            };
            (0..many).map(line).collect::<Vec<_>>().join("\n")
        }),
        (Format::GeminiCli, {
            let line = |i: usize| {
                format!("{{\"id\":\"m{i}\",\"type\":\"user\",\"content\":\"x\"}}\n{{\"$rewindTo\":\"m1\"}}\n")
            };
            (0..many).map(line).collect()
        }),
        (Format::CopilotCli, {
            let line =
                r#"{"type":"assistant.message","data":{"model":"m","content":"x"},"timestamp":"x","parentId":null}"#;
            let end = r#"{"type":"session.shutdown","data":{"modelMetrics":{"m":{"requests":{"count":2},"usage":{"inputTokens":1}}}},"timestamp":"x","parentId":null}"#;
            format!("{}{end}\n", format!("{line}\n").repeat(many))
        }),
    ];
    for (format, text) in files {
        read(format, text.as_bytes());
    }
}

/// One property for each fixture, so that a failure names it.
fn mutated(at: usize, edits: &[Edit]) -> Result<(), TestCaseError> {
    let (format, name) = FIXTURES[at];
    let mut bytes = fixture(name);
    edits.iter().for_each(|edit| apply(&mut bytes, edit));
    let (first, second) = (read(format, &bytes), read(format, &bytes));
    prop_assert_eq!(format!("{first:?}"), format!("{second:?}"), "reading is deterministic");
    let auto = Inputs::from_bytes("memory", &bytes, InputFormat::Auto);
    let said = auto.skipped.len() + auto.unreadable.len() + auto.repaired.len();
    prop_assert!(auto.sessions.len() + said > 0, "a file that gives nothing says why");
    Ok(())
}

/// Every byte in turn becomes one of these; the last is a letter that keys become other keys by.
const BYTES: [u8; 4] = *b"}\"0#";

/// The loss of an answer or its usage by a changed byte is reported.
fn one_byte(at: usize) {
    let (format, name) = FIXTURES[at];
    let bytes = fixture(name);
    let whole = read(format, &bytes);
    let (before, known) = (answers(&whole), told(&whole));
    let cases = (0..bytes.len()).flat_map(|place| BYTES.map(|byte| (place, byte)));
    for (place, byte) in cases {
        let mut edited = bytes.clone();
        edited[place] = byte;
        let reading = read(format, &edited);
        let after = answers(&reading);
        assert!(
            after.0 >= before.0 && after.1 >= before.1 || !told(&reading).is_subset(&known),
            "{name}: byte {place} became {byte}: {after:?} of {before:?} and nothing said",
        );
    }
}

macro_rules! properties {
    ($($name:ident: $at:expr;)*) => {$(
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

                #[test]
                fn mutations_break_nothing(edits in proptest::collection::vec(edit(), 1..8)) {
                    mutated($at, &edits)?;
                }
            }

            #[test]
            fn the_cost_of_a_byte_is_reported() {
                one_byte($at);
            }
        }
    )*};
}

properties! {
    codex: 0;
    pi: 1;
    gemini_document: 2;
    gemini_lines: 3;
    copilot_cli: 4;
    opencode: 5;
    managed_lines: 6;
    managed_page: 7;
    swe_agent: 8;
    tracelab: 9;
}
