//! Tokens of the blocks of a recorded conversation, as its recorded prompts show them.

use std::collections::BTreeMap;

use forkcast_sim::wire::{BlockKind, Level, Role, Wire};

use super::conversation::{Conversation, Piece};
use crate::transcript::{Agent, Answer};

/// What the prompts of a recorded conversation show of its sizes.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// Tokens before the conversation (tools and system prompt), as its first request shows them.
    pub hidden_tokens: u64,
    /// Tokens of each block by item and part, as the first request with that block shows them.
    pub blocks: BTreeMap<(usize, usize), u64>,
}

impl Shares {
    /// The shares of an agent's blocks. A block that no request shows has none.
    pub fn of(agent: &Agent) -> Self {
        let mut shares = Self::default();
        let mut wire = Wire::default();
        let mut number = 0;
        let mut block = |_: &Piece<'_>| {
            number += 1;
            wire.blocks.opaque(2, number, BlockKind::Opaque, Level::Messages)
        };
        let mut conversation = Conversation::default();
        for (at, item) in agent.thread.items.iter().enumerate() {
            let Some(answer) = item.answer() else { continue };
            conversation.take_in(agent, at, &mut block);
            shares.show(&mut conversation, answer);
            conversation.say(Role::Assistant, at, &answer.parts, &mut block);
        }
        shares.hidden_tokens = conversation.head();
        shares
    }

    /// Tokens of block `part` of item `item`; zero if no request shows it.
    pub fn of_block(&self, item: usize, part: usize) -> u64 {
        self.blocks.get(&(item, part)).map_or(0, |tokens| *tokens)
    }

    /// Sizes the blocks of the request of `answer`, and notes those that had no size.
    fn show(&mut self, conversation: &mut Conversation, answer: &Answer) {
        let Some(recorded) = answer.usage.filter(|recorded| recorded.usage.total_input_tokens() > 0) else { return };
        let whole = recorded.usage.total_input_tokens();
        let from = conversation.size_to(whole, recorded.usage.cache_read_input_tokens);
        let history = &conversation.history;
        let entries = history.entries();
        let begins = |at: usize| at == 0 || entries[at - 1].item != entries[at].item;
        let last = from.min(entries.len().saturating_sub(1));
        let first = last - (1..=last).rev().take_while(|at| !begins(*at)).count();
        let mut part = 0;
        for (at, entry) in entries.iter().enumerate().skip(first) {
            part = if begins(at) { 0 } else { part + 1 };
            let before = at.checked_sub(1).and_then(|at| history.end(at)).unwrap_or(conversation.head().min(whole));
            let Some(end) = history.end(at) else { break };
            let place = (entry.item as usize, part);
            self.blocks.entry(place).or_insert(end.saturating_sub(before));
        }
    }
}
