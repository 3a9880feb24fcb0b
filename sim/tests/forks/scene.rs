//! A small session that forks, for tests that change one detail.

use std::rc::Rc;

use forkcast_sim::agent::spawn::fork::{Ablation, Profile};
use forkcast_sim::agent::{Event, Settings};
use forkcast_sim::laws;
use forkcast_sim::ledger::Line;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::service::Entry;
use forkcast_sim::simulation::{Act, Does, Finished, Setup, run};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Draft;
use serde_json::{Value, json};

/// A fork's final report.
pub const REPORT: &str = "Scope: a part\nResult: it is well\nKey files: /repo/a.rs, /repo/b.rs\nFiles changed: none";

/// A session whose user types `Fork now.` at the start.
pub struct Scene {
    pub setup: Setup,
    rules: Vec<Rule>,
}

/// A session that has ended.
pub struct Played(pub Finished, Vec<Draft>);

/// A call of `Agent` that means a fork by default.
pub fn fork(part: &str) -> Said {
    agent(json!({ "prompt": format!("Look at part {part}.") }))
}

/// A call of `Agent` with these fields.
pub fn agent(fields: Value) -> Said {
    let mut input = json!({ "description": "a part", "prompt": "Look." });
    if let (Value::Object(more), Some(input)) = (fields, input.as_object_mut()) {
        input.extend(more);
    }
    tool("Agent", input)
}

/// A call of a tool.
pub fn tool(name: &str, input: Value) -> Said {
    Said::ToolUse { id: "".into(), name: name.into(), input }
}

/// A text.
pub fn text(words: &str) -> Said {
    Said::Text(words.to_owned())
}

impl Scene {
    /// The main agent gives this answer, with forks enabled in `profile`.
    pub fn of(profile: Profile, said: Vec<Said>) -> Self {
        let mut setup = Setup::new(3, Scripted::default());
        setup.settings = Settings { features: ["FORK_SUBAGENT".to_owned()].into(), ..Settings::default() };
        setup.settings.forks.profile = profile;
        setup.acts = vec![Act { at: Instant::default(), does: Does::Types("Fork now.".into()) }];
        setup.observers = laws::all(&setup.rules, &Seed::new(setup.seed));
        // Forks that fork would never end.
        setup.turns_max = Some(400);
        setup.keeps_events = true;
        setup.keeps_drafts = true;
        Self { setup, rules: Vec::new() }.says("main", said)
    }

    /// In profile `documents`.
    pub fn new(said: Vec<Said>) -> Self {
        Self::of(Profile::Documents, said)
    }

    /// Agents of this type say this once.
    pub fn says(mut self, agent: &str, said: Vec<Said>) -> Self {
        let reply = Reply { said, ..Reply::default() };
        self.rules.push(Rule { agent: Some(agent.into()), times: Some(1), reply, ..Rule::default() });
        self
    }

    /// The last added answer takes this long.
    pub fn for_ms(mut self, streaming_ms: u64) -> Self {
        self.rules.last_mut().unwrap().reply.streaming = Some(Duration::from_millis(streaming_ms));
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Setup)) -> Self {
        change(&mut self.setup);
        self
    }

    pub fn without(self, ablation: Ablation) -> Self {
        self.with(|setup| setup.settings.forks.ablations = [ablation].into())
    }

    /// The user does this at the millisecond.
    pub fn act(self, at_ms: u64, does: Does) -> Self {
        self.with(|setup| setup.acts.push(Act { at: Instant::from_millis(at_ms), does }))
    }

    /// Plays the session; agents without further answers end their turn. Checks the laws.
    pub fn play(mut self) -> Played {
        for (agent, words) in [("fork", REPORT), ("main", "Good."), ("general-purpose", "So."), ("explore", "So.")] {
            let reply = Reply { said: vec![text(words)], ..Reply::default() };
            self.rules.push(Rule { agent: Some(agent.into()), reply, ..Rule::default() });
        }
        self.setup.script = Box::new(Scripted::new(self.rules));
        let finished = run(self.setup).unwrap_or_else(|failed| panic!("{failed}"));
        let drafts = finished.drafts.iter().collect();
        Played(finished, drafts)
    }
}

impl Played {
    /// The results of `pick` for the events, in order.
    pub fn found<T>(&self, pick: impl Fn(&Event) -> Option<T>) -> Vec<T> {
        self.0.log.iter().filter_map(|logged| pick(&logged.event)).collect()
    }

    /// The forks, in the order in which they were built.
    pub fn forks(&self) -> Vec<Rc<str>> {
        self.found(|event| match event {
            Event::ForkBuilt { agent, .. } => Some(agent.clone()),
            _ => None,
        })
    }

    /// For each routed call: route, type, background, reason.
    pub fn routes(&self) -> Vec<(&'static str, String, bool, &'static str)> {
        self.found(|event| match event {
            Event::Routed { route, agent_type, background, why, .. } => {
                Some((*route, agent_type.to_string(), *background, *why))
            }
            _ => None,
        })
    }

    /// The requests of an agent, by its id or type.
    pub fn requests(&self, agent: &str) -> Vec<&Draft> {
        self.lines(agent).into_iter().map(|line| &self.1[line.index]).collect()
    }

    pub fn lines(&self, agent: &str) -> Vec<&Line> {
        let types = |id: &str| self.0.agents.iter().any(|known| &*known.id == id && &*known.agent_type == agent);
        let sent = |entry: &&Entry| entry.agent.as_deref().is_some_and(|id| id == agent || types(id));
        self.0.entries.iter().filter(sent).map(|entry| &entry.line).collect()
    }

    /// The first request of the fork at `place`.
    pub fn first(&self, place: usize) -> &Draft {
        self.requests(&self.forks()[place])[0]
    }

    /// Results of the main agent's calls as it receives them, in order.
    pub fn told(&self) -> Vec<String> {
        let last = *self.requests("main").last().unwrap();
        let blocks = last.messages.iter().flat_map(|message| &message.content).map(|piece| value(piece.json()));
        blocks.filter(|block| block["type"] == "tool_result").map(|block| block["content"].to_string()).collect()
    }
}

pub fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// The blocks of the message at this distance from the end of a request.
pub fn blocks(draft: &Draft, from_end: usize) -> Vec<Value> {
    let message = &draft.messages[draft.messages.len() - 1 - from_end];
    message.content.iter().map(|piece| value(piece.json())).collect()
}

/// The text of a request's last block.
pub fn directive(draft: &Draft) -> String {
    blocks(draft, 0).last().unwrap()["text"].as_str().unwrap_or_default().to_owned()
}

/// The system prompt as one text.
pub fn system(draft: &Draft) -> String {
    draft.system.iter().map(|piece| value(piece.json())["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The names of a request's tools.
pub fn tools(draft: &Draft) -> Vec<String> {
    draft.tools.iter().map(|piece| value(piece.json())["name"].as_str().unwrap_or_default().to_owned()).collect()
}
