//! The user's own prices: price books, single prices, discounts.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{code, command, folder, forkcast, json, stderr, stdout};

fn replayed(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["replay", "--quiet", "--format", "json"], arguments].concat();
    json(&forkcast(folder, &arguments))
}

fn cost(report: &Value) -> String {
    report["totals"]["recorded"]["cost_usd"].to_string()
}

fn complaint(folder: &Path, arguments: &[&str]) -> String {
    let output = forkcast(folder, arguments);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

/// The sample has 28 plain, 13,073 written, 19,755 read and 1,211 output tokens of claude-opus-4-8.
const BOOK: &str = "[[price]]\nmodel = \"claude-opus-4-8\"\ninput = 1\nread = 0.5\noutput = 2\n";

#[test]
fn a_book_replaces_the_prices_of_its_models() {
    let place = folder("prices-book");
    fs::write(place.join("mine.toml"), BOOK).unwrap();
    let report = replayed(&place, &["--price-book", "mine.toml"]);
    // 28 × 1 + 13,073 × 1 (no fee for writing) + 19,755 × 0.5 + 1,211 × 2 = 25,400.5 per million.
    assert_eq!(cost(&report), "0.0254005");
    assert_eq!(report["price_book"]["statement"], "prices of mine.toml, else list prices of the day of each request");
    assert_eq!(report["price_book"]["files"], serde_json::json!(["mine.toml"]));
}

#[test]
fn single_prices_override_books_and_a_discount_applies_to_all() {
    let place = folder("prices-one");
    fs::write(place.join("mine.toml"), BOOK).unwrap();
    let prices = ["--price-book", "mine.toml", "--price", "claude-opus-4-8:output=10", "--discount", "12.5"];
    let report = replayed(&place, &prices);
    // (28 + 13,073 + 9,877.5 + 12,110) × 0.875 = 30,702.4375 per million; its lines are rounded separately.
    assert_eq!(cost(&report), "0.0307024375");
    let statement =
        "1 price given by hand, else prices of mine.toml, else list prices of the day of each request, less 12.5 %";
    assert_eq!(report["price_book"]["statement"], statement);
    assert_eq!(report["price_book"]["discount_percent"].to_string(), "12.5");
    let output = forkcast(&place, &[&["replay", "--quiet"], &prices[..]].concat());
    let human = String::from_utf8(output.stdout).unwrap();
    assert!(human.contains("1 price given by hand, else prices of mine.toml, else list prices"), "{human}");
    let output = forkcast(&place, &[&["replay", "--quiet", "--format", "markdown"], &prices[..]].concat());
    assert!(String::from_utf8(output.stdout).unwrap().contains("less 12.5 %"));
}

#[test]
fn explain_uses_the_prices_of_the_run() {
    let place = folder("prices-explain");
    fs::write(place.join("mine.toml"), BOOK).unwrap();
    let prices = ["--price-book", "mine.toml", "--price", "claude-opus-4-8:output=10", "--discount", "12.5"];
    replayed(&place, &[&prices[..], &["--out", "run"]].concat());
    let ledger = fs::read_to_string(place.join("run/ledger.jsonl")).unwrap();
    let line: Value = serde_json::from_str(ledger.lines().nth(3).unwrap()).unwrap();
    let output = forkcast(&place, &["explain", "run", "3", "--format", "json"]);
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(explained["cost_usd"], line["cost_usd"]);
}

/// The introductory price of this model ended on a day between the zero of the virtual clock and the day of the run.
#[test]
fn a_run_costs_the_same_when_its_folder_or_its_log_is_replayed() {
    let place = folder("prices-run");
    let run = ["run", "--set", "session.model=claude-sonnet-5-5", "--out", "run", "--bodies", "--format", "json"];
    let run = json(&forkcast(&place, &run));
    let cost = |replay: &Value| replay["totals"]["predicted"]["cost_usd"].to_string();
    for path in ["run", "run/exchanges.jsonl"] {
        let replayed = replayed(&place, &[path, "--cache", "docs-2026-09"]);
        assert_eq!(cost(&replayed), run["totals"]["cost_usd"].to_string(), "{path}");
    }
    let at_another_price = replayed(&place, &["run", "--price", "claude-sonnet-5-5:output=100"]);
    assert_ne!(cost(&at_another_price), run["totals"]["cost_usd"].to_string());
}

#[test]
fn errors_in_books_and_prices_name_the_expected_value() {
    let place = folder("prices-broken");
    fs::write(place.join("bad.toml"), "[[price]]\nmodel = \"x\"\ninput = -1\noutput = 2\n").unwrap();
    let found = complaint(&place, &["replay", "--price-book", "bad.toml"]);
    assert!(found.contains("bad.toml:3:9: found `-1`, expected USD per million tokens"), "{found}");
    let found = complaint(&place, &["replay", "--price-book", "none.toml"]);
    assert!(found.contains("--price-book none.toml: "), "{found}");
    let found = complaint(&place, &["replay", "--price", "claude-opus-5=1"]);
    assert!(found.contains("expected MODEL:CATEGORY=USD"), "{found}");
    let found = complaint(&place, &["replay", "--price", "claude-opus-5:reads=1"]);
    assert!(found.contains("no category `reads`, expected one of: input, write_5m, write_1h, read, output"), "{found}");
    let found = complaint(&place, &["replay", "--price", "mine:read=1"]);
    assert!(found.contains("no price for mine (input, write_5m, write_1h, output)"), "{found}");
    for discount in ["101", "-1", "a", "1.00001"] {
        let found = complaint(&place, &["replay", &format!("--discount={discount}")]);
        assert!(found.contains("expected a percentage from 0 to 100"), "{found}");
    }
}

#[test]
fn the_listed_book_can_be_edited_and_used() {
    let place = folder("prices-list");
    assert_eq!(forkcast(&place, &["list", "prices", "--out", "."]).status.code(), Some(0));
    let book = fs::read_to_string(place.join("prices.toml")).unwrap();
    let usual = cost(&replayed(&place, &[]));
    assert_eq!(cost(&replayed(&place, &["--price-book", "prices.toml"])), usual);
    // Written again, the book is the same; once changed, it is the user's.
    assert_eq!(forkcast(&place, &["list", "prices", "--out", "."]).status.code(), Some(0));
    fs::write(place.join("prices.toml"), format!("{book}# mine\n")).unwrap();
    assert!(complaint(&place, &["list", "prices", "--out", "."]).contains("not replaced"));
}

#[test]
fn diff_takes_prices_too() {
    let place = folder("prices-diff");
    let body = |day: u8| {
        let text = "Be brief. ".repeat(400);
        let content = format!(r#"[{{"type":"text","text":"{text}","cache_control":{{"type":"ephemeral"}}}}]"#);
        let system = format!("Today is 2026-11-{day}.");
        format!(r#"{{"model":"my-model","system":"{system}","messages":[{{"role":"user","content":{content}}}]}}"#)
    };
    fs::write(place.join("a.json"), body(20)).unwrap();
    fs::write(place.join("b.json"), body(21)).unwrap();
    fs::write(place.join("mine.toml"), BOOK.replace("claude-opus-4-8", "my-model")).unwrap();
    let of = |arguments: &[&str]| -> Value {
        let all = [&["diff", "a.json", "b.json", "--format", "json"], arguments].concat();
        serde_json::from_slice(&forkcast(&place, &all).stdout).unwrap()
    };
    assert_eq!(of(&[])["cost_usd"], Value::Null);
    let (full, half) = (of(&["--price-book", "mine.toml"]), of(&["--price-book", "mine.toml", "--discount", "50"]));
    let usd = |found: &Value| found["cost_usd"].as_f64().unwrap();
    assert!(usd(&full) > 0.0 && (usd(&full) / usd(&half) - 2.0).abs() < 1e-6, "{full} {half}");
}

/// A row of each public table, with one price that the book has otherwise. Written by hand in the shape of the table.
const PUBLIC_TABLES: [(&str, &str); 3] = [
    (
        "genai-prices",
        r#"[{"id":"anthropic","models":[
            {"id":"claude-sonnet-4-6","prices":[
                {"prices":{"input_mtok":9,"output_mtok":9}},
                {"constraint":{"start_date":"2026-03-13"},
                 "prices":{"input_mtok":{"base":3,"tiers":[{"start":200000,"price":6}]},"cache_read_mtok":0.7}},
                {"constraint":{"start_date":"2027-01-01"},"prices":{"input_mtok":8}},
                {"constraint":{"start_time":"00:30:00Z"},"prices":{"input_mtok":8}}]},
            {"id":"claude-opus-5","prices":{"input_mtok":5,"cache_write_mtok":6.25,"cache_write_1h_mtok":10}},
            {"id":"claude-unheard-of","prices":{"input_mtok":1}}]},
          {"id":"aws","models":[{"id":"anthropic.claude-opus-5","prices":{"input_mtok":1}}]}]"#,
    ),
    (
        "models.dev",
        r#"{"anthropic":{"models":{"claude-sonnet-4-6":{"cost":{"input":3,"output":15,"cache_read":0.7}},
                                   "claude-opus-5":{"cost":{"input":5,"output":25,"cache_write":6.25}}}},
            "openrouter":{"models":{"anthropic/claude-opus-5":{"cost":{"input":1,"output":1}}}}}"#,
    ),
    (
        "LiteLLM",
        r#"{"sample_spec":{"input_cost_per_token":0},
            "claude-sonnet-4-6":{"litellm_provider":"anthropic","input_cost_per_token":3e-06,
                                 "cache_read_input_token_cost":7e-07},
            "claude-opus-5":{"litellm_provider":"anthropic","input_cost_per_token":5e-06,
                             "cache_creation_input_token_cost_above_1hr":1e-05,"output_cost_per_token":2.5e-05},
            "us.anthropic.claude-opus-5":{"litellm_provider":"bedrock_converse","input_cost_per_token":1e-06}}"#,
    ),
];

