//! Every cell of the fork matrix (contract E18): one of them forks, and every other one reports why not.

use forkcast_scenarios::catalog;
use forkcast_scenarios::format::set::Change;
use forkcast_scenarios::run::{Options, Run, play};
use serde_json::Value;

/// A cell: whether each condition of a fork holds.
#[derive(Clone, Copy, Debug)]
struct Cell {
    feature: bool,
    coordinator: bool,
    interactive: bool,
    typed: bool,
    /// Whether a fork makes the call, or the main agent.
    by_fork: bool,
}

fn cells() -> impl Iterator<Item = Cell> {
    let bit = |number: u32, at: u32| number >> at & 1 == 1;
    (0..32).map(move |number| Cell {
        feature: bit(number, 0),
        coordinator: bit(number, 1),
        interactive: bit(number, 2),
        typed: bit(number, 3),
        by_fork: bit(number, 4),
    })
}

impl Cell {
    fn opens(self) -> bool {
        self.feature && !self.coordinator && self.interactive
    }

    fn closed_by(self) -> &'static str {
        match self {
            Self { feature: false, .. } => "feature_off",
            Self { coordinator: true, .. } => "coordinator",
            _ => "non_interactive",
        }
    }

    fn run(self) -> Run {
        let mut changes = vec![format!("session.interactive={}", self.interactive)];
        if !self.feature {
            changes.push("features=[]".to_owned());
        }
        if self.coordinator {
            changes.push("variables={CLAUDE_CODE_COORDINATOR_MODE: '1'}".to_owned());
        }
        let typed = if self.typed { ", subagent_type: explore" } else { "" };
        let call = format!(
            "{{tool: Agent, id: toolu_cell, input: {{description: look, prompt: Look., run_in_background: false{typed}}}}}"
        );
        if self.by_fork {
            changes.push(format!("script.fork=[{{tools: [{call}], output_tokens: 9}}, {{say: 'Scope: a', times: 9}}]"));
        } else {
            changes.push(format!("script.main[0].tools[0]={call}"));
        }
        let changes: Vec<Change> = changes.iter().map(|change| change.parse().unwrap()).collect();
        let entry = catalog::find("contract/E18").unwrap();
        let scenario = entry.read(&changes).unwrap_or_else(|problems| panic!("{self:?}: {problems}"));
        play(scenario, &Options::default())
    }
}

/// The events with this name, as in the log.
fn events(run: &Run, word: &str) -> Vec<Value> {
    let events = run.events.iter().map(|logged| serde_json::to_value(&logged.event).unwrap());
    events.filter(|event| event["event"] == word).collect()
}

/// The outcome of a cell's call: route, type, reason, background.
fn route(run: &Run) -> Option<(String, String, String, bool)> {
    let routed = events(run, "agent.route").into_iter().find(|event| event["tool_use"] == "toolu_cell")?;
    let word = |field: &str| routed[field].as_str().unwrap().to_owned();
    Some((word("route"), word("agent_type"), word("why"), routed["background"].as_bool().unwrap()))
}

#[test]
fn fork_01_fork_02_fork_03_fork_04_fork_05_fork_06_fork_07_one_cell_forks_and_every_other_explains_why_not() {
    let mut forked = Vec::new();
    // Without an open gate there is no fork to make the call.
    for cell in cells().filter(|cell| !cell.by_fork || cell.opens()) {
        let run = cell.run();
        assert!(run.message.is_none(), "{cell:?}: {:?}", run.message);
        let found = route(&run);
        let named = |kind: &str, why: &str| {
            Some(("named".to_owned(), kind.to_owned(), why.to_owned(), cell.opens() || cell.coordinator))
        };
        let expected = match cell {
            Cell { typed: true, .. } => named("explore", "subagent_type"),
            Cell { by_fork: true, .. } => None,
            _ if cell.opens() => Some(("fork".into(), "fork".into(), "gate_open".into(), true)),
            _ => named("general-purpose", cell.closed_by()),
        };
        assert_eq!(found, expected, "{cell:?}");
        if found.as_ref().is_some_and(|(route, ..)| route == "fork") {
            forked.push(cell);
        }
        let refused = usize::from(cell.by_fork && !cell.typed);
        assert_eq!(events(&run, "fork.refused").len(), refused, "{cell:?}");
        assert_eq!(events(&run, "fork.violation").len(), usize::from(cell.by_fork && cell.typed), "{cell:?}");
    }
    let [cell] = forked[..] else { panic!("one cell forks: {forked:?}") };
    assert!(cell.opens() && !cell.typed && !cell.by_fork);
}

#[test]
fn agent_11_agent_12_agent_13_prompt_13_prompt_16_the_tool_description_follows_the_gate() {
    for cell in cells().filter(|cell| !cell.by_fork && !cell.typed) {
        let run = cell.run();
        let body = String::from_utf8(run.requests[0].draft().body()).unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        let tool = body["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "Agent").unwrap().clone();
        let fields = tool["input_schema"]["properties"].as_object().unwrap();
        assert_eq!(fields.contains_key("run_in_background"), !cell.opens() && !cell.coordinator, "{cell:?}");
        assert!(!fields.contains_key("cwd"), "{cell:?}");
        let says = |text: &Value, words: &str| text.to_string().contains(words);
        assert_eq!(says(&tool["description"], "you fork yourself"), cell.opens(), "{cell:?}");
        assert_eq!(says(&body["system"], "Calling Agent without `subagent_type`"), cell.opens(), "{cell:?}");
    }
}
