//! The conversation of one agent so far: the content of its next request after the prefix that the transcript hides.

use forkcast_sim::wire::{BlockId, Level, Place, Role, number};
use xxhash_rust::xxh3::xxh3_64;

use crate::rebuild::history::{History, HistoryBlock};
use crate::transcript::{Agent, AgentKind, Input, Part, Sign, Thread, What};

/// Bytes of JSON for a token, if only lengths are known.
const BYTES_PER_TOKEN: u64 = 3;

/// A part of an item that becomes a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    pub role: Role,
    /// Index of the item in its thread.
    pub item: usize,
    /// Index of the part in its item.
    pub at: usize,
    /// The number of parts added to the conversation before it.
    pub number: u64,
    pub part: &'a Part,
}

/// Makes blocks of parts.
pub(crate) type MakeBlock<'m> = &'m mut dyn FnMut(&Piece<'_>) -> BlockId;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub history: History,
    /// Items read so far.
    cursor: usize,
    /// The role of the last message; `None` if the next part begins a new one.
    role: Option<Role>,
    parts: u64,
    /// Tokens of the hidden prefix, once a request has shown them.
    pub head_tokens: Option<u64>,
    /// The number of entries in the last request.
    pub sent_entries: usize,
}

/// The effect of an item between two answers on a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HistoryChange<'a> {
    /// It is part of the next request.
    Adds(&'a Input),
    /// Everything after the item of this index is removed; everything at all, if there is none.
    Keeps(Option<u32>),
    /// This many tokens of results were cleared in place.
    Clears(u64),
}

/// The items before the answer at `item`, from the one at `from` on, that change the conversation, each with its index.
pub(crate) fn changes(thread: &Thread, from: usize, item: usize) -> impl Iterator<Item = (usize, HistoryChange<'_>)> {
    let items = thread.items.iter().enumerate().take(item).skip(from);
    items.filter_map(|(at, entry)| {
        let change = match &entry.what {
            What::Input(input) => HistoryChange::Adds(input),
            What::Sign(Sign::Compacted { .. } | Sign::Cleared) => HistoryChange::Keeps(None),
            What::Sign(Sign::Rewound { to }) => HistoryChange::Keeps(*to),
            What::Sign(Sign::MicroCompacted { saved_tokens, .. }) => HistoryChange::Clears(saved_tokens.unwrap_or(0)),
            What::Sign(_) | What::Answer(_) => return None,
        };
        Some((at, change))
    })
}

impl Conversation {
    /// Adds everything up to the answer at `item`.
    pub fn take_in(&mut self, agent: &Agent, item: usize, block: MakeBlock<'_>) {
        for (at, change) in changes(&agent.thread, self.cursor, item) {
            match change {
                HistoryChange::Adds(input) => self.say(Role::User, at, &input.parts, block),
                HistoryChange::Keeps(to) => self.keep(to.map_or(0, |to| self.history.len_at(to))),
                // The client's number is an estimate; the next usage shows it.
                HistoryChange::Clears(_) => {}
            }
        }
        self.cursor = item + 1;
    }

    fn keep(&mut self, entries: usize) {
        self.history.truncate(entries);
        self.sent_entries = self.sent_entries.min(entries);
        self.role = None;
    }

    /// Adds the parts of an item.
    pub fn say(&mut self, role: Role, item: usize, parts: &[Part], block: MakeBlock<'_>) {
        for (at, part) in parts.iter().enumerate() {
            let place = self.next_place(role);
            self.role = Some(role);
            let block = block(&Piece { role, item, at, number: self.parts, part });
            self.parts += 1;
            let item = number(item);
            self.history.push(HistoryBlock {
                block,
                kind: part.kind,
                item,
                weight: u64::from(part.bytes).max(1),
                place,
            });
        }
    }

    fn next_place(&self, role: Role) -> Place {
        let last = self.history.entries().last().map(|entry| entry.place);
        match last {
            Some(last) if self.role == Some(role) => Place { part: last.part.saturating_add(1), ..last },
            _ => {
                let item = last.map_or(0, |last| last.item.saturating_add(1));
                Place { level: Level::Messages, item, part: 0, keys: false }
            }
        }
    }

    /// Tokens of the hidden prefix; zero until a request has shown them.
    pub fn head(&self) -> u64 {
        self.head_tokens.unwrap_or(0)
    }

    /// Shares the `whole` prompt of a request among its blocks: the tokens that the conversation's first request read, or that
    /// its blocks leave, are the hidden prefix. Returns the first entry with a new size.
    pub fn size_to(&mut self, whole: u64, read: u64) -> usize {
        let left = whole.saturating_sub(self.history.unsized_weight() / BYTES_PER_TOKEN);
        let head = *self.head_tokens.get_or_insert(if read > 0 { read.min(whole) } else { left });
        self.history.size_to(head.min(whole), whole)
    }

    /// Tokens of each prefix, the hidden one first. Sizes that no request has shown are estimated from lengths.
    pub fn sizes(&self) -> Vec<u64> {
        let head = self.head();
        let known = self.history.sized_tokens(head);
        let mut weight = 0;
        let ends = self.history.entries().iter().enumerate().map(|(at, entry)| {
            self.history.end(at).unwrap_or_else(|| {
                weight += entry.weight;
                known + weight / BYTES_PER_TOKEN
            })
        });
        // A prompt may be smaller than the hidden prefix was.
        let first = self.history.end(0).map_or(head, |end| head.min(end));
        std::iter::once(first).chain(ends).collect()
    }
}

/// The number of an agent's hidden prefix: agents of one kind share theirs.
pub(crate) fn hidden_prefix(kind: &AgentKind) -> u64 {
    let word = match kind {
        AgentKind::Main | AgentKind::Fork | AgentKind::Internal => "main",
        AgentKind::Named { name, .. } => name.as_deref().unwrap_or("agent"),
    };
    xxh3_64(word.as_bytes())
}