#[test]
fn the_book_is_compared_with_public_tables() {
    let folder = folder("public-tables");
    for (kind, text) in PUBLIC_TABLES {
        fs::write(folder.join("table.json"), text).unwrap();
        let output = forkcast(&folder, &["list", "prices", "--check", "table.json", "--format", "json"]);
        assert_eq!(code(&output), 1, "{kind}: {}", stderr(&output));
        let found: Value = serde_json::from_str(stdout(&output)).unwrap();
        let differences = found["differences"].as_array().unwrap();
        assert_eq!(differences.len(), 1, "{kind}: {found}");
        let price = |name: &str| differences[0][name].to_string();
        assert_eq!(differences[0]["model"], "claude-sonnet-4-6", "{kind}");
        assert_eq!(differences[0]["category"], "read", "{kind}");
        assert_eq!((price("book_usd_per_mtok"), price("table_usd_per_mtok")), ("0.3".to_owned(), "0.7".to_owned()));
        let output = forkcast(&folder, &["list", "prices", "--check", "table.json", "--prices", "2026-11-20"]);
        assert!(stdout(&output).contains(&format!("beside {kind}, prices of 2026-11-20: 1 of 2 models agree")));
    }
}

#[test]
fn a_table_that_agrees_is_no_failure_and_another_file_is_an_error() {
    let folder = folder("other-tables");
    fs::write(
        folder.join("same.json"),
        r#"{"claude-opus-5":{"litellm_provider":"anthropic","input_cost_per_token":5e-06}}"#,
    )
    .unwrap();
    let output = forkcast(&folder, &["list", "prices", "--check", "same.json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("1 of 1 models agree"));
    for (name, text) in [("no.json", "{]"), ("other.json", r#"{"a":[1],"b":null}"#)] {
        fs::write(folder.join(name), text).unwrap();
        let output = forkcast(&folder, &["list", "prices", "--check", name]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(name) && stderr(&output).contains("expected"), "{}", stderr(&output));
    }
    assert_eq!(code(&forkcast(&folder, &["list", "models", "--check", "same.json"])), 2);
}

#[test]
fn old_prices_are_mentioned_unless_the_user_chose_some() {
    /// 2027-01-01.
    const LATER: &str = "1798761600";
    let later = |arguments: &[&str]| {
        let output = command(&folder("old-prices"), arguments).env("SOURCE_DATE_EPOCH", LATER).output().unwrap();
        stderr(&output).to_owned()
    };
    for verb in ["demo", "run"] {
        assert!(later(&[verb]).contains("39 days old (2026-11-23)"), "{}", later(&[verb]));
    }
    assert!(!later(&["demo", "--prices", "2026-11-01"]).contains("days old"));
    assert!(!later(&["demo", "--price", "claude-opus-4-8:input=1"]).contains("days old"));
    assert!(!later(&["demo", "--quiet"]).contains("days old"));
    assert!(!stderr(&forkcast(&folder("new-prices"), &["demo"])).contains("days old"));
}
