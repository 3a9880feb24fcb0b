//! The blocks of one agent's conversation, with the tokens that recorded totals have shown.

use forkcast_sim::wire::{BlockId, BlockKind, Place};

/// One block of the conversation.
#[derive(Clone, Copy, Debug)]
pub struct HistoryBlock {
    /// The opaque block.
    pub block: BlockId,
    /// What it is.
    pub kind: BlockKind,
    /// Index of the item of the thread that it came with.
    pub item: u32,
    /// Its weight when tokens are shared among blocks: an estimate.
    pub weight: u64,
    /// Its place among the messages.
    pub place: Place,
}

/// The content of the next request after the hidden prefix.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<HistoryBlock>,
    /// In step with `entries`: tokens of the whole prompt up to and with each. The last ones may not be known yet.
    ends: Vec<u64>,
    /// How many leading blocks are still those that stood here at the last [`History::take_kept`].
    kept: usize,
}

impl History {
    /// How many leading blocks have not changed since this was asked last.
    pub fn take_kept(&mut self) -> usize {
        std::mem::replace(&mut self.kept, usize::MAX).min(self.entries.len())
    }

    /// The blocks.
    pub fn entries(&self) -> &[HistoryBlock] {
        &self.entries
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a block.
    pub fn push(&mut self, entry: HistoryBlock) {
        self.entries.push(entry);
    }

    /// Keeps the first `len` blocks.
    pub fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
        self.ends.truncate(len);
        self.kept = self.kept.min(len);
    }

    /// Makes one block of all that have a size. The others stay.
    pub fn fold(&mut self) {
        let (sized, Some(end)) = (self.ends.len(), self.ends.last().copied()) else { return };
        let Some(last) = sized.checked_sub(1).and_then(|at| self.entries.get(at)).copied() else { return };
        self.entries.splice(..sized, [HistoryBlock { kind: BlockKind::Opaque, ..last }]);
        self.ends = vec![end];
        self.kept = 0;
    }

    /// How many leading blocks came with items up to `item`.
    pub fn len_at(&self, item: u32) -> usize {
        self.entries.partition_point(|entry| entry.item <= item)
    }

    /// Tokens up to block `at`, where they are known.
    pub fn end(&self, at: usize) -> Option<u64> {
        self.ends.get(at).copied()
    }

    /// Tokens of everything that has a size; `head` where nothing has.
    pub fn sized_tokens(&self, head: u64) -> u64 {
        self.ends.last().copied().unwrap_or(head)
    }

    /// How many leading blocks end at or before `tokens`.
    pub fn len_within(&self, tokens: u64) -> usize {
        self.ends.partition_point(|end| *end <= tokens)
    }

    /// Weight of the blocks without a size.
    pub fn unsized_weight(&self) -> u64 {
        self.entries[self.ends.len()..].iter().map(|entry| entry.weight).sum()
    }

    /// Gives the blocks without a size their share of what lies between `head` (or the last known end) and `whole`. Where
    /// the whole is less than the known sizes, all of them shrink in proportion. Gives the first entry whose size is new.
    pub fn size_to(&mut self, head: u64, whole: u64) -> usize {
        let mut from = self.ends.len();
        if self.sized_tokens(head) > whole {
            self.shrink(head, whole);
            from = 0;
        }
        let base = self.sized_tokens(head).min(whole);
        let weight = self.unsized_weight();
        let mut passed = 0;
        for entry in &self.entries[self.ends.len()..] {
            passed += entry.weight;
            self.ends.push(base + part(whole - base, passed, weight));
        }
        if let Some(last) = self.ends.last_mut() {
            *last = whole;
            from = from.min(self.ends.len() - 1);
        }
        from
    }

    fn shrink(&mut self, head: u64, whole: u64) {
        let (old, room) = (self.sized_tokens(head).saturating_sub(head), whole.saturating_sub(head));
        for end in &mut self.ends {
            *end = head.min(whole) + part(room, end.saturating_sub(head), old);
        }
    }

    /// Corrects the end of the last block that has a size.
    pub fn correct_last(&mut self, tokens: u64) {
        let floor = self.ends.len().checked_sub(2).and_then(|at| self.ends.get(at)).copied().unwrap_or(0);
        if let Some(last) = self.ends.last_mut() {
            *last = tokens.max(floor);
        }
    }
}

/// `whole · passed ÷ of`, all of it where `of` is nothing.
fn part(whole: u64, passed: u64, of: u64) -> u64 {
    let product = u128::from(whole) * u128::from(passed);
    product.checked_div(u128::from(of)).map_or(whole, |share| u64::try_from(share).unwrap_or(u64::MAX))
}
