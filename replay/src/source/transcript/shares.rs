//! Tokens of the blocks of a recorded conversation, as its recorded prompts show them.

use std::collections::BTreeMap;

use forkcast_sim::service::FRAME_TOKENS;
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
    /// Tokens that were left out of the prompt of the answer at this item and are in no later one: the whole prompt is
    /// smaller than its parts.
    pub dropped: BTreeMap<usize, u64>,
}

/// Follows how much smaller prompts are than their parts.
#[derive(Debug, Default)]
struct Dropping {
    /// Tokens that are known to be left out of the conversation as it is now.
    tokens: u64,
    /// The part of its item that each entry is, and the tokens of all entries up to it.
    ends: Vec<(usize, u64)>,
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
        let mut dropping = Dropping::default();
        for (at, item) in agent.thread.items.iter().enumerate() {
            let Some(answer) = item.answer() else { continue };
            conversation.take_in(agent, at, &mut block);
            shares.show(&mut conversation, answer);
            shares.drop_from(&mut dropping, &mut conversation, at, answer);
            conversation.say(Role::Assistant, at, &answer.parts, &mut block);
        }
        shares.hidden_tokens = conversation.head();
        shares
    }

    /// The shares with each size changed by `scale`.
    pub fn scaled(mut self, scale: impl Fn(u64) -> u64) -> Self {
        self.hidden_tokens = scale(self.hidden_tokens);
        self.blocks.values_mut().chain(self.dropped.values_mut()).for_each(|tokens| *tokens = scale(*tokens));
        self
    }

    /// Tokens of block `part` of item `item`; zero if no request shows it.
    pub fn of_block(&self, item: usize, part: usize) -> u64 {
        self.blocks.get(&(item, part)).map_or(0, |tokens| *tokens)
    }

    /// Notes what the request of the answer at `item` leaves out.
    fn drop_from(&mut self, dropping: &mut Dropping, conversation: &mut Conversation, item: usize, answer: &Answer) {
        let Some(whole) = answer.prompt_tokens() else { return };
        let Dropping { tokens, ends } = dropping;
        if conversation.sent_entries < ends.len() {
            // Whether it was in what is gone now is unknown.
            *tokens = 0;
            ends.truncate(conversation.sent_entries);
        }
        let entries = conversation.history.entries();
        for (at, entry) in entries.iter().enumerate().skip(ends.len()) {
            let (before, end) = ends.last().map_or((0, 0), |last| *last);
            let is_next = at > 0 && entries[at - 1].item == entry.item;
            let part = if is_next { before + 1 } else { 0 };
            ends.push((part, end + self.of_block(entry.item as usize, part)));
        }
        let parts = conversation.head() + ends.last().map_or(0, |(_, end)| *end);
        conversation.sent_entries = entries.len();
        let left_out = parts.saturating_sub(*tokens).saturating_sub(whole);
        if left_out > FRAME_TOKENS {
            *tokens += left_out;
            self.dropped.insert(item, left_out);
        }
    }

    /// Sizes the blocks of the request of `answer`, and notes those that had no size.
    fn show(&mut self, conversation: &mut Conversation, answer: &Answer) {
        let Some(whole) = answer.prompt_tokens() else { return };
        let read = answer.usage.map_or(0, |recorded| recorded.usage.cache_read_input_tokens);
        let from = conversation.size_to(whole, read);
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
