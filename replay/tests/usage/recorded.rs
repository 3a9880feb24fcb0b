//! Totals of every cassette folder compared with its files, to the token. The expected values come from two sources
//! that share no code with the readers: a table that others made from the same files, and `crude`. The meaning of each
//! provider's counts is written out here again.
//!
//! The recordings are not part of the project: if they are absent, these tests are skipped.

use std::collections::BTreeMap;

use forkcast_fixtures::beside;
use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_sim::pricing::{Money, ServiceTier};
use serde_json::Value;

use super::crude;
use crate::places::CASSETTES;

/// input, read, written, output
type Sums = [u64; 4];

/// Folder, file name, number of the interaction.
type Key = (String, String, usize);

struct Recorded {
    inputs: BTreeMap<String, Inputs>,
    crude: BTreeMap<Key, crude::Interaction>,
}

fn recorded() -> Option<Recorded> {
    let mut found = Recorded { inputs: BTreeMap::new(), crude: BTreeMap::new() };
    for folder in CASSETTES {
        let path = beside(folder)?;
        for entry in std::fs::read_dir(&path).unwrap() {
            let file = entry.unwrap().path();
            for (i, interaction) in crude::interactions(&std::fs::read(&file).unwrap()).into_iter().enumerate() {
                found.crude.insert((folder.to_owned(), name_of(&file.to_string_lossy()), i), interaction);
            }
        }
        found.inputs.insert(folder.to_owned(), Inputs::read(&[path], InputFormat::Auto).unwrap());
    }
    Some(found)
}

fn name_of(file: &str) -> String {
    file.rsplit('/').next().unwrap().trim_end_matches(".gz").to_owned()
}

impl Recorded {
    fn exchanges(&self) -> impl Iterator<Item = (Key, &Exchange)> {
        self.inputs.iter().flat_map(|(folder, inputs)| {
            let key = |exchange: &Exchange| (folder.clone(), name_of(&exchange.origin.file), exchange.origin.index);
            inputs.exchanges().map(move |exchange| (key(exchange), exchange))
        })
    }
}

fn at(usage: &Value, path: &str) -> u64 {
    path.split('.').fold(usage, |value, key| &value[key]).as_u64().unwrap_or(0)
}

/// The separate counts of an answer, by the convention of its address. `None` if more was read than the input has and
/// nothing confirms the prompt: such an answer must be refused.
fn by_convention(uri: &str, usage: &Value) -> Option<Sums> {
    let path = uri.split(['?', '#']).next().unwrap();
    let subset = |prompt: u64, read: u64, written: u64, output: u64| {
        Some([prompt.checked_sub(read)?.checked_sub(written)?, read, written, output])
    };
    if path.ends_with("/messages") || path.ends_with("/invoke") {
        // Disjoint counts. A compaction is missing at the top, so that its passes are summed.
        let passes = usage["iterations"].as_array().cloned().unwrap_or_default();
        let compacted = passes.iter().any(|pass| pass["type"] == "compaction");
        let passes = if compacted { passes } else { vec![usage.clone()] };
        let names = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
        Some(names.map(|name| passes.iter().map(|pass| at(pass, name)).sum()))
    } else if path.ends_with("/converse") {
        Some(
            ["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens"]
                .map(|name| at(usage, name)),
        )
    } else if path.ends_with("/responses") {
        let details = |name| at(usage, &format!("input_tokens_details.{name}"));
        let (read, written) = (details("cached_tokens"), details("cache_write_tokens"));
        subset(at(usage, "input_tokens"), read, written, at(usage, "output_tokens"))
    } else if path.ends_with("/completions") {
        let details = |name| at(usage, &format!("prompt_tokens_details.{name}"));
        let (prompt, read, written) =
            (at(usage, "prompt_tokens"), details("cached_tokens"), details("cache_write_tokens"));
        // Grok on Azure: more read than the prompt has, and a total that leaves it out.
        let hidden = read > prompt && at(usage, "total_tokens") == prompt + at(usage, "completion_tokens");
        let read = if hidden { 0 } else { read };
        let written = if read == written && read + written > prompt { 0 } else { written };
        subset(prompt, read, written, at(usage, "total_tokens") - prompt)
    } else if path.ends_with("/chat") {
        subset(at(usage, "tokens.input_tokens"), at(usage, "cached_tokens"), 0, at(usage, "tokens.output_tokens"))
    } else if path.ends_with(":generateContent") {
        let (prompt, read) = (at(usage, "promptTokenCount"), at(usage, "cachedContentTokenCount"));
        subset(prompt, read, 0, at(usage, "totalTokenCount") - prompt)
    } else if path.ends_with("/cachedContents") {
        Some([at(usage, "totalTokenCount"), 0, 0, 0])
    } else {
        panic!("no convention for {uri}")
    }
}

