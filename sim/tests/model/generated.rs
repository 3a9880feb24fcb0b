//! A model that generates answers from a random seed, for load tests, fuzzing and benchmarks.
//!
//! Each agent draws from its own child seed, so agents do not affect one another's answers.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::ops::RangeInclusive;
use std::rc::Rc;

use forkcast_sim::model::answer::{Answer, Said};
use forkcast_sim::model::{Question, Script, Unscripted};
use forkcast_sim::seed::{Draws, Seed};
use serde_json::json;

/// What the answers are drawn from.
#[derive(Clone, Debug)]
pub struct Habits {
    /// Answers with tool calls before the last answer of an agent: minimum and maximum.
    pub rounds: RangeInclusive<u32>,
    /// Calls in one answer: minimum and maximum.
    pub calls: RangeInclusive<u32>,
    /// Weights of the tools. Tools that an agent does not have are never called.
    pub tools: Vec<(Call, u32)>,
    /// Bytes of text in an answer with calls.
    pub text_bytes: Length,
    /// Bytes of the last answer (a sub-agent's report).
    pub report_bytes: Length,
    /// Existing files that calls can name.
    pub files: Vec<Rc<str>>,
}

/// A lognormal distribution of lengths in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    /// Median in bytes.
    pub median: f64,
    /// Standard deviation of the logarithm.
    pub sigma: f64,
}

/// A call that the simulated world can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Reads a file.
    Read,
    /// Searches file contents.
    Grep,
    /// Searches file names.
    Glob,
    /// Runs a command.
    Bash,
    /// Writes a new file.
    Write,
    /// Spawns a sub-agent and waits.
    Spawn,
    /// Spawns a sub-agent in the background.
    SpawnBehind,
}

impl Default for Habits {
    /// Ten to thirty rounds of one to three calls, mostly reads and searches, as in recorded sessions. Sizes are small
    /// enough for thousands of agents.
    fn default() -> Self {
        let tools = vec![(Call::Read, 40), (Call::Bash, 30), (Call::Grep, 15), (Call::Glob, 5), (Call::Write, 10)];
        Self {
            rounds: 10..=30,
            calls: 1..=3,
            tools,
            text_bytes: Length { median: 200.0, sigma: 0.8 },
            report_bytes: Length { median: 1_500.0, sigma: 0.6 },
            files: vec!["/repo/src/main.rs".into()],
        }
    }
}

/// A model that generates its answers.
#[derive(Debug)]
pub struct Generated {
    seed: Seed,
    habits: Habits,
    agents: BTreeMap<Rc<str>, State>,
    messages: u64,
}

#[derive(Debug)]
struct State {
    draws: Draws,
    rounds_left: u32,
}

impl Generated {
    /// A model with these habits.
    pub fn new(seed: &Seed, habits: Habits) -> Self {
        Self { seed: seed.child("model.generated"), habits, agents: BTreeMap::new(), messages: 0 }
    }
}

impl Script for Generated {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        self.messages += 1;
        let id = format!("msg_{:06}", self.messages);
        let Self { seed, habits, agents, .. } = self;
        let state = agents.entry(question.agent.clone()).or_insert_with(|| {
            let mut draws = seed.child(&question.agent).draws();
            let rounds_left = between(&mut draws, &habits.rounds);
            State { draws, rounds_left }
        });
        // A new user text starts a new task, regardless of how many rounds are left.
        if question.turn > 0 && state.rounds_left == 0 && is_new_task(question) {
            state.rounds_left = between(&mut state.draws, &habits.rounds);
        }
        let said = if state.rounds_left == 0 {
            vec![Said::Text(words(&mut state.draws, habits.report_bytes))]
        } else {
            state.rounds_left -= 1;
            round(state, habits, question, self.messages)
        };
        Ok(Answer::message(&id, &said))
    }
}

fn is_new_task(question: &Question) -> bool {
    let last = question.draft.messages.last();
    last.is_some_and(|last| last.content.iter().all(|piece| !piece.json().contains("\"tool_result\"")))
}

