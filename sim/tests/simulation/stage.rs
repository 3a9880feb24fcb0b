//! Setups for tests: a project, kinds of agents, and short ways to write a model's answers.

use std::collections::BTreeMap;

use forkcast_sim::agent::definition::{Definitions, Ranking, Source, Text};
use forkcast_sim::agent::world::{Files, Rule as ShellRule, Shell, World};
use forkcast_sim::laws;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{Act, Does, Finished, Setup, run};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Draft;
use serde_json::{Value, json};

/// A rule for agents of this type.
pub fn rule(agent: &str, said: Vec<Said>) -> Rule {
    Rule { agent: Some(agent.into()), times: Some(1), reply: Reply { said, ..Reply::default() }, ..Rule::default() }
}

/// A rule that says a text.
pub fn says(agent: &str, text: &str) -> Rule {
    rule(agent, vec![Said::Text(text.to_owned())])
}

/// A rule that makes a call.
pub fn calls(agent: &str, name: &str, input: Value) -> Rule {
    rule(agent, vec![Said::ToolUse { id: "".into(), name: name.into(), input }])
}

/// A rule that says a text in this time.
pub fn slow(agent: &str, text: &str, ms: u64) -> Rule {
    let mut rule = says(agent, text);
    rule.reply.streaming = Some(Duration::from_millis(ms));
    rule
}

/// A rule that spawns an agent.
pub fn spawns(agent: &str, kind: &str, prompt: &str, background: bool) -> Rule {
    let input = json!({
        "description": format!("a {kind}"), "prompt": prompt, "subagent_type": kind, "run_in_background": background,
    });
    calls(agent, "Agent", input)
}

/// An act at this many milliseconds.
pub fn at(ms: u64, does: Does) -> Act {
    Act { at: Instant::from_millis(ms), does }
}

/// A typed line.
pub fn types(ms: u64, text: &str) -> Act {
    at(ms, Does::Types(text.into()))
}

/// A setup with a small project, kinds `looker` and `worker`, and all laws.
pub fn setup(rules: Vec<Rule>, acts: Vec<Act>) -> Setup {
    let mut setup = Setup::new(7, Scripted::new(rules));
    setup.acts = acts;
    furnish(&mut setup);
    setup
}

/// Puts project, kinds, shell and laws into a setup.
pub fn furnish(setup: &mut Setup) {
    let files =
        [("/repo/src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n"), ("/repo/README.md", "# A project\n")];
    setup.world = World::new(
        Files::new(files.map(|(path, text)| (path.to_owned(), text.to_owned()))),
        Shell::new(vec![ShellRule::new("cargo check", "    Finished\n")]),
    );
    let kind = |name: &str| Text {
        source: Source::Project,
        path: format!("/repo/.claude/agents/{name}.md").into(),
        text: format!("---\nname: {name}\ndescription: for tests\n---\nYou are a {name}. Report in a sentence.\n")
            .into(),
    };
    setup.definitions = Definitions::gather(&[kind("looker"), kind("worker")], Ranking::default());
    setup.observers = laws::all(&setup.rules, &Seed::new(setup.seed));
    setup.keeps_events = true;
}

/// The result of a setup.
pub fn finished(setup: Setup) -> Finished {
    run(setup).unwrap_or_else(|failed| panic!("{failed}"))
}

/// The words of the events, counted.
pub fn words(finished: &Finished) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for event in log(finished) {
        *words.entry(event["event"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    words
}

/// The events as in the log, without those of streams.
pub fn log(finished: &Finished) -> Vec<Value> {
    finished.log.iter().map(|logged| serde_json::to_value(&logged.event).unwrap()).collect()
}

/// The lines and drafts of the requests of agents of this type.
pub fn drafts(finished: &Finished, agent_type: &str) -> Vec<(usize, Draft)> {
    let is_own = |line: &usize| {
        let id = finished.entries[*line].agent.as_deref().unwrap();
        finished.agents.iter().any(|agent| &*agent.id == id && &*agent.agent_type == agent_type)
    };
    (0..finished.entries.len()).filter(is_own).map(|line| (line, finished.drafts.draft(line))).collect()
}

/// The messages of the requests of agents of this type, each as one text.
pub fn asked(finished: &Finished, agent_type: &str) -> Vec<String> {
    let text = |(_, draft): (usize, Draft)| {
        draft.messages.iter().flat_map(|message| &message.content).map(|piece| piece.json().to_owned()).collect()
    };
    drafts(finished, agent_type).into_iter().map(text).collect()
}
