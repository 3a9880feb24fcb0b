//! Agents that are started otherwise than they were recorded: in the background or not, as forks or not. What asks for their
//! callers' answers changes with it.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_replay::transcript::Agent;

use super::otherwise::{Otherwise, Started, Which};
use super::results::Results;
use super::spawns::{DEFAULT_KIND, FORK, Spawn, Spawns};
use super::thread::{Asking, Does, Step, Steps};
use super::wording::{Block, Said};

/// The calls whose agents are started otherwise.
#[derive(Debug, Default)]
pub(super) struct Switched {
    /// Now in the background.
    pub backgrounded: BTreeSet<String>,
    /// Now waited for.
    pub awaited: BTreeSet<String>,
    /// Now forks, or no forks any more.
    pub rebuilt: BTreeSet<String>,
}

impl Switched {
    /// Starts the agents of `spawns` as `otherwise` has it.
    pub fn apply(otherwise: &Otherwise, spawns: &mut Spawns, results: &mut Results) -> Self {
        let mut switched = Self::default();
        let launched = launched_tokens(spawns, results);
        for (call, spawn) in &mut spawns.of_call {
            let is_fork = spawn.kind.as_deref() == Some(FORK);
            match otherwise.with() {
                // Agents of agents stay: forks cannot fork.
                Some(Started::Forks) if !is_fork && spawn.by_main => {
                    spawn.kind = Some(FORK.to_owned());
                    switched.rebuilt.insert(call.clone());
                }
                Some(Started::Agents) if is_fork => {
                    spawn.kind = Some(DEFAULT_KIND.to_owned());
                    switched.rebuilt.insert(call.clone());
                }
                _ => {}
            }
            let runs_in_background = match (spawn.kind.as_deref() == Some(FORK), otherwise.background()) {
                (true, _) | (false, Some(Which::All)) => true,
                (false, Some(Which::None)) => false,
                (false, None) => spawn.background,
            };
            match (spawn.background, runs_in_background) {
                (false, true) => {
                    to_background(call, spawn, results, launched);
                    switched.backgrounded.insert(call.clone());
                }
                // One that never reported would be waited for without an end.
                (true, false) if spawn.notified => {
                    to_foreground(call, spawn, results);
                    switched.awaited.insert(call.clone());
                }
                _ => {}
            }
        }
        switched
    }

    /// The steps of a caller, with what asks for them now.
    pub fn steps(&self, steps: &mut Steps, agent: &Agent, spawns: &Spawns) {
        let mut kept: Vec<Step> = Vec::with_capacity(steps.steps.len());
        for mut step in std::mem::take(&mut steps.steps) {
            match &step.asked_by {
                Some(Asking::Notice(call)) if self.awaited.contains(call) => {
                    // What was said while it waited is left out: the answer to the report is the answer to the result.
                    let waited = kept.last().is_some_and(|last| calls(agent, last).is_empty());
                    if let Some(last) = kept.pop_if(|_| waited) {
                        step.asked_by = last.asked_by;
                        kept.push(step);
                    }
                }
                Some(Asking::Result(_)) => {
                    let round = kept.last().map_or_else(Vec::new, |last| calls(agent, last));
                    let ended = |call: &&String| spawns.of_call.get(*call).and_then(|spawn| spawn.notified_at);
                    if let Some(last) = round.iter().filter(|call| self.backgrounded.contains(*call)).max_by_key(ended)
                    {
                        step.asked_by = Some(Asking::Notice(last.clone()));
                    }
                    kept.push(step);
                }
                _ => kept.push(step),
            }
        }
        steps.steps = kept;
    }
}

/// The ids of the calls of a step's answer.
fn calls(agent: &Agent, step: &Step) -> Vec<String> {
    let Does::Answers(at) = step.does else { return Vec::new() };
    let answer = agent.thread.items.get(at).and_then(|item| item.answer());
    let blocks = answer.into_iter().flat_map(|answer| answer.wording.iter().map(Block::of));
    blocks.filter_map(|block| if let Said::Call { id, .. } = block.said { Some(id) } else { None }).collect()
}

/// Tokens of the result that says that an agent was launched: the median of the recorded ones.
fn launched_tokens(spawns: &Spawns, results: &Results) -> Option<u64> {
    let launched = spawns.of_call.iter().filter(|(_, spawn)| spawn.background);
    let mut sizes: Vec<u64> =
        launched.filter_map(|(call, _)| results.calls.get(call)?.result_tokens).filter(|tokens| *tokens > 0).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied()
}

/// The result becomes a notification.
fn to_background(call: &str, spawn: &mut Spawn, results: &mut Results, launched: Option<u64>) {
    spawn.background = true;
    spawn.notified = spawn.result_at.is_some();
    spawn.notified_at = spawn.result_at;
    if let Some(called) = results.calls.get_mut(call) {
        called.notice_tokens = called.result_tokens;
        called.result_tokens = launched;
    }
}

/// The notification becomes the result.
fn to_foreground(call: &str, spawn: &mut Spawn, results: &mut Results) {
    spawn.background = false;
    spawn.result_at = spawn.notified_at.or(spawn.result_at);
    if let Some(called) = results.calls.get_mut(call) {
        called.result_tokens = called.notice_tokens.take().or(called.result_tokens);
    }
}

/// The models of agents by the call that started each.
pub(super) fn models(otherwise: &Otherwise, spawns: &Spawns) -> BTreeMap<String, String> {
    let of = |(call, spawn): (&String, &Spawn)| {
        let kind = spawn.kind.as_deref().unwrap_or(DEFAULT_KIND);
        // A fork has the model of its parent.
        let name = if kind == FORK { "main" } else { kind };
        Some((call.clone(), otherwise.model_of(name)?.to_owned()))
    };
    spawns.of_call.iter().filter_map(of).collect()
}
