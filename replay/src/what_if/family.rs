//! Which agents share what they cache.
//!
//! Agents whose prompts begin with the same block may read each other's entries. A choice for only one of them would count reads
//! of entries that were not written, so they choose together.

use std::collections::BTreeMap;

use forkcast_sim::wire::{BlockId, NodeId, Prefixes};

/// Families of agents.
#[derive(Debug, Default)]
pub(super) struct Families {
    /// First blocks by number of the line that a prompt begins on.
    first_blocks: BTreeMap<usize, BlockId>,
    by_block: BTreeMap<BlockId, usize>,
    by_agent: Vec<Option<usize>>,
    /// Families that turned out to be one point to the other.
    joined: Vec<usize>,
}

impl Families {
    /// An agent sent this prompt.
    pub fn sent(&mut self, agent: usize, prefixes: &Prefixes, end: NodeId) {
        let Some(block) = self.first_block(prefixes, end) else { return };
        let family = *self.by_block.entry(block).or_insert_with(|| {
            self.joined.push(self.joined.len());
            self.joined.len() - 1
        });
        if self.by_agent.len() <= agent {
            self.by_agent.resize(agent + 1, None);
        }
        match self.by_agent[agent] {
            None => self.by_agent[agent] = Some(family),
            Some(known) => {
                let (known, family) = (self.root(known), self.root(family));
                self.joined[known.max(family)] = known.min(family);
            }
        }
    }

    /// The family of an agent; `None` for one that sent nothing.
    pub fn of(&self, agent: usize) -> Option<usize> {
        self.by_agent.get(agent).copied().flatten().map(|family| self.root(family))
    }

    /// No family has this number or a larger one.
    pub fn len(&self) -> usize {
        self.joined.len()
    }

    fn root(&self, mut family: usize) -> usize {
        while self.joined[family] != family {
            family = self.joined[family];
        }
        family
    }

    /// A few steps, one for each line; a line that is new is walked once.
    fn first_block(&mut self, prefixes: &Prefixes, end: NodeId) -> Option<BlockId> {
        let mut at = end;
        while let Some(branch) = prefixes.branch(prefixes.line(at)).filter(|branch| prefixes.depth(*branch) > 0) {
            at = branch;
        }
        let line = prefixes.line(at).index();
        if let Some(known) = self.first_blocks.get(&line) {
            return Some(*known);
        }
        let block = prefixes.ancestors(at).last().and_then(|first| prefixes.block(first))?;
        self.first_blocks.insert(line, block);
        Some(block)
    }
}
