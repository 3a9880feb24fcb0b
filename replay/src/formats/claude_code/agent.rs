//! One agent of a file while it is read: its items so far, and the state that the next line needs.

use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::Index;

use super::estimate;
use super::message::Lengths;
use crate::transcript::{Answer, InputOrigin, Item, OutputCount, Sign, Stop, What};

/// An agent and its items.
#[derive(Debug, Default)]
pub(super) struct AgentDraft {
    /// The sub-agent's id; `None` for the main agent.
    pub agent: Option<Arc<str>>,
    /// Its items.
    pub items: Vec<Item>,
    /// The index of each answer among the items.
    answers: Index<u128, u32>,
    /// The lengths from which the output of each answer is estimated, in the order of `estimated`.
    lengths: Vec<(u32, Lengths)>,
    /// Events since the newest answer.
    pub since: Since,
    /// The newest answer.
    newest_answer: Option<u32>,
    /// The newest prompt.
    newest_prompt: Option<u32>,
    /// The newest compaction.
    pub compacted: Option<u32>,
    /// Whether prompts ask for plan mode.
    pub plans: bool,
}

/// Events since the newest answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Since {
    /// Failed attempts.
    pub failed: u32,
    /// The user left.
    pub exit: bool,
    /// The client was restarted, and the file says so.
    pub restarted: bool,
    /// How often the permission mode was written down.
    pub modes: u32,
    /// How often the last prompt was written down.
    pub last_prompts: u32,
    /// An entry passed the queue, or the hooks at the end of a turn ran.
    pub queued: bool,
}

impl AgentDraft {
    /// A sub-agent.
    pub fn named(agent: Arc<str>) -> Self {
        Self { agent: Some(agent), ..Self::default() }
    }

    /// Adds an item and returns its index.
    pub fn push(&mut self, line: u32, at: Option<Instant>, what: What) -> u32 {
        let index = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        if let What::Input(input) = &what
            && is_said(input.origin)
        {
            self.newest_prompt = Some(index);
        }
        self.items.push(Item { line, at, what });
        index
    }

    /// Adds a sign.
    pub fn sign(&mut self, line: u32, at: Option<Instant>, sign: Sign) -> u32 {
        self.push(line, at, What::Sign(sign))
    }

    /// Index of the newest item.
    pub fn newest(&self) -> Option<u32> {
        u32::try_from(self.items.len()).ok()?.checked_sub(1)
    }

    /// When the newest item with an instant was written.
    pub fn newest_at(&self) -> Option<Instant> {
        self.items.iter().rev().take(LOOKED_BACK).find_map(|item| item.at)
    }

    /// Whether a line whose parent is the item `kept` abandons an answer or a prompt.
    pub fn goes_back(&self, kept: Option<u32>) -> bool {
        self.newest_answer.max(self.newest_prompt) > kept
    }

    /// The answer with this id.
    pub fn answer(&mut self, id: u128) -> Option<(u32, &mut Answer)> {
        let index = *self.answers.get(&id)?;
        match &mut self.items.get_mut(index as usize)?.what {
            What::Answer(answer) => Some((index, answer)),
            _ => None,
        }
    }

    /// Adds an answer.
    pub fn begin(&mut self, line: u32, answer: Answer) -> u32 {
        let (id, at) = (answer.id, answer.first_at);
        let index = self.push(line, at, What::Answer(Box::new(answer)));
        self.answers.insert(id, index);
        self.newest_answer = Some(index);
        self.since = Since::default();
        self.lengths.push((index, Lengths::default()));
        index
    }

    /// Adds lengths to those of the answer at `index`.
    pub fn measure(&mut self, index: u32, lengths: Lengths) {
        if let Ok(at) = self.lengths.binary_search_by_key(&index, |(index, _)| *index) {
            self.lengths[at].1.add(lengths);
        }
    }

    /// Whether a turn ended with the newest answer, that is, it calls no tool.
    pub fn turn_is_over(&self) -> bool {
        let newest = self.newest_answer.and_then(|index| self.items.get(index as usize));
        matches!(newest.map(|item| &item.what), Some(What::Answer(answer)) if answer.calls.is_empty())
    }

    /// The finished items: missing outputs are estimated, and spare capacity is released.
    pub fn finish(mut self) -> Vec<Item> {
        for (index, lengths) in self.lengths {
            if let Some(Item { what: What::Answer(answer), .. }) = self.items.get_mut(index as usize) {
                close(answer, &lengths);
            }
        }
        self.items.shrink_to_fit();
        self.items
    }
}

/// The maximum number of items without an instant between a line and the previous instant.
const LOOKED_BACK: usize = 64;

const fn is_said(origin: InputOrigin) -> bool {
    matches!(origin, InputOrigin::Prompt | InputOrigin::Injected | InputOrigin::Notification | InputOrigin::Summary)
}

fn close(answer: &mut Answer, lengths: &Lengths) {
    answer.parts.shrink_to_fit();
    answer.calls.shrink_to_fit();
    if answer.stop == Stop::Other && !answer.calls.is_empty() {
        answer.stop = Stop::ToolUse;
    }
    if let (OutputCount::StreamStart { estimated_tokens }, Some(recorded)) = (&mut answer.output, &mut answer.usage) {
        recorded.output_is_start_value = true;
        let counted = u32::try_from(recorded.usage.output_tokens).unwrap_or(u32::MAX);
        *estimated_tokens = estimate::tokens(&answer.model, lengths).max(counted);
    }
}
