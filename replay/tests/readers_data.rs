//! Readers on the recordings next to the workspace. They are not part of the project: without them these tests skip.

use std::collections::BTreeMap;

use forkcast_fixtures::beside;
use forkcast_replay::exchange::{ANTHROPIC, Dialect, Exchange};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_sim::time::Instant;
use serde_json::Value;

fn read(path: &str) -> Option<Inputs> {
    Some(Inputs::read(&[beside(path)?], InputFormat::Auto).unwrap())
}

fn rows(path: &str) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(beside(path)?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Exchanges, exchanges with usage, skipped, unreadable.
fn tally(inputs: &Inputs) -> (usize, usize, usize, usize) {
    let with_usage = inputs.exchanges().filter(|exchange| exchange.usage.is_some()).count();
    (inputs.exchanges().count(), with_usage, inputs.skipped.len(), inputs.unreadable.len())
}

#[test]
fn every_folder_is_read_as_counted_by_hand() {
    let expected = [
        ("cassettes-crewai", (40, 40, 8, 0)),
        ("cassettes-dd-trace-py", (18, 18, 3, 0)),
        ("cassettes-openinference", (6, 6, 8, 0)),
        ("cassettes-openllmetry", (13, 13, 2, 0)),
        ("cassettes-pydantic-ai", (134, 134, 19, 0)),
        ("cassettes-ruby-llm", (188, 188, 16, 0)),
        ("wire-cache-fix", (110, 92, 227, 0)),
    ];
    for (folder, counts) in expected {
        let Some(inputs) = read(folder) else { continue };
        assert_eq!(tally(&inputs), counts, "{folder}: {:?}", inputs.unreadable);
        let mended = match folder {
            // One answer of Gemini through OpenRouter writes and reads the same tokens.
            "cassettes-pydantic-ai" => 1,
            // Answers of Grok on Azure claim more cached tokens than the prompt has.
            "cassettes-ruby-llm" => 29,
            _ => 0,
        };
        assert_eq!(inputs.repaired.len(), mended, "{folder}: {:?}", inputs.repaired);
    }
}

#[test]
fn all_joins_of_the_wire_captures_succeed() {
    let Some(rows) = rows("derived/wire_requests.jsonl") else { return };
    let captures = [
        ("pinned-s-4b6a435234bf-26-28.full", "wire-cache-fix/harvested/pinned-s-4b6a435234bf-26-28.full.json.gz", 24),
        ("pinned-s-86a4ec44206b-69-71", "wire-cache-fix/harvested/pinned-s-86a4ec44206b-69-71.json.gz", 68),
    ];
    for (name, path, joins) in captures {
        let Some(inputs) = read(path) else { continue };
        let rows: Vec<_> = rows.iter().filter(|row| row["capture"] == name).collect();
        let all: Vec<_> = inputs.exchanges().collect();
        assert_eq!(all.len(), rows.len(), "{name}");
        assert_eq!(all.iter().filter(|exchange| exchange.usage.is_some()).count(), joins);
        for (exchange, row) in all.iter().zip(rows) {
            let (found, expected) = (joined(exchange), expected_join(row));
            assert_eq!(found.map(|join| join.0), expected.map(|join| join.0), "{name} {}", row["i"]);
            // The proxy rounded its own clock twice: `ms` and the difference of the instants agree within 1 ms.
            let apart = found.zip(expected).map_or(0, |(found, expected)| found.1.abs_diff(expected.1));
            assert!(apart <= 1, "{name} {}: {apart} ms", row["i"]);
            assert!(exchange.altered && exchange.model == row["model"].as_str().unwrap());
        }
    }
}

type Join = Option<([u64; 5], u64)>;

fn joined(exchange: &Exchange) -> Join {
    let recorded = exchange.usage?;
    assert!(recorded.output_is_start_value && recorded.split_by_ttl);
    let took = exchange.ended_at?.since(exchange.sent_at.unwrap_or(Instant(0))).as_millis();
    let usage = recorded.usage;
    let (short, long) = (usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens);
    Some(([usage.input_tokens, usage.cache_read_input_tokens, short, long, usage.output_tokens], took))
}

fn expected_join(row: &Value) -> Join {
    let usage = row["usage"].as_object()?;
    let count = |name: &str| usage[name].as_u64().unwrap();
    let names = ["inputTokens", "cacheRead", "ephemeral5m", "ephemeral1h", "outputTokens"];
    Some((names.map(count), row["ms"].as_u64().unwrap()))
}

#[test]
fn cassettes_agree_with_the_table_made_from_them() {
    let Some(rows) = rows("derived/cassette_interactions.jsonl") else { return };
    let mut found = BTreeMap::new();
    for folder in ["crewai", "dd-trace-py", "openinference", "openllmetry", "pydantic-ai"] {
        let Some(inputs) = read(&format!("cassettes-{folder}")) else { return };
        for exchange in inputs.exchanges().filter(|exchange| exchange.provider == ANTHROPIC) {
            let file = exchange.origin.file.rsplit('/').next().unwrap().trim_end_matches(".gz").to_owned();
            found.insert((format!("cassettes-{folder}"), file, exchange.origin.index), exchange.clone());
        }
    }
    let mut compared = 0;
    for row in &rows {
        let file = row["file"].as_str().unwrap().trim_end_matches(".gz").to_owned();
        let key = (row["source"].as_str().unwrap().to_owned(), file, row["i"].as_u64().unwrap() as usize);
        let Some(exchange) = found.get(&key) else { continue };
        let markers = String::from_utf8_lossy(&exchange.body).matches("\"cache_control\":").count();
        let listed = row["markers"].as_array().unwrap().len();
        // The table lists cache points of messages only, not those of tools and system.
        let agree = if exchange.dialect == Dialect::BedrockConverse { markers >= listed } else { markers == listed };
        assert!(agree, "{markers} markers, {listed} in the table: {key:?}");
        if row["usage"].is_object() && row["usage"]["iterations"].as_array().is_none_or(|passes| passes.len() < 2) {
            assert_eq!(read_and_total(exchange), table_read_and_total(&row["usage"]), "{key:?}");
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}

fn read_and_total(exchange: &Exchange) -> (u64, u64) {
    let usage = exchange.usage.unwrap().usage;
    (usage.cache_read_input_tokens, usage.total_input_tokens())
}

/// The table keeps each provider's own names.
fn table_read_and_total(usage: &Value) -> (u64, u64) {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    if usage.get("prompt_tokens").is_some() {
        return (usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0), count("prompt_tokens"));
    }
    if usage.get("inputTokens").is_some() {
        let read = count("cacheReadInputTokens");
        return (read, count("inputTokens") + read + count("cacheWriteInputTokens"));
    }
    let read = count("cache_read_input_tokens");
    (read, count("input_tokens") + read + count("cache_creation_input_tokens"))
}
