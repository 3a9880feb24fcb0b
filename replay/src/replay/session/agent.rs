//! What is known of one agent between its requests.

use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Level, Ttl, Usage};
use xxhash_rust::xxh3::xxh3_64;

use super::ask::Ask;
use crate::rebuild::habits::Situation;
use crate::rebuild::history::{Entry, History};
use crate::rebuild::lane::Arena;
use crate::transcript::{Agent, Answer, Input, InputOrigin, Part, Sign, Stop, Thinking, What};

/// What the last request of an agent left behind.
#[derive(Clone, Debug)]
pub(super) struct Last {
    pub usage: Usage,
    pub ended_at: Instant,
    pub turn_over: bool,
    pub loads_tools: Option<u32>,
    pub model: Arc<str>,
    /// Tokens of the answer: final, or by estimate.
    pub output_tokens: u64,
    /// Requests of the turn so far.
    pub turn_requests: u32,
}

/// An agent's conversation on its way.
#[derive(Debug, Default)]
pub(super) struct State {
    pub history: History,
    /// Items taken in.
    pub cursor: usize,
    pub last: Option<Last>,
    pub ttl: Option<Ttl>,
    pub thinking: Option<Thinking>,
    pub effort: Option<Arc<str>>,
    pub version: Option<Arc<str>>,
    pub plan_mode: bool,
    pub interrupted_at: Option<Instant>,
    /// Tokens of the hidden prefix, as far as they are known.
    pub head_tokens: u64,
    /// How many entries stood in the last request.
    pub sent_entries: usize,
    /// Requests before this one.
    pub requests: u32,
}

impl State {
    /// Takes in everything up to the answer at `item`: what stands in its prompt, and what the signs tell.
    pub fn take_in(&mut self, arena: &mut Arena, number: usize, agent: &Agent, item: usize) -> Situation {
        let mut situation = Situation::default();
        let from = self.cursor;
        for (at, entry) in agent.thread.items.iter().enumerate().take(item).skip(from) {
            match &entry.what {
                What::Input(input) => self.input(arena, (number, at), entry.line, input, &mut situation),
                What::Sign(sign) => self.sign(sign, entry.line, &mut situation),
                What::Answer(_) => {}
            }
            if matches!(entry.what, What::Sign(Sign::Interrupted)) {
                self.interrupted_at = entry.at;
            }
        }
        self.cursor = item + 1;
        situation
    }

    fn input(&mut self, arena: &mut Arena, place: (usize, usize), line: u32, input: &Input, situation: &mut Situation) {
        self.parts(arena, place, &input.parts);
        if matches!(input.origin, InputOrigin::Prompt | InputOrigin::Injected | InputOrigin::Notification) {
            situation.turn_begins.get_or_insert(line);
        }
    }

    /// Adds the blocks of an item.
    pub fn parts(&mut self, arena: &mut Arena, (number, item): (usize, usize), parts: &[Part]) {
        let space = number as u64 + 16;
        for (at, part) in parts.iter().enumerate() {
            let id = (item as u128) << 32 | at as u128;
            let block = arena.blocks.opaque(space, id, part.kind, Level::Messages);
            let weight = u64::from(part.bytes).max(1);
            self.history.push(Entry { block, kind: part.kind, item: u32::try_from(item).unwrap_or(u32::MAX), weight });
        }
    }

    fn sign(&mut self, sign: &Sign, line: u32, situation: &mut Situation) {
        match sign {
            Sign::Thinking(state) => {
                if self.thinking.is_some_and(|before| before != *state) && self.requests > 0 {
                    situation.state_changed = Some(line);
                }
                self.thinking = Some(*state);
            }
            Sign::Restarted => situation.restarted = Some(line),
            Sign::Compacted { .. } => {
                situation.compacted = Some(line);
                self.history.truncate(0);
                self.sent_entries = 0;
            }
            Sign::MicroCompacted { .. } => situation.micro_compacted = Some(line),
            Sign::Rewound { to } => {
                situation.rewound = Some(line);
                let kept = to.map_or(0, |to| self.history.len_at(to));
                self.history.truncate(kept);
                self.sent_entries = self.sent_entries.min(kept);
            }
            Sign::PlanMode(on) => self.plan_mode = *on,
            _ => {}
        }
    }

    /// What the answer itself tells of its request.
    pub fn announce(&mut self, answer: &Answer, line: u32, situation: &mut Situation) {
        situation.line = line;
        if self.requests > 0 {
            if answer.version.is_some() && self.version.is_some() && answer.version != self.version {
                situation.version_changed = Some(line);
            }
            if answer.effort.is_some() && self.effort.is_some() && answer.effort != self.effort {
                situation.state_changed = Some(line);
            }
            situation.tools_loaded = self.last.as_ref().and_then(|last| last.loads_tools);
        }
        self.version = answer.version.clone().or_else(|| self.version.take());
        self.effort = answer.effort.clone().or_else(|| self.effort.take());
    }

    /// The number of the message level's parameters.
    pub fn state_id(&self) -> u64 {
        let thinking = match self.thinking {
            None => 0,
            Some(Thinking::Off) => 1,
            Some(Thinking::On(level)) => level | 2,
        };
        thinking ^ self.effort.as_ref().map_or(0, |effort| xxh3_64(effort.as_bytes()))
    }

    /// Remembers an answer, whose blocks stand in the next prompt.
    pub fn answered(&mut self, ask: &Ask<'_>, usage: Usage, output_tokens: u64) {
        let Ask { answer, line, ended_at, .. } = *ask;
        let calls = answer.calls.iter().any(|call| &*call.tool == "ToolSearch");
        let turn_over = answer.calls.is_empty() && answer.stop != Stop::ToolUse;
        let before = self.last.as_ref().filter(|last| !last.turn_over).map_or(0, |last| last.turn_requests);
        self.last = Some(Last {
            usage,
            ended_at,

            turn_over,
            loads_tools: calls.then_some(line),
            model: answer.model.clone(),
            output_tokens,
            turn_requests: before + 1,
        });
        self.requests += 1;
        self.interrupted_at = None;
    }
}