fn sums(exchange: &Exchange) -> Option<Sums> {
    let usage = exchange.usage?.usage;
    let written = usage.cache_creation_input_tokens();
    Some([usage.input_tokens, usage.cache_read_input_tokens, written, usage.output_tokens])
}

/// One row of the table.
#[derive(Default)]
struct Row {
    requests: usize,
    with_usage: usize,
    refused: usize,
    found: Sums,
    expected: Sums,
}

fn add(sum: &mut Sums, more: Sums) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

#[test]
fn totals_of_every_cassette_folder_equal_the_recorded_usage_for_every_provider() {
    let Some(recorded) = recorded() else { return };
    let mut rows: BTreeMap<(String, String, &str), Row> = BTreeMap::new();
    for (key, exchange) in recorded.exchanges() {
        let raw = &recorded.crude[&key];
        let usage = raw.usage.as_ref().unwrap_or_else(|| panic!("{key:?}: nothing found in the text"));
        let row = (key.0.clone(), exchange.provider.clone(), exchange.dialect.name());
        let row = rows.entry(row).or_default();
        row.requests += 1;
        match (sums(exchange), by_convention(&raw.uri, usage)) {
            (Some(found), Some(expected)) => {
                assert_eq!(found, expected, "{key:?}: {usage}");
                row.with_usage += 1;
                add(&mut row.found, found);
                add(&mut row.expected, expected);
            }
            (None, None) => row.refused += 1,
            (found, expected) => panic!("{key:?}: found {found:?}, expected {expected:?} of {usage}"),
        }
    }
    print(&rows);
    let count = |of: fn(&Row) -> usize| rows.values().map(of).sum::<usize>();
    assert_eq!((count(|row| row.requests), count(|row| row.refused)), (399, 0));
    for (row, counts) in &rows {
        assert_eq!(counts.found, counts.expected, "{row:?}");
        assert_eq!(counts.requests, counts.with_usage + counts.refused, "{row:?}");
    }
}

fn print(rows: &BTreeMap<(String, String, &str), Row>) {
    let head = ["input", "read", "written", "output"].map(|name| format!("{name:>8}")).join(" ");
    println!(
        "{:24} {:10} {:16} {:>8} {:>6} {:>7} {head}",
        "folder", "provider", "dialect", "requests", "usage", "refused"
    );
    for ((folder, provider, dialect), row) in rows {
        let sums = row.found.map(|sum| format!("{sum:>8}")).join(" ");
        let provider: String = provider.chars().take(10).collect();
        let counts = format!("{:>8} {:>6} {:>7}", row.requests, row.with_usage, row.refused);
        println!("{folder:24} {provider:10} {dialect:16} {counts} {sums}");
    }
}

#[test]
fn every_refusal_and_every_answer_that_was_passed_over_has_its_reason() {
    let Some(recorded) = recorded() else { return };
    let exchanges: BTreeMap<Key, &Exchange> = recorded.exchanges().collect();
    let reasons: Vec<&str> =
        recorded.inputs.values().flat_map(|inputs| &inputs.unreadable).map(|fault| fault.reason.as_str()).collect();
    assert!(reasons.is_empty(), "{reasons:#?}");
    assert!(exchanges.values().all(|exchange| exchange.usage.is_some()));
    // Implausible counts of an answer are listed.
    let doubtful = recorded.inputs.values().flat_map(|inputs| &inputs.repaired);
    let hidden: Vec<_> = doubtful.filter(|repaired| repaired.what.contains("taken as plain input")).collect();
    assert_eq!(hidden.len(), 29);
    assert!(hidden.iter().all(|repaired| repaired.file.contains("azure_grok") || repaired.file.contains("_azure_")));
    // Usage in the text that is not of an exchange: the size of stored prompts, and answers of a batch, fetched later.
    let mut passed = BTreeMap::new();
    for (key, raw) in recorded.crude.iter().filter(|(key, raw)| raw.usage.is_some() && !exchanges.contains_key(*key)) {
        let kind = ["cachedContents", "batches"].into_iter().find(|kind| raw.uri.contains(kind));
        *passed.entry(kind.unwrap_or_else(|| panic!("{key:?}: {}", raw.uri))).or_insert(0) += raw.objects;
        let place = format!("interaction {}, line", key.2);
        let skipped = &recorded.inputs[&key.0].skipped;
        assert!(
            skipped.iter().any(|skipped| name_of(&skipped.file) == key.1 && skipped.reason.starts_with(&place)),
            "{key:?}"
        );
    }
    assert_eq!(passed, BTreeMap::from([("batches", 2), ("cachedContents", 1)]));
    let skipped = recorded.inputs.values().flat_map(|inputs| &inputs.skipped);
    let unread =
        skipped.filter(|skipped| skipped.reason.ends_with("fetches answers of a batch, which are not read yet"));
    assert_eq!(unread.count(), 1);
}

