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

/// Thinking of an agent that the check rejects.
#[derive(Debug)]
struct Rejected {
    agent: String,
    said: String,
}

/// What the check rejects, and the number of thinking blocks. The main agent's own history is edited in some runs: a flag
/// flips, or it is compacted.
fn rejected(name: &str) -> (Vec<Rejected>, usize) {
    let (captures, thoughts) = binding(&of_run(name));
    let mut guard = Guard::new(Rules::default());
    for capture in &captures {
        guard.take(&capture.sent()).unwrap();
    }
    let report = guard.finish();
    let of_thinking = report.violations.iter().filter(|found| found.rule == Rule::Thinking);
    let found = of_thinking.filter_map(|found| Some(Rejected { agent: found.chain.clone()?, said: found.to_string() }));
    (found.collect(), thoughts)
}

/// Ablations that alter what is before the parent's thinking, and what the check says of each of their forks.
const ABLATIONS: [(&str, &str); 6] = [
    ("contract/E16+re-render", "first at system["),
    ("contract/E16+filter-tools", "the list of tools"),
    ("contract/E16+drop-agent", "the list of tools"),
    ("contract/E16+mode-in-tools", "the list of tools"),
    ("contract/E16+strip-history", "first at messages[0]"),
    ("forks/G15-review+own-tools", "the list of tools"),
];

/// A run in which the contract itself asks for what the prefix check does not take.
struct Exception {
    run: &'static str,
    /// How many forks and sub-agents are rejected; all others are valid.
    rejected: usize,
    edit: &'static str,
    /// The agents carry what the main agent's own requests are rejected for: none of them edits anything itself.
    inherited: bool,
    /// What the contract asks for (`sim/docs/contract.md`).
    why: &'static str,
}

/// The contract is older than the prefix check, and where both cannot be had, the runtime follows the contract. Therefore
/// the statement that holds is: no fork and no sub-agent edits what was before the thinking that it sends again, except that
/// an agent goes on in the background with other tools; and what a main agent edits in its own history, its forks carry.
const EXCEPTIONS: [Exception; 6] = [
    Exception {
        run: "contract/E04",
        rejected: 4,
        edit: "first at messages[",
        inherited: true,
        why: "E04, COMPACT-01, COMPACT-02 and COMPACT-06: compaction clears results in the history that later requests, and \
              forks of them, send again",
    },
    Exception { run: "contract/E10", ..BACKGROUND },
    Exception { run: "contract/E10+by-flag", ..BACKGROUND },
    Exception { run: "contract/E10+by-user", ..BACKGROUND },
    // Compaction, memories, suggestions and a side question; and a general-purpose agent in the background.
    Exception { run: "day/long-day", rejected: 13, ..CONNECTED },
    Exception { run: "day/long-day+coordinator", rejected: 11, ..CONNECTED },
];

const BACKGROUND: Exception = Exception {
    run: "",
    rejected: 1,
    edit: "the list of tools",
    inherited: false,
    why: "E10, SYNC-10 and TOOLS-08: the child goes on in the background from its own transcript, with one tool fewer",
};

const CONNECTED: Exception = Exception {
    run: "",
    rejected: 0,
    edit: "differs from when it was made",
    inherited: true,
    why: "TOOLS-02 and MCP-09: a server that connects during the session brings its tools into the main agent's list, which its \
          forks share; COMPACT-03: what was summarised is replaced; and one child goes on in the background (TOOLS-08)",
};

/// A run is right if it breaks what it should break, and nothing else.
fn is_right(name: &str, found: &[Rejected]) -> bool {
    let mut of_forks = found.iter().filter(|found| found.agent != "main").peekable();
    if let Some((_, edit)) = ABLATIONS.iter().find(|(run, _)| *run == name) {
        return of_forks.peek().is_some() && of_forks.all(|found| found.said.contains(edit));
    }
    let exception = EXCEPTIONS.iter().find(|exception| exception.run == name);
    let Some(exception) = exception else { return of_forks.next().is_none() };
    let of_main = |found: &&Rejected| found.agent == "main";
    let of_children: Vec<&Rejected> = found.iter().filter(|found| !of_main(found)).collect();
    let is_edited = of_children.iter().all(|found| found.said.contains(exception.edit));
    let is_inherited = found.iter().any(|found| of_main(&found)) || !exception.inherited;
    assert!(!exception.why.is_empty(), "an exception has a reason");
    of_children.len() == exception.rejected && is_edited && is_inherited
}

/// Every fork and sub-agent of the catalog is valid, but for the exceptions, which are exactly these; and every ablation of
/// what thinking is bound to is rejected.
#[test]
fn every_fork_and_sub_agent_of_the_catalog_is_valid_and_every_ablation_of_what_is_bound_is_not() {
    let (mut runs, mut thoughts) = (0, 0);
    let mut wrong = Vec::new();
    for entry in catalog::all() {
        let (found, own) = rejected(&entry.name);
        if !is_right(&entry.name, &found) {
            wrong.push(format!("{}: {found:#?}", entry.name));
        }
        runs += 1;
        thoughts += own;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known = |run: &str| catalog::all().iter().any(|entry| entry.name == run);
    assert!(ABLATIONS.iter().all(|(run, _)| known(run)) && EXCEPTIONS.iter().all(|exception| known(exception.run)));
    println!("{runs} runs with {thoughts} thinking blocks");
    assert!(runs > 50 && thoughts > 500, "{runs} runs, {thoughts} thinking blocks");
}
