//! The agents that calls of a recording started: their conversations if recorded, else their reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_replay::formats::Format;
use forkcast_replay::transcript::{
    AgentKind, Answer, Input, InputOrigin, Item, QueueStep, Session, Sign, SpawnMode, SpawnResult, What, call_id,
};
use forkcast_sim::time::Instant;
use serde_json::Value;

use super::node::{self, Fields, number, text};
use super::otherwise::Otherwise;
use super::rules::CastRule;
use super::wording::{Block, Said, Veil, between};
use crate::format::tree::Node;

/// The answer to a request that the recording does not have.
pub(super) const UNKNOWN: &str = "(The recording has no answer to this.)";

/// The type of agents whose call names none.
pub(super) const DEFAULT_KIND: &str = "general-purpose";

/// The type of forks.
pub(super) use forkcast_sim::agent::spawn::fork::TYPE as FORK;

/// The duration of an answer that never comes: a run is stopped after a year.
pub(super) const NEVER_MS: u64 = 300 * 24 * 3_600_000;

/// An agent that a call started.
#[derive(Clone, Debug, Default)]
pub(super) struct Spawn {
    /// Its type as a name of a definition; `None` for the default.
    pub kind: Option<String>,
    /// Whether the main agent called it.
    pub by_main: bool,
    /// Whether its caller went on.
    pub background: bool,
    /// Its conversation: index among the session's agents.
    pub thread: Option<usize>,
    /// When the call was complete.
    pub called_at: Option<Instant>,
    /// When its result came.
    pub result_at: Option<Instant>,
    /// When it had started in the background: then the client answered its call.
    pub launched_at: Option<Instant>,
    /// When its end was reported.
    pub notified_at: Option<Instant>,
    /// What it reported.
    pub report: Option<String>,
    /// Its end was reported to its caller.
    pub notified: bool,
}

/// All of them, by the id of the call.
#[derive(Debug, Default)]
pub(super) struct Spawns {
    pub of_call: BTreeMap<String, Spawn>,
    /// The call that started each agent, by the agent's id.
    pub call_of: BTreeMap<Arc<str>, String>,
    /// When notifications entered the client's queue that left it with a trace, by their text. Without one (up to 2.1.5x) they
    /// waited for the user, and nothing shows until when.
    queued_at: BTreeMap<String, Instant>,
}

/// Notifications in the client's queue.
#[derive(Default)]
struct Queue<'a> {
    entered: BTreeMap<&'a str, Instant>,
    /// An entry has left it since the newest line or answer.
    left: bool,
}

impl<'a> Queue<'a> {
    fn step(&mut self, step: &'a QueueStep, at: Option<Instant>) {
        match &*step.operation {
            "enqueue" => self.entered.extend(step.text.as_deref().zip(at)),
            "dequeue" | "remove" => self.left = true,
            _ => {}
        }
    }

    /// When this notification entered it, if that is when it came.
    fn came_at(&self, text: &str) -> Option<Instant> {
        self.entered.get(text).copied().filter(|_| self.left)
    }
}

/// Whether a tool starts agents: `Task` up to 2.1.62, `Agent` since.
pub(super) fn starts_agents(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent")
}

/// A type as the name of a definition, which may have no colons.
pub(super) fn kind_name(kind: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || ['-', '_', '.'].contains(&c) { c } else { '.' };
    kind.chars().map(plain).collect()
}

impl Spawns {
    /// The agents that calls of `session` started.
    pub fn of(session: &Session, otherwise: &Otherwise) -> Self {
        let mut spawns = Self::default();
        let mut ids: BTreeMap<u64, String> = BTreeMap::new();
        for agent in &session.agents {
            let mut queue = Queue::default();
            for item in &agent.thread.items {
                match &item.what {
                    What::Answer(answer) => {
                        queue.left = false;
                        spawns.calls(answer, agent.kind == AgentKind::Main, &mut ids);
                    }
                    What::Sign(Sign::Spawned(result)) => spawns.started(result, session, &ids),
                    What::Sign(Sign::Queue(step)) if otherwise.has(CastRule::Queued) => queue.step(step, item.at),
                    What::Input(input) => spawns.input(input, item, &queue),
                    What::Sign(_) => {}
                }
            }
        }
        // A call without a trace of an agent was refused, or never ran.
        let has_run = |spawn: &Spawn, call: &str, started: &BTreeMap<Arc<str>, String>| {
            spawn.thread.is_some() || started.values().any(|known| known == call)
        };
        let started = std::mem::take(&mut spawns.call_of);
        spawns.of_call.retain(|call, spawn| has_run(spawn, call, &started));
        spawns.call_of = started;
        // Forks begin after the whole message, which their calls may be long before.
        let begins_at_once = |spawn: &&mut Spawn| spawn.background && spawn.kind.as_deref() != Some(FORK);
        let launched = spawns.of_call.values_mut().filter(begins_at_once);
        // Recorded requests show no instants of results.
        let is_shown = session.format != Format::ExchangeLog && otherwise.has(CastRule::Launches);
        launched.filter(|_| is_shown).for_each(|spawn| spawn.launched_at = spawn.result_at);
        spawns
    }

