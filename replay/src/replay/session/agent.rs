//! The prompt of one agent on its way, for the explanation.

use std::sync::Arc;

use forkcast_sim::wire::{Level, Usage};

use crate::rebuild::history::{Entry, History};
use crate::rebuild::lane::Arena;
use crate::transcript::{Agent, Part, Sign, What};

/// An agent's conversation on its way.
#[derive(Debug, Default)]
pub(super) struct State {
    pub history: History,
    /// Items taken in.
    cursor: usize,
    /// Model and usage of the request before.
    pub last: Option<(Arc<str>, Usage)>,
    /// Tokens of the hidden prefix, as far as they are known.
    pub head_tokens: u64,
    /// How many entries stood in the last request.
    pub sent_entries: usize,
    /// The conversation was folded once.
    pub folded: bool,
}

/// Where the blocks of agents begin among the namespaces of opaque blocks.
const FIRST_SPACE: u64 = 16;

impl State {
    /// Takes in everything up to the answer at `item`.
    pub fn take_in(&mut self, arena: &mut Arena, number: usize, agent: &Agent, item: usize) {
        let from = self.cursor;
        for (at, entry) in agent.thread.items.iter().enumerate().take(item).skip(from) {
            match &entry.what {
                What::Input(input) => self.parts(arena, (number, at), &input.parts),
                What::Sign(Sign::Compacted { .. } | Sign::Cleared) => self.keep(0),
                What::Sign(Sign::Rewound { to }) => {
                    let kept = to.map_or(0, |to| self.history.len_at(to));
                    self.keep(kept);
                }
                What::Sign(_) | What::Answer(_) => {}
            }
        }
        self.cursor = item + 1;
    }

    fn keep(&mut self, entries: usize) {
        self.history.truncate(entries);
        self.sent_entries = self.sent_entries.min(entries);
    }

    /// Adds the blocks of an item.
    pub fn parts(&mut self, arena: &mut Arena, (number, item): (usize, usize), parts: &[Part]) {
        let space = FIRST_SPACE + number as u64;
        for (at, part) in parts.iter().enumerate() {
            let id = (item as u128) << 32 | at as u128;
            let block = arena.blocks.opaque(space, id, part.kind, Level::Messages);
            let weight = u64::from(part.bytes).max(1);
            self.history.push(Entry { block, kind: part.kind, item: u32::try_from(item).unwrap_or(u32::MAX), weight });
        }
    }
}
