//! Stores drafts that were sent: each turn only stores the messages that it added.

use std::rc::Rc;

use crate::wire::{ChainId, Draft, Index, Mark, Message};

/// The drafts of a run, line by line. A conversation of ten thousand turns takes the memory of its messages; stored as
/// whole lists it took the square of that.
#[derive(Clone, Debug, Default)]
pub struct Drafts {
    kept: Vec<StoredDraft>,
    /// The line that each chain sent last; for a fork that has sent nothing yet, its parent's.
    last: Index<ChainId, usize>,
}

/// A draft without the messages that it shares with an earlier one.
#[derive(Clone, Debug)]
struct StoredDraft {
    base: Option<Base>,
    own: Draft,
}

/// The beginning of a list of messages.
#[derive(Clone, Copy, Debug)]
struct Base {
    line: usize,
    messages: usize,
}

impl Drafts {
    /// Number of drafts.
    pub const fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there are no drafts.
    pub const fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The draft that was sent as line `line`. Costs one step for each of its messages.
    ///
    /// # Panics
    /// When there is no such line.
    pub fn draft(&self, line: usize) -> Draft {
        let StoredDraft { base, own } = &self.kept[line];
        let messages = self.beginning(*base).into_iter().flatten().chain(&own.messages).cloned().collect();
        Draft { messages, ..own.clone() }
    }

    /// The breakpoints of line `line`.
    ///
    /// # Panics
    /// When there is no such line.
    pub fn marks(&self, line: usize) -> &[Mark] {
        &self.kept[line].own.marks
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Draft> {
        (0..self.len()).map(|line| self.draft(line))
    }

    /// Stores `draft`, which `chain` sent as the next line.
    pub(super) fn push(&mut self, chain: ChainId, draft: &Draft) {
        let base = self.last.get(&chain).and_then(|line| self.base(*line, &draft.messages));
        let own = draft.messages[base.map_or(0, |base| base.messages)..].to_vec();
        let own = Draft {
            model: Rc::clone(&draft.model),
            tools: Rc::clone(&draft.tools),
            system: Rc::clone(&draft.system),
            messages: own,
            parameters: Rc::clone(&draft.parameters),
            marks: draft.marks.clone(),
        };
        self.last.insert(chain, self.kept.len());
        self.kept.push(StoredDraft { base, own });
    }

    /// Lets `fork` continue where `parent` is.
    pub(super) fn fork(&mut self, fork: ChainId, parent: ChainId) {
        if let Some(line) = self.last.get(&parent).copied() {
            self.last.insert(fork, line);
        }
    }

    /// The part of `messages` shared with line `line`, or with the earlier line that contains all of that part.
    fn base(&self, mut line: usize, messages: &[Rc<Message>]) -> Option<Base> {
        let shared = self.shared(line, messages);
        while let Some(earlier) = self.kept[line].base.filter(|earlier| shared <= earlier.messages) {
            line = earlier.line;
        }
        (shared > 0).then_some(Base { line, messages: shared })
    }

    /// How many messages at the beginning are identical, not only equal.
    fn shared(&self, line: usize, messages: &[Rc<Message>]) -> usize {
        let older = self.beginning(Some(Base { line, messages: usize::MAX }));
        older.into_iter().flatten().zip(messages).take_while(|(old, new)| Rc::ptr_eq(old, new)).count()
    }

    /// The messages of `base`, part by part.
    fn beginning(&self, base: Option<Base>) -> Vec<&[Rc<Message>]> {
        let mut parts: Vec<&[Rc<Message>]> = Vec::new();
        let mut next = base;
        while let Some(Base { line, messages }) = next {
            let StoredDraft { base, own } = &self.kept[line];
            // The requested part may end within the base.
            let own_len = messages.saturating_sub(base.map_or(0, |base| base.messages)).min(own.messages.len());
            parts.push(&own.messages[..own_len]);
            next = base.map(|base| Base { messages: base.messages.min(messages), ..base });
        }
        parts.reverse();
        parts
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::Drafts;
    use crate::wire::{ChainId, Draft, Message, Piece, Role};

    fn message(text: &str) -> Rc<Message> {
        Rc::new(Message { role: Role::User, content: [Piece::text(text)].into() })
    }

    fn draft(messages: &[Rc<Message>]) -> Draft {
        Draft {
            model: "claude-opus-5-5".into(),
            tools: Rc::from([]),
            system: Rc::from([]),
            messages: messages.to_vec(),
            parameters: Rc::from([]),
            marks: Vec::new(),
        }
    }

    fn is_same(one: &[Rc<Message>], other: &[Rc<Message>]) -> bool {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Rc::ptr_eq(one, other))
    }

    #[test]
    fn a_turn_stores_only_its_additions() {
        let mut drafts = Drafts::default();
        let mut messages = Vec::new();
        for turn in 0..1_000 {
            messages.extend([message(&format!("question {turn}")), message(&format!("answer {turn}"))]);
            drafts.push(ChainId(0), &draft(&messages));
        }
        let held: usize = drafts.kept.iter().map(|kept| kept.own.messages.capacity()).sum();
        assert_eq!(held, messages.len());
        assert!(is_same(&drafts.draft(999).messages, &messages));
        assert_eq!(drafts.draft(499).messages.len(), 1_000);
    }

    proptest! {
        /// Chains grow, are cut, repeat messages and fork.
        #[test]
        fn drafts_come_back_whole(steps in prop::collection::vec((0..4_u32, 0..6_usize, 0..3_usize, 0..4_u32), 1..60)) {
            let mut drafts = Drafts::default();
            let mut chains = vec![Vec::new(); 4];
            let mut sent = Vec::new();
            for (at, (chain, kept, added, fork)) in steps.into_iter().enumerate() {
                let messages: &mut Vec<_> = &mut chains[chain as usize];
                messages.truncate(messages.len().saturating_sub(kept % 3));
                messages.extend((0..added).map(|new| message(&format!("{at} {new}"))));
                drafts.push(ChainId(chain), &draft(messages));
                sent.push(messages.clone());
                if fork != chain {
                    chains[fork as usize] = messages.clone();
                    drafts.fork(ChainId(fork), ChainId(chain));
                }
            }
            prop_assert_eq!(drafts.iter().count(), sent.len());
            for (draft, messages) in drafts.iter().zip(&sent) {
                prop_assert!(is_same(&draft.messages, messages));
            }
        }
    }
}
