//! Counted sizes from the command line.

use std::fs;
use std::path::PathBuf;

use crate::program::{self, fine, forkcast, json};

/// A folder with one recording: three requests to a Claude model, one to OpenAI.
fn folder(name: &str) -> PathBuf {
    let path = program::folder(name);
    let claude = |tokens: u64| {
        format!(
            r#"{{"v":1,"request":{{"model":"claude-sonnet-4-6","messages":[{{"role":"user","content":"{}"}}]}},"response":{{"usage":{{"input_tokens":{tokens},"output_tokens":3}}}}}}"#,
            "All work and no play makes a dull agent. ".repeat(20)
        )
    };
    let gpt = r#"{"v":1,"request":{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]},"response":{"usage":{"prompt_tokens":8,"completion_tokens":1}}}"#;
    fs::write(path.join("log.jsonl"), [claude(300), claude(310), claude(320), gpt.to_owned()].join("\n")).unwrap();
    path
}

#[test]
fn counted_sizes_are_shown_with_the_bill_and_their_error() {
    let folder = folder("sizes_both");
    let text = fine(&forkcast(&folder, &["replay", "log.jsonl", "--sizes", "both", "--quiet"])).to_owned();
    for part in ["Error of counted sizes", "claude is an estimate:", "nine of ten within", "calibrated", "exact"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("Token factors fitted"));
    let plain = fine(&forkcast(&folder, &["replay", "log.jsonl", "--quiet"])).to_owned();
    assert!(!plain.contains("counted sizes"));
}

#[test]
fn a_fit_is_shown_and_used() {
    let folder = folder("sizes_fit");
    let arguments = ["replay", "log.jsonl", "--sizes", "both", "--calibrate", "--format", "json", "--quiet"];
    let value = json(&forkcast(&folder, &arguments));
    let generation = &value["sizes"]["calibration"]["generations"][0];
    assert_eq!((generation["tokenizer"].as_str(), generation["requests"].as_u64()), (Some("claude"), Some(3)));
    // Three requests of about 310 tokens, which the built-in factors estimate lower: the sum of a fit is closer than
    // that of the built-in factors.
    let error = |name: &str| generation[name].as_f64().unwrap().abs();
    assert!(error("sum_error") < error("built_in_sum_error"), "{generation}");
    let rows = value["sizes"]["counted"]["tokenizers"].as_array().unwrap();
    let gpt = rows.iter().find(|row| row["tokenizer"] == "o200k").unwrap();
    assert_eq!((gpt["counted_tokens"].as_u64(), gpt["recorded_tokens"].as_u64()), (Some(8), Some(8)));
    assert!(value["sizes"]["calibration"]["classes"][0]["factor"].as_f64().unwrap() > 0.5);
}

#[test]
fn a_run_is_explained_with_its_own_sizes() {
    let folder = folder("sizes_explain");
    let run = ["replay", "log.jsonl", "--sizes", "counted", "--out", "run", "--quiet"];
    fine(&forkcast(&folder, &run));
    let total = |of: &str| {
        let explained = json(&forkcast(&folder, &["explain", of, "0", "--format", "json", "--quiet"]));
        explained["total_tokens"].as_u64().unwrap()
    };
    assert_eq!(total("log.jsonl"), 300, "as recorded");
    assert_ne!(total("run"), 300, "as counted");
}
