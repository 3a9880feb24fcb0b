//! What a coordinator did with its workers, as seen from outside (contract COORD-03..08, COORD-12, COORD-16, COORD-17).
//!
//! The runtime lets a model coordinate as it likes. This reads a finished run, assigns each worker to a phase by what it
//! did, and lists where the run left the rules.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::simulation::Finished;
use forkcast_sim::time::Instant;
use serde_json::Value;

/// What a worker did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It read.
    Research,
    /// It changed files.
    Implementation,
    /// It verified what others had changed.
    Verification,
}

/// Where a run left the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A worker that changed files was told neither file nor line (COORD-05, COORD-08).
    Vague,
    /// Files were assigned before all research was in (COORD-03, COORD-04).
    EarlyStart,
    /// Two workers that ran at the same time changed one file (COORD-06, COORD-16).
    SharedFile,
    /// What is verified was changed by the verifier itself (COORD-07, COORD-12).
    OwnWork,
    /// A verifier was asked for no adversarial probe (COORD-07).
    NoProbes,
}

/// A worker's run: from an assignment to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The worker.
    pub agent: Rc<str>,
    /// Its type.
    pub agent_type: Rc<str>,
    /// The call that assigned it: of Agent, or of SendMessage.
    pub tool_use: Rc<str>,
    /// Its prompt or message.
    pub prompt: String,
    /// What it did.
    pub phase: Phase,
    /// When it ran.
    pub ran: Range<Instant>,
    /// The files that it changed.
    pub changed: Vec<String>,
}

/// Words of adversarial probes.
const PROBES: [&str; 6] = ["concurren", "boundar", "idempoten", "race", "edge case", "adversarial"];

/// The assignments of a run in order, and the faults with the call that made them.
pub fn review(finished: &Finished) -> (Vec<Assignment>, Vec<(Fault, Rc<str>)>) {
    let assignments = assignments(finished);
    let mut faults = Vec::new();
    for (at, one) in assignments.iter().enumerate() {
        let others = || assignments[..at].iter();
        let mut fault = |fault| faults.push((fault, one.tool_use.clone()));
        match one.phase {
            Phase::Research => {}
            Phase::Implementation => {
                if !is_precise(&one.prompt) {
                    fault(Fault::Vague);
                }
                if others().any(|other| other.phase == Phase::Research && other.ran.end > one.ran.start) {
                    fault(Fault::EarlyStart);
                }
                let meets = |other: &Assignment| other.agent != one.agent && other.ran.end > one.ran.start;
                if others().any(|other| meets(other) && other.changed.iter().any(|file| one.changed.contains(file))) {
                    fault(Fault::SharedFile);
                }
            }
            Phase::Verification => {
                let has_changed = |other: &Assignment| other.agent == one.agent && !other.changed.is_empty();
                if !one.changed.is_empty() || others().any(has_changed) {
                    fault(Fault::OwnWork);
                }
                let prompt = one.prompt.to_lowercase();
                if !PROBES.iter().any(|probe| prompt.contains(probe)) {
                    fault(Fault::NoProbes);
                }
            }
        }
    }
    (assignments, faults)
}

/// Whether a prompt names a file and a line.
fn is_precise(prompt: &str) -> bool {
    let words = || prompt.split(|c: char| c.is_whitespace() || ",;()`\"".contains(c));
    let is_file = |word: &str| word.contains('/') || word.rsplit_once('.').is_some_and(|(_, end)| !end.is_empty());
    let is_number = |word: &str| word.chars().next().is_some_and(|c| c.is_ascii_digit());
    let has_line = words().any(|word| word.split_once(':').is_some_and(|(_, line)| is_number(line)))
        || words().zip(words().skip(1)).any(|(one, next)| one.to_lowercase().starts_with("line") && is_number(next));
    words().any(is_file) && has_line
}

/// A call of a run: who made it, when, and its input.
struct Made {
    agent: Rc<str>,
    at: Instant,
    name: Rc<str>,
    input: Value,
}

fn assignments(finished: &Finished) -> Vec<Assignment> {
    let calls = calls(finished);
    let mut found = Vec::new();
    for logged in &finished.log {
        let (agent, tool_use) = match &logged.event {
            Event::AgentResult { agent, tool_use, status: "async_launched", .. } => (agent, tool_use),
            Event::MessageSent { to, tool_use, .. } => (to, tool_use),
            _ => continue,
        };
        let Some(call) = calls.get(tool_use).filter(|call| &*call.agent == "main") else { continue };
        let field = if &*call.name == "Agent" { "prompt" } else { "message" };
        let is_known = found.iter().any(|known: &Assignment| known.tool_use == *tool_use);
        if is_known {
            continue;
        }
        let ran = call.at..end(finished, agent, call.at);
        let own = calls.values().filter(|made| made.agent == *agent && ran.contains(&made.at));
        let edits = own.filter(|made| ["Edit", "Write"].contains(&&*made.name));
        let mut changed: Vec<String> =
            edits.filter_map(|made| made.input["file_path"].as_str().map(str::to_owned)).collect();
        changed.sort();
        changed.dedup();
        let agent_type = finished.agents.iter().find(|known| known.id == *agent).map(|known| known.agent_type.clone());
        let (Some(agent_type), Some(prompt)) = (agent_type, call.input[field].as_str()) else { continue };
        let prompt = prompt.to_owned();
        let phase = phase(&agent_type, &prompt, &changed);
        let (agent, tool_use) = (agent.clone(), tool_use.clone());
        found.push(Assignment { agent, agent_type, tool_use, prompt, phase, ran, changed });
    }
    found
}

/// A verifier is one by its type, or by what it is asked for.
fn phase(agent_type: &str, prompt: &str, changed: &[String]) -> Phase {
    match agent_type {
        "verification" => Phase::Verification,
        _ if prompt.to_lowercase().starts_with("verify") => Phase::Verification,
        _ if changed.is_empty() => Phase::Research,
        _ => Phase::Implementation,
    }
}

/// When the run of `agent` that is under way at `from` ends.
fn end(finished: &Finished, agent: &Rc<str>, from: Instant) -> Instant {
    let ends = finished.log.iter().find(|logged| match &logged.event {
        Event::TaskState { task, state, .. } => logged.at >= from && task == agent && *state != "running",
        _ => false,
    });
    ends.map_or(finished.makespan, |logged| logged.at)
}

/// All calls that ran, by id: instants from the log, inputs from the newest request of their agents.
fn calls(finished: &Finished) -> BTreeMap<Rc<str>, Made> {
    let mut newest: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, entry) in finished.entries.iter().enumerate() {
        if let Some(agent) = &entry.agent {
            newest.insert(agent, line);
        }
    }
    let mut inputs: BTreeMap<Rc<str>, Value> = BTreeMap::new();
    for line in newest.into_values() {
        let draft = finished.drafts.draft(line);
        let blocks = draft.messages.iter().flat_map(|message| &message.content);
        let uses = blocks.filter_map(|piece| serde_json::from_str::<Value>(piece.json()).ok());
        inputs.extend(uses.filter(|block| block["type"] == "tool_use").filter_map(|mut block| {
            let id = block["id"].as_str()?.into();
            Some((id, block["input"].take()))
        }));
    }
    let made = finished.log.iter().filter_map(|logged| match &logged.event {
        Event::ToolStart { agent, tool_use, name, .. } => {
            let input = inputs.get(tool_use)?.clone();
            Some((tool_use.clone(), Made { agent: agent.clone(), at: logged.at, name: name.clone(), input }))
        }
        _ => None,
    });
    made.collect()
}