fn round(state: &mut State, habits: &Habits, question: &Question, message: u64) -> Vec<Said> {
    let offered =
        |name: &str| question.draft.tools.iter().any(|tool| tool.json().contains(&format!("\"name\":\"{name}\"")));
    let tools: Vec<(Call, u32)> = habits.tools.iter().filter(|(call, _)| offered(call.tool())).copied().collect();
    let draws = &mut state.draws;
    let mut said = vec![Said::Text(words(draws, habits.text_bytes))];
    let weight: u32 = tools.iter().map(|(_, weight)| weight).sum();
    if weight == 0 {
        return said;
    }
    for number in 0..between(draws, &habits.calls) {
        let Some(call) = weighted(&tools, draws.below(u64::from(weight))) else {
            debug_assert!(false, "a draw below the sum of weights selects a call");
            break;
        };
        let id = format!("toolu_{}_{message}_{number}", question.agent).into();
        said.push(Said::ToolUse { id, name: call.tool().into(), input: call.input(draws, habits, message) });
    }
    said
}

impl Call {
    const fn tool(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Grep => "Grep",
            Self::Glob => "Glob",
            Self::Bash => "Bash",
            Self::Write => "Write",
            Self::Spawn | Self::SpawnBehind => "Agent",
        }
    }

    fn input(self, draws: &mut Draws, habits: &Habits, message: u64) -> serde_json::Value {
        let drawn = draws.below(habits.files.len() as u64) as usize;
        let file = habits.files.get(drawn).map_or("/repo/README.md", |file| file);
        match self {
            Self::Read => json!({ "file_path": file }),
            Self::Grep => json!({ "pattern": "fn ", "path": "/repo" }),
            Self::Glob => json!({ "pattern": "**/*.rs" }),
            Self::Bash => json!({ "command": "cargo check", "description": "Check the code" }),
            Self::Write => {
                json!({ "file_path": format!("/repo/made/{message}.md"), "content": words(draws, habits.text_bytes) })
            }
            Self::Spawn | Self::SpawnBehind => json!({
                "description": "Look into a part",
                "prompt": words(draws, habits.text_bytes),
                "subagent_type": "general-purpose",
                "run_in_background": self == Self::SpawnBehind,
            }),
        }
    }
}

/// A uniformly drawn number of the range; its start if the range is empty.
fn between(draws: &mut Draws, range: &RangeInclusive<u32>) -> u32 {
    let above = range.end().saturating_sub(*range.start());
    range.start() + draws.below(u64::from(above) + 1) as u32
}

/// The call whose share of the weights contains `drawn`.
fn weighted(tools: &[(Call, u32)], mut drawn: u64) -> Option<Call> {
    for (call, weight) in tools {
        match drawn.checked_sub(u64::from(*weight)) {
            Some(beyond) => drawn = beyond,
            None => return Some(*call),
        }
    }
    None
}

/// Text of roughly the drawn number of bytes.
fn words(draws: &mut Draws, length: Length) -> String {
    const WORDS: [&str; 12] =
        ["the", "module", "reads", "a", "request", "and", "keeps", "its", "prefix", "when", "turns", "grow"];
    let bytes = lognormal(draws, length).clamp(1.0, 1e6) as usize;
    let mut text = String::with_capacity(bytes + 8);
    while text.len() < bytes {
        let at = draws.below(WORDS.len() as u64) as usize;
        text.push_str(WORDS[at]);
        text.push(' ');
    }
    text
}

/// A length (Box and Muller 1958; only one of the pair is used).
fn lognormal(draws: &mut Draws, Length { median, sigma }: Length) -> f64 {
    const STEPS: u64 = 1 << 53;
    let mut unit = || draws.below(STEPS) as f64 / STEPS as f64;
    let radius = (-2.0 * (1.0 - unit()).ln()).sqrt();
    median * (sigma * radius * (TAU * unit()).cos()).exp()
}
