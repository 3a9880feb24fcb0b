//! The prefix check of preserved thinking over the catalog: forks and sub-agents keep what their thinking was made after, and
//! each ablation that alters it is rejected.

use std::collections::BTreeMap;

use forkcast_scenarios::catalog;
use forkcast_sim::guard::{Guard, Rule, Rules};
use serde_json::{Value, json};

use super::capture::{Capture, of_run};

/// The requests of a run as a model that binds its thinking would get them: each answer begins with thinking. Its signature
/// is the answer's text or first call, so that a fork has its parent's thinking.
fn binding(captures: &[Capture]) -> (Vec<Capture>, usize) {
    let mut thoughts = 0;
    let mut models: BTreeMap<String, &str> = BTreeMap::new();
    let bind = |capture: &Capture| {
        let mut body: Value = serde_json::from_str(&capture.body).unwrap();
        let own = body["model"].as_str().unwrap().to_owned();
        let next = if models.is_empty() { "claude-fable-5-2" } else { "claude-fable-5-1" };
        body["model"] = json!(models.entry(own).or_insert(next));
        for message in body["messages"].as_array_mut().unwrap() {
            if message["role"] != "assistant" {
                continue;
            }
            if let Some(text) = message["content"].as_str().map(str::to_owned) {
                message["content"] = json!([{"type": "text", "text": text}]);
            }
            let content = message["content"].as_array_mut().unwrap();
            content.retain(|block| block["type"] != "thinking" && block["type"] != "redacted_thinking");
            let said = content.iter().find_map(|block| block["text"].as_str().or(block["id"].as_str()));
            let signature = said.unwrap_or("nothing").to_owned();
            content.insert(0, json!({"type": "thinking", "thinking": "", "signature": signature}));
            thoughts += 1;
        }
        Capture { body: body.to_string(), ..capture.clone() }
    };
    (captures.iter().map(bind).collect(), thoughts)
}

/// What the check rejects in forks and sub-agents, and the number of thinking blocks. The main agent's own history is edited
/// in some runs: a flag flips, or it is compacted.
fn rejected(name: &str) -> (Vec<String>, usize) {
    let (captures, thoughts) = binding(&of_run(name));
    let mut guard = Guard::new(Rules::default());
    for capture in &captures {
        guard.take(&capture.sent()).unwrap();
    }
    let report = guard.finish();
    let of_child = |chain: &Option<String>| chain.as_deref() != Some("main");
    let found = report.violations.iter().filter(|found| found.rule == Rule::Thinking && of_child(&found.chain));
    (found.map(ToString::to_string).collect(), thoughts)
}

/// Ablations that alter what is before the parent's thinking, and what the check says of it.
const REJECTED: [(&str, &str); 12] = [
    ("contract/E16+re-render", "first at system["),
    ("contract/E16+filter-tools", "the list of tools"),
    ("contract/E16+drop-agent", "the list of tools"),
    ("contract/E16+mode-in-tools", "the list of tools"),
    ("contract/E16+strip-history", "first at messages[0]"),
    ("forks/G15-review+own-tools", "the list of tools"),
    // The contract asks for these: a fork clears old results of its own or has a parent that did, an agent goes on in the
    // background, where it has fewer tools, and a server brings tools of its own.
    ("contract/E04", "first at messages["),
    ("contract/E10", "the list of tools"),
    ("contract/E10+by-flag", "the list of tools"),
    ("contract/E10+by-user", "the list of tools"),
    ("day/long-day", "differs from when it was made"),
    ("day/long-day+coordinator", "differs from when it was made"),
];

#[test]
fn every_fork_and_sub_agent_of_the_catalog_is_valid_and_every_ablation_of_what_is_bound_is_not() {
    let (mut runs, mut thoughts) = (0, 0);
    let mut wrong = Vec::new();
    for entry in catalog::all() {
        let (found, own) = rejected(&entry.name);
        let expected = REJECTED.iter().find(|(name, _)| *name == entry.name);
        let is_right = match expected {
            Some((_, edit)) => !found.is_empty() && found.iter().all(|found| found.contains(edit)),
            None => found.is_empty(),
        };
        if !is_right {
            wrong.push(format!("{}: {found:#?}", entry.name));
        }
        runs += 1;
        thoughts += own;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{runs} runs with {thoughts} thinking blocks, {} of them rejected", REJECTED.len());
    assert!(runs > 50 && thoughts > 500, "{runs} runs, {thoughts} thinking blocks");
}
