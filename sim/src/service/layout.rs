//! How a served prompt is laid out: where its levels end, and how much of it the request that it continues had sent.

use crate::diagnosis::Previous;
use crate::wire::{Level, NodeId, Request};

/// A prompt from left to right, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Where tools, system and messages end, each counted from the start of the prompt.
    pub level_ends: [u64; 3],
    /// The request that it continues, by its line of the ledger: the agent's last one, or of a fork's first request what its
    /// parent had sent last. `None` where there is none.
    pub continues: Option<usize>,
    /// Tokens of the prefix that both begin with; zero where it continues none.
    pub shared_tokens: u64,
    /// Blocks of that prefix.
    pub shared_blocks: usize,
    /// Tokens of each block behind it.
    pub own_tokens: Vec<u64>,
}

impl Layout {
    /// The layout of a request whose prefixes have `cumulative` tokens.
    pub fn of(request: &Request, cumulative: &[u64], continues: Option<(usize, &Previous)>) -> Self {
        let tokens = |blocks: usize| blocks.checked_sub(1).and_then(|last| cumulative.get(last)).copied().unwrap_or(0);
        let ends = |after: Level| tokens(request.level_start(after));
        let shared = continues.map_or(0, |(_, previous)| common(&previous.request.nodes, &request.nodes));
        Self {
            level_ends: [ends(Level::System), ends(Level::Messages), tokens(cumulative.len())],
            continues: continues.map(|(line, _)| line),
            shared_tokens: tokens(shared),
            shared_blocks: shared,
            own_tokens: (shared..cumulative.len()).map(|at| tokens(at + 1) - tokens(at)).collect(),
        }
    }

    /// Tokens of each of its prefixes; `continued` are those of the request that it continues.
    pub fn cumulative(&self, continued: &[u64]) -> Vec<u64> {
        let mut cumulative = continued[..self.shared_blocks].to_vec();
        // What a provider adds to a whole prompt counts at the end of each.
        if let Some(last) = cumulative.last_mut() {
            *last = self.shared_tokens;
        }
        for tokens in &self.own_tokens {
            cumulative.push(cumulative.last().copied().unwrap_or(0) + tokens);
        }
        cumulative
    }
}

/// Blocks that both prompts begin with. Equal prefixes have equal ids, so where one differs all longer ones do.
fn common(older: &[NodeId], newer: &[NodeId]) -> usize {
    let (mut same, mut other) = (0, older.len().min(newer.len()));
    while same < other {
        let middle = same + (other - same) / 2;
        if older[middle] == newer[middle] {
            same = middle + 1;
        } else {
            other = middle;
        }
    }
    same
}
