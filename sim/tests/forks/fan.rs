//! A parent that forks children in one message, with declared sizes: the setup of the published example (`economics.md`
//! 3.7).

use std::rc::Rc;

use forkcast_sim::agent::entry::Nature;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::settings::PartSizes;
use forkcast_sim::agent::spawn::fork::{Forks, LaunchPolicy, Profile};
use forkcast_sim::agent::{Entry, Settings};
use forkcast_sim::laws;
use forkcast_sim::ledger::Line;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{Act, Does, Finished, Setup, Sizing, run};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{Piece, Role};
use serde_json::json;

/// Longer than the TTL: the parent's entry has expired when the children start.
const COLD_MS: u64 = 400_000;

/// A fan-out.
#[derive(Clone, Copy, Debug)]
pub struct Fan {
    pub children: usize,
    pub placement: Placement,
    pub launch: LaunchPolicy,
    pub profile: Profile,
    pub is_cold: bool,
    /// Requests of each child.
    pub turns: u32,
}

impl Fan {
    /// Five children of a warm parent, each with one request.
    pub fn five() -> Self {
        Self {
            children: 5,
            placement: Placement::Shared,
            launch: LaunchPolicy::Burst,
            profile: Profile::Documents,
            is_cold: false,
            turns: 1,
        }
    }

    /// System 4,000, tools 12,000, history 30,000; the forking message 2,000, placeholders 500; 200 per directive.
    pub fn setup(self) -> Setup {
        let mut setup = Setup::new(5, Scripted::new(self.script()));
        setup.settings = Settings {
            features: ["FORK_SUBAGENT".to_owned()].into(),
            placement: self.placement,
            forks: Forks { profile: self.profile, launch: self.launch, ..Forks::default() },
            sizes: Some(PartSizes {
                system: Some(4_000),
                tools: Some(12_000),
                history: Some(30_000),
                assistant: Some(2_000),
                placeholder: Some(500),
                directive_block: Some(200),
                growth: Some(1_000),
                agents: None,
            }),
            ..Settings::default()
        };
        setup.sizing = Sizing::Declared;
        setup.history = history();
        setup.acts = vec![Act { at: Instant::default(), does: Does::Types("Look at all five parts".into()) }];
        setup.observers = laws::all(&setup.rules, &Seed::new(setup.seed));
        setup.keeps_events = true;
        setup.keeps_drafts = true;
        setup
    }

    /// Plays it and checks the laws.
    pub fn finished(self) -> Finished {
        run(self.setup()).unwrap_or_else(|failed| panic!("{self:?}: {failed}"))
    }

    fn script(self) -> Vec<Rule> {
        let call = |child: usize| {
            let mut input =
                json!({ "description": format!("part {child}"), "prompt": format!("Look at part {child}.") });
            if self.profile == Profile::Client2026 {
                input["subagent_type"] = "fork".into();
            }
            Said::ToolUse { id: format!("toolu_{child:04}").into(), name: "Agent".into(), input }
        };
        let text = Said::Text("Five at once.".to_owned());
        let said = std::iter::once(text).chain((1..=self.children).map(call)).collect();
        let streaming = self.is_cold.then(|| Duration::from_millis(COLD_MS));
        let mut rules = vec![rule("main", Reply { said, streaming, ..Reply::default() })];
        for _ in 1..self.turns {
            let input = json!({ "file_path": "/repo/part.txt" });
            let read = Said::ToolUse { id: "".into(), name: "Read".into(), input };
            rules.push(Rule { times: Some(self.children as u32), ..rule("fork", reply(vec![read])) });
        }
        let report = Said::Text("Scope: a part\nResult: it is well".to_owned());
        rules.push(Rule { times: None, ..rule("fork", reply(vec![report.clone()])) });
        rules.push(Rule { times: None, ..rule("general-purpose", reply(vec![report])) });
        rules.push(Rule { times: None, ..rule("main", reply(vec![Said::Text("Good.".to_owned())])) });
        rules
    }
}

fn rule(agent: &str, reply: Reply) -> Rule {
    Rule { agent: Some(agent.into()), times: Some(1), reply, ..Rule::default() }
}

fn reply(said: Vec<Said>) -> Reply {
    Reply { said, ..Reply::default() }
}

/// A conversation of some turns with thinking, calls and results.
fn history() -> Vec<Rc<Entry>> {
    let user = |text: &str| Entry::user(format!("h-{text}").into(), text, Nature::Typed);
    let said = |text: &str| {
        let content = vec![Piece::thinking("It may be so.", "c2ln"), Piece::text(text)];
        Entry::of(format!("a-{text}").into(), Role::Assistant, content, text, Nature::Said)
    };
    vec![user("What is here?"), said("Five parts."), user("Since when?"), said("Since long.")]
}

/// The first requests of the children.
pub fn first_requests(finished: &Finished) -> Vec<&Line> {
    let mut seen = std::collections::BTreeSet::new();
    let forks = finished.entries.iter().filter(|entry| entry.agent.as_deref() != Some("main"));
    forks.filter(|entry| seen.insert(entry.agent.clone())).map(|entry| &entry.line).collect()
}

/// Their cost in hundredths of a plain input token, with writes at `write` hundredths and reads at ten.
pub fn equivalents(lines: &[&Line], write: u64) -> u64 {
    let of = |line: &&Line| {
        let usage = line.predicted.unwrap_or_default();
        usage.input_tokens * 100 + usage.cache_creation_input_tokens() * write + usage.cache_read_input_tokens * 10
    };
    lines.iter().map(of).sum()
}