    fn input(&mut self, input: &Input, item: &Item, queue: &Queue<'_>) {
        for block in input.wording.iter().map(Block::of) {
            let mut at = item.at;
            if let (Said::Text(text), InputOrigin::Notification) = (&block.said, input.origin) {
                let came_at = queue.came_at(text);
                self.queued_at.extend(came_at.map(|came_at| (text.clone(), came_at)));
                at = came_at.or(at);
            }
            self.reported(&block, input.origin, at);
        }
    }

    /// When the notification `text` came, which is recorded at `at`.
    pub fn came_at(&self, text: &str, at: Option<Instant>) -> Option<Instant> {
        self.queued_at.get(text).copied().or(at)
    }

    fn calls(&mut self, answer: &Answer, by_main: bool, ids: &mut BTreeMap<u64, String>) {
        for block in answer.wording.iter().map(Block::of) {
            let Said::Call { id, tool, input } = block.said else { continue };
            if !starts_agents(&tool) {
                continue;
            }
            ids.insert(call_id(id.as_bytes()), id.clone());
            let kind = input.get("subagent_type").and_then(Value::as_str).map(kind_name);
            let spawn = Spawn { kind, by_main, called_at: block.at, ..Spawn::default() };
            self.of_call.insert(id, spawn);
        }
    }

    fn started(&mut self, result: &SpawnResult, session: &Session, ids: &BTreeMap<u64, String>) {
        let Some(call) = ids.get(&result.call) else { return };
        let Some(spawn) = self.of_call.get_mut(call) else { return };
        spawn.background = result.mode == SpawnMode::Background;
        spawn.thread = session.agents.iter().position(|agent| agent.id == result.agent);
        self.call_of.entry(result.agent.clone()).or_insert_with(|| call.clone());
    }

    /// Takes a result of a call, or a notification.
    fn reported(&mut self, block: &Block, origin: InputOrigin, at: Option<Instant>) {
        match &block.said {
            Said::Result { id, text, .. } => {
                if let Some(spawn) = self.of_call.get_mut(id) {
                    spawn.result_at = block.at;
                    if !spawn.background {
                        spawn.report = Some(text.clone());
                    }
                }
            }
            Said::Text(text) if origin == InputOrigin::Notification => {
                let Some(call) = self.notified_call(text) else { return };
                let Some(spawn) = self.of_call.get_mut(&call) else { return };
                if !spawn.notified {
                    spawn.notified = true;
                    spawn.notified_at = at;
                    spawn.report = between(text, "<result>", "</result>").map(str::to_owned);
                }
            }
            _ => {}
        }
    }

    /// The call that started the task of a notification, if it is an agent of this recording.
    pub fn notified_call(&self, text: &str) -> Option<String> {
        let of_task = || self.call_of.get(between(text, "<task-id>", "</task-id>")?).cloned();
        let named = between(text, "<tool-use-id>", "</tool-use-id>").filter(|call| self.of_call.contains_key(*call));
        named.map(str::to_owned).or_else(of_task)
    }
}

/// The last answer of an agent whose conversation, or its end, is missing: its report, when it was reported. Its request was
/// sent at `asked_at`.
pub(super) fn report(veil: &mut Veil, spawn: &Spawn, asked_at: Option<Instant>) -> Fields {
    let ended = if spawn.background { spawn.notified_at } else { spawn.result_at };
    let takes = ended.zip(asked_at).map_or(NEVER_MS, |(ended, asked)| ended.since(asked).as_millis());
    let said = spawn.report.as_deref().filter(|report| !report.is_empty()).unwrap_or(UNKNOWN);
    Fields::default()
        .with("say", text(veil.text("report", said)))
        .with("output_tokens", number(1))
        .with("first_byte_ms", number(takes))
        .with("streaming_ms", number(0))
}

/// The input of a call that starts an agent, as far as the runtime has it: worktrees, teams and other models are not.
pub(super) fn agent_input(veil: &mut Veil, input: &Value, spawn: &Spawn) -> Node {
    let said = |name: &str| input.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let prompt = veil.text("brief", said("prompt").unwrap_or("(no prompt is recorded)"));
    let is_fork = spawn.kind.as_deref() == Some(FORK);
    let background = node::json(&Value::Bool(spawn.background));
    Fields::default()
        .with("description", text(veil.text("description", said("description").unwrap_or("a recorded agent"))))
        .with("prompt", text(prompt))
        .with("subagent_type", spawn.kind.as_ref().map(|kind| text(kind.as_str())))
        .with("run_in_background", (!is_fork).then_some(background))
        .node()
}
