//! Byte properties of every reader: for any damage to a recording, nothing panics, nothing takes long, reading twice gives
//! the same, every exchange that is gone is accounted for, and a truncated file holds nothing that the whole one does not.

mod fuzzed;
mod lines;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use forkcast_replay::exchange::Exchange;
use forkcast_replay::formats::{self, Format, Reading};
use forkcast_replay::input::{InputFormat, Inputs};
use proptest::prelude::*;

use crate::edits::{Edit, apply, edit};
use crate::places::fixture;

/// The fixtures of each format. A reader without one fails the first test below.
const OF_FORMAT: &[(Format, &[&str])] = &[
    (Format::Vcr, &["cassette.yaml", "cassette-parsed.yaml", "converse.yaml", "openrouter.yaml", "go-vcr.yaml"]),
    (Format::RubyVcr, &["ruby.yml"]),
    (Format::Har, &["archive.har"]),
    (Format::Braintrust, &["braintrust.json"]),
    (Format::Datadog, &["datadog.json"]),
    (Format::HttpMock, &["httpmock.yaml"]),
    (Format::ReqLlm, &["req-llm.json"]),
    (Format::WireMock, &["wiremock.json"]),
    (Format::CurlLog, &["curl-log.jsonl"]),
    (Format::ClaudeTrace, &["trace.jsonl"]),
    (Format::LiteLlm, &["litellm.jsonl"]),
    (Format::Otel, &["traces.jsonl"]),
    (Format::WireCapture, &["capture.json", "pair.jsonl"]),
    (Format::Batch, &["batch.jsonl"]),
    (Format::Bodies, &["body.json", "request-response.json"]),
    (Format::ExchangeLog, &["log.jsonl"]),
];

/// Formats without exchanges; their readers have tests of their own for this.
const ELSEWHERE: &[Format] = &[
    Format::ClaudeCode,
    Format::Weka,
    Format::Mooncake,
    Format::LmCache,
    Format::Codex,
    Format::Pi,
    Format::GeminiCli,
    Format::CopilotCli,
    Format::OpenCode,
    Format::ManagedAgents,
    Format::SweAgent,
    Format::TraceLab,
];

/// The maximum time for a file of a few kilobytes: hundreds of times that of the slowest in a debug build, for machines are busy.
const LONGEST: Duration = Duration::from_secs(10);

fn read(format: Format, bytes: &[u8]) -> Reading {
    let started = Instant::now();
    let reading = formats::read(format, "memory", bytes);
    assert!(started.elapsed() < LONGEST, "{}: {:?}", format.name(), started.elapsed());
    reading
}

/// The texts about unreadable places.
fn told(reading: &Reading) -> BTreeSet<String> {
    let faults = reading.unreadable.iter().chain(&reading.repaired).map(|fault| format!("{}: {fault}", fault.line));
    faults.chain(reading.skipped.iter().cloned()).chain(reading.notes.iter().cloned()).collect()
}

/// The part of an exchange that comes from the request: truncation may cost the answer, never change the question.
fn request(exchange: &Exchange) -> (usize, &str, &[u8], &str) {
    (exchange.origin.index, exchange.model.as_str(), &exchange.body, exchange.dialect.name())
}

#[test]
fn every_format_has_fixtures_that_are_detected_as_such() {
    for format in Format::ALL.iter().filter(|format| !ELSEWHERE.contains(format)) {
        let (_, names) = OF_FORMAT.iter().find(|(known, _)| known == format).expect("fixtures of every format");
        for name in *names {
            let inputs = Inputs::from_bytes(name, &fixture(name), InputFormat::Auto);
            assert_eq!(inputs.scopes[0].files[0].format, *format, "{name}");
            assert!(inputs.exchanges().count() > 0, "{name}");
        }
    }
}

/// Every length of a small file; of larger ones, lengths that no period of the text meets twice.
fn lengths(whole: usize) -> impl Iterator<Item = usize> {
    const STEP: usize = 37;
    let step = if whole > 3_000 { STEP } else { 1 };
    (0..whole).step_by(step)
}

#[test]
fn a_truncated_file_adds_nothing_and_is_reported() {
    for (format, names) in OF_FORMAT {
        for name in *names {
            let bytes = fixture(name);
            let whole = read(*format, &bytes);
            let is_yaml = matches!(format, Format::Vcr | Format::RubyVcr | Format::HttpMock);
            let by_index: BTreeMap<_, _> = whole.exchanges.iter().map(|e| (e.origin.index, request(e))).collect();
            for length in lengths(bytes.len()) {
                let part = read(*format, &bytes[..length]);
                for exchange in &part.exchanges {
                    // YAML has no closing bracket: a mapping that is cut is a shorter one. Then the cassette lacks its end.
                    let same = by_index.get(&exchange.origin.index) == Some(&request(exchange));
                    let place = format!("{name} cut at {length}: exchange {}", exchange.origin.index);
                    assert!(same || is_yaml && !part.notes.is_empty(), "{place}");
                }
                let rest = bytes[length..].trim_ascii();
                let lost = part.exchanges.len() < whole.exchanges.len();
                let at_a_line = bytes[..length].ends_with(b"\n") || bytes[..length].trim_ascii().ends_with(b"}");
                assert!(
                    !lost || rest.is_empty() || at_a_line || !told(&part).is_empty() || length == 0,
                    "{name} cut at {length} says nothing"
                );
            }
        }
    }
}

