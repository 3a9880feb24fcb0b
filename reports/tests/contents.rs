//! The contents of prompts add up to the bill, for recorded requests and for transcripts.

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_reports::format::by_column;
use forkcast_reports::names::Names;
use forkcast_reports::record::Record;
use forkcast_reports::report::Report;
use serde_json::Value;

/// Picodollars of a JSON number, exactly.
fn exact(value: &Value) -> i128 {
    let text = value.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    format!("{whole}{part:0<12}").parse().unwrap()
}

/// The rows of an input, after their sums were compared with the bill.
fn rows(inputs: &Inputs) -> Vec<Value> {
    let options = Options { composes: true, ..Options::default() };
    let replay = replay(inputs, &options);
    let report = Report::new(inputs, &replay, &options, Names::Plain);
    let data = by_column::of(&report).unwrap();
    let rows: Vec<Value> = data.contents.rows(&report).map(|row| serde_json::to_value(row.value()).unwrap()).collect();
    let tokens: u64 = rows.iter().map(|row| row["tokens"].as_u64().unwrap()).sum();
    assert_eq!(tokens, report.totals.billed.usage.total_input_tokens());
    let cost: i128 = rows.iter().map(|row| exact(&row["cost_usd"])).sum();
    let spending = report.totals.spending;
    let input = (spending.read + spending.writes() + spending.input).picousd();
    // A part of a price is rounded for each request and content.
    assert!((cost - input).abs() <= 3 * (report.tally.requests as i128) * rows.len() as i128, "{cost} {input}");
    assert!(input > 0);
    rows
}

fn has(rows: &[Value], content: &str, tool: Option<&str>) -> bool {
    rows.iter().any(|row| row["content"] == content && row["tool"].as_str() == tool)
}

#[test]
fn recorded_requests_have_tools_system_and_results_by_tool() {
    let rows = rows(&Inputs::sample());
    for (content, tool) in [("tools", None), ("system", None), ("calls", None), ("results", Some("read_file"))] {
        assert!(has(&rows, content, tool), "{content} {tool:?}: {rows:?}");
    }
    assert!(!has(&rows, "hidden", None), "a recorded request hides nothing");
}

#[test]
fn transcripts_hide_tools_and_system_and_name_tools_of_results() {
    let path = forkcast_fixtures::fixture("claude-code.jsonl");
    let rows = rows(&Inputs::read(&[path], InputFormat::Auto).unwrap());
    assert!(has(&rows, "hidden", None), "{rows:?}");
    assert!(rows.iter().any(|row| row["content"] == "results" && row["tool"].is_string()), "{rows:?}");
}
