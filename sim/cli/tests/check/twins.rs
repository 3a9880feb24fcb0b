//! The twin law (`design.md` 6) on bugs that users reported: the reported cost of a bug equals the cost of its
//! conversation minus that of the same conversation without the bug, except for tokens that only one of the two has.

use std::path::Path;

use forkcast_fixtures::beside;
use serde_json::Value;

use super::bodies::{folder, json};

/// The bugs with a twin and a modelled cache.
const BUGS: [&str; 13] = [
    "agents_in_task",
    "cch_nonce",
    "date_midnight",
    "deferred_list",
    "files_list",
    "listtools_order",
    "mcp_reconnect",
    "mem_in_tool",
    "memory_edit",
    "prefill_counts",
    "time_hour",
    "tool_choice_last",
    "tool_enum_dates",
];

/// Bugs whose twin has the same size, so that the law holds to the last unit.
const EXACT: [&str; 2] = ["listtools_order", "mcp_reconnect"];

/// The program's results for a conversation.
struct Said {
    /// The cost of each request.
    costs: Vec<f64>,
    /// The tokens of each prompt.
    prompts: Vec<f64>,
    /// The highest price per token of a prompt.
    token_price: f64,
    /// The costs of all causes, from `replay`.
    causes: f64,
    /// The costs of all findings, from `check`.
    findings: f64,
}

impl Said {
    fn of(place: &Path, conversation: &Path) -> Self {
        let input = conversation.to_str().unwrap();
        let replay = json(place, &["replay", input, "--quiet", "--out", "out"]);
        let check = json(place, &["check", input, "--quiet", "--lock", "none"]);
        let ledger = std::fs::read_to_string(place.join("out/ledger.jsonl")).unwrap();
        let lines: Vec<Value> = ledger.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let sum = |rows: &Value| rows.as_array().unwrap().iter().map(|row| row["cost_usd"].as_f64().unwrap()).sum();
        let rows = lines.iter().flat_map(|line| line["bill"].as_array().unwrap());
        let prices = rows.filter(|row| row["category"] != "output" && row["tokens"] != 0);
        Self {
            costs: lines.iter().map(|line| line["predicted_cost_usd"].as_f64().unwrap()).collect(),
            prompts: lines.iter().map(prompt_tokens).collect(),
            token_price: prices
                .map(|row| row["cost_usd"].as_f64().unwrap() / row["tokens"].as_f64().unwrap())
                .fold(0.0, f64::max),
            causes: sum(&replay["totals"]["causes"]),
            findings: sum(&check["findings"]),
        }
    }
}

fn prompt_tokens(line: &Value) -> f64 {
    let usage = &line["predicted"];
    ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
        .map(|field| usage[field].as_f64().unwrap())
        .iter()
        .sum()
}

#[test]
fn the_cost_of_a_real_bug_is_the_bill_less_the_bill_of_its_twin() {
    let Some(bugs) = beside("real-bugs") else { return };
    let place = folder("twins");
    println!("| bug | more than the twin | `check` | `replay` |\n|---|---|---|---|");
    for bug in BUGS {
        let said = Said::of(&place, &bugs.join(bug));
        let twin = Said::of(&place, &bugs.join(format!("{bug}.twin")));
        let more: f64 = said.costs.iter().zip(&twin.costs).map(|(said, twin)| said - twin).sum();
        println!("| {bug} | ${more:.6} | ${:.6} | ${:.6} |", said.findings, said.causes);
        assert_eq!(twin.findings, 0.0, "{bug}: the twin has no bug");
        // Both verbs use one judge; only the order of their sums differs.
        assert!((said.findings - said.causes).abs() < 1e-9, "{bug}: check {}, replay {}", said.findings, said.causes);
        let differing_tokens: f64 =
            said.prompts.iter().zip(&twin.prompts).map(|(said, twin)| (said - twin).abs()).sum();
        let slack = if EXACT.contains(&bug) { 1e-9 } else { differing_tokens * said.token_price + more.abs() * 0.02 };
        assert!((more - said.findings).abs() <= slack, "{bug}: {more} more, {} said, {slack} allowed", said.findings);
    }
}

/// If `replay` has no rules for a provider's cache, `check` does not report the cost of a change either.
#[test]
fn a_cost_is_unknown_if_no_cache_is_modelled() {
    let Some(bugs) = beside("real-bugs") else { return };
    let place = folder("unmodelled");
    let (mut known, mut unknown) = (0, 0);
    for bug in std::fs::read_dir(bugs).unwrap() {
        let path = bug.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let input = path.to_str().unwrap();
        let replay = json(&place, &["replay", input, "--quiet"]);
        let is_modelled = !replay["totals"]["predicted"].is_null();
        let check = json(&place, &["check", input, "--quiet", "--lock", "none"]);
        for finding in check["findings"].as_array().unwrap() {
            let is_known = !finding["tokens_lost"].is_null();
            assert_eq!(is_known, is_modelled, "{input}: {finding}");
            assert_eq!(is_known, finding["cost_unknown"] != "no_cache_model", "{input}: {finding}");
            assert!(is_known || finding["cost_usd"].is_null() && finding["billed_as"].is_null(), "{input}: {finding}");
            *if is_known { &mut known } else { &mut unknown } += 1;
        }
    }
    assert!(known > 20 && unknown > 20, "{known} known, {unknown} unknown");
}