#[test]
fn nesting_and_numbers_without_end_break_no_reader() {
    let deep = 100_000;
    let brackets = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let objects = format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep));
    let digits = "9".repeat(100_000);
    for (format, names) in OF_FORMAT {
        for name in *names {
            let text = String::from_utf8(fixture(name)).unwrap();
            for (from, to) in [
                ("\"messages\":", format!("\"x\":{brackets},\"messages\":")),
                ("\"messages\": ", format!("\"x\": {objects}, \"messages\": ")),
                ("\"request\":", format!("\"x\":{brackets},\"request\":")),
                ("\"usage\"", format!("\"x\":{objects},\"usage\"")),
                ("\"log\":", format!("\"x\":{objects},\"log\":")),
                ("\"input_tokens\":", format!("\"input_tokens\":{digits}")),
                ("\"timestamp\":", format!("\"timestamp\":{digits}")),
                ("\"startTime\":", format!("\"startTime\":{digits}.{digits}")),
                ("\"startTimeUnixNano\":\"", format!("\"startTimeUnixNano\":\"{digits}")),
                ("\"wait\": ", format!("\"wait\": 1e{digits}")),
                ("\"intValue\":\"", format!("\"intValue\":\"{digits}")),
                ("\"ts\":", format!("\"ts\":{digits},\"ts\":")),
            ] {
                read(*format, text.replace(from, &to).as_bytes());
                read(*format, text.replacen(from, &to, 1).as_bytes());
            }
        }
    }
}

/// One property for each reader, so that a failure names it and CI spreads them.
fn mutated(format: Format, names: &[&str], pick: prop::sample::Index, edits: &[Edit]) -> Result<(), TestCaseError> {
    let mut bytes = fixture(names[pick.index(names.len())]);
    edits.iter().for_each(|edit| apply(&mut bytes, edit));
    let (first, second) = (read(format, &bytes), read(format, &bytes));
    prop_assert_eq!(format!("{first:?}"), format!("{second:?}"), "reading is deterministic");
    let auto = Inputs::from_bytes("memory", &bytes, InputFormat::Auto);
    let said = auto.skipped.len() + auto.unreadable.len() + auto.repaired.len();
    prop_assert!(auto.exchanges().count() + said > 0, "a file that gives nothing says why");
    let mut indices: Vec<_> = first.exchanges.iter().map(|exchange| exchange.origin.index).collect();
    indices.dedup();
    prop_assert_eq!(indices.len(), first.exchanges.len(), "no exchange is read twice");
    for exchange in &first.exchanges {
        prop_assert!(serde_json::from_slice::<&serde_json::value::RawValue>(&exchange.body).is_ok());
    }
    Ok(())
}

/// What an edit costs is accounted for: an exchange of the fixture is still there, or a place is named.
fn one_byte(
    format: Format,
    names: &[&str],
    pick: prop::sample::Index,
    at: prop::sample::Index,
    byte: u8,
) -> Result<(), TestCaseError> {
    let bytes = fixture(names[pick.index(names.len())]);
    let whole = read(format, &bytes);
    let mut edited = bytes;
    let at = at.index(edited.len());
    edited[at] = byte;
    let reading = read(format, &edited);
    prop_assert!(
        reading.exchanges.len() >= whole.exchanges.len() || !told(&reading).is_subset(&told(&whole)),
        "byte {} became {}: {} exchanges of {} and nothing said",
        at,
        byte,
        reading.exchanges.len(),
        whole.exchanges.len()
    );
    Ok(())
}

macro_rules! properties {
    ($($name:ident: $format:expr;)*) => {$(
        mod $name {
            use super::*;

            fn names() -> &'static [&'static str] {
                OF_FORMAT.iter().find(|(format, _)| *format == $format).unwrap().1
            }

            proptest! {
                #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

                #[test]
                fn mutations_break_nothing(
                    pick in any::<prop::sample::Index>(),
                    edits in proptest::collection::vec(edit(), 1..8),
                ) {
                    mutated($format, names(), pick, &edits)?;
                }

                #[test]
                fn the_cost_of_a_byte_is_reported(
                    pick in any::<prop::sample::Index>(),
                    at in any::<prop::sample::Index>(),
                    byte in any::<u8>(),
                ) {
                    one_byte($format, names(), pick, at, byte)?;
                }
            }
        }
    )*};
}

properties! {
    vcr: Format::Vcr;
    ruby_vcr: Format::RubyVcr;
    har: Format::Har;
    braintrust: Format::Braintrust;
    datadog: Format::Datadog;
    httpmock: Format::HttpMock;
    req_llm: Format::ReqLlm;
    wiremock: Format::WireMock;
    curl_log: Format::CurlLog;
    claude_trace: Format::ClaudeTrace;
    litellm: Format::LiteLlm;
    otel: Format::Otel;
    wire_capture: Format::WireCapture;
    batch: Format::Batch;
    bodies: Format::Bodies;
    exchange_log: Format::ExchangeLog;
}