#[test]
fn the_table_made_by_others_has_the_same_counts() {
    let Some((recorded, path)) = recorded().zip(beside("derived/cassette_interactions.jsonl")) else { return };
    let exchanges: BTreeMap<Key, &Exchange> = recorded.exchanges().collect();
    let (mut compared, mut passed) = (0, 0);
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| row[name].as_str().unwrap();
        let key = (text("source").to_owned(), name_of(text("file")), row["i"].as_u64().unwrap() as usize);
        let (raw, usage) = (&recorded.crude[&key], &row["usage"]);
        let Some(exchange) = exchanges.get(&key).filter(|_| usage.is_object()) else {
            passed += 1;
            continue;
        };
        let Some(expected) = by_convention(&raw.uri, usage) else {
            assert_eq!(exchange.usage, None, "{key:?}");
            continue;
        };
        assert_eq!(sums(exchange), Some(expected), "{key:?}: {usage}");
        compared += 1;
    }
    println!("{compared} rows have the same counts; {passed} are no model requests or have no usage in the table");
    assert!(compared >= 300, "{compared}");
}

/// xAI and `OpenRouter` include the cost in the answer. At their published prices our counts cost exactly that, so no
/// token is in the wrong part: grok-4.3 1.25, read 0.20, output 2.50, a search 0.005 USD (docs.x.ai/docs/models,
/// 2026-08); claude-sonnet-4.6 3, read 0.30, written 3.75, output 15 (Anthropic price page, 2026-08), per million
/// tokens.
#[test]
fn the_cost_reported_by_an_answer_is_the_price_of_its_counts() {
    let Some(recorded) = recorded() else { return };
    let mut checked = BTreeMap::new();
    for (key, exchange) in recorded.exchanges() {
        let Some((usage, cost)) = exchange.usage.and_then(|usage| Some((usage, usage.reported_cost?))) else {
            continue;
        };
        // Prices in 10⁻⁸ USD per token.
        let prices: [i128; 4] = match exchange.model.as_str() {
            "grok-4.3" => [125, 20, 0, 250],
            "anthropic/claude-sonnet-4.6" => [300, 30, 375, 1_500],
            _ => continue,
        };
        let counts = sums(exchange).unwrap().map(i128::from);
        let tokens: i128 = counts.iter().zip(prices).map(|(tokens, price)| tokens * price * 10_000).sum();
        let searches = i128::from(usage.web_search_requests) * 5_000_000_000;
        assert_eq!(cost, Money::from_picousd(tokens + searches), "{key:?}");
        *checked.entry(exchange.provider.clone()).or_insert(0) += 1;
    }
    assert_eq!(checked, BTreeMap::from([("anthropic".to_owned(), 19), ("xai".to_owned(), 51)]));
}

#[test]
fn tiers_regions_models_and_searches_are_reported_as_recorded() {
    let Some(recorded) = recorded() else { return };
    let all: Vec<&Exchange> = recorded.exchanges().map(|(_, exchange)| exchange).collect();
    assert!(all.iter().all(|exchange| exchange.tier == ServiceTier::Standard && !exchange.model.is_empty()));
    let told = all.iter().filter(|exchange| exchange.usage.is_some_and(|usage| usage.tier.is_some()));
    assert!(told.count() > 150);
    let regions = all.iter().filter_map(|exchange| exchange.region.as_deref());
    let mut regions: Vec<&str> = regions.collect();
    regions.sort_unstable();
    regions.dedup();
    assert_eq!(regions, ["<AWS_REGION>", "eu-central-1", "us-east-1"]);
    let searches: u64 = all.iter().filter_map(|exchange| exchange.usage).map(|usage| usage.web_search_requests).sum();
    let runs: u64 = all.iter().filter_map(|exchange| exchange.usage).map(|usage| usage.code_execution_requests).sum();
    assert_eq!(
        (searches, runs),
        (14, 3),
        "seven, one, one and one of GPT, two and two of Grok; three runs of GPT's code"
    );
}
