//! Layout of a served prompt: where its levels end, and how much of it the previous request had sent.

use crate::diagnosis::Subject;
use crate::wire::{Level, shared_nodes};

/// A prompt from left to right, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Where tools, system and messages end, each counted from the start of the prompt.
    pub level_ends: [u64; 3],
    /// The request that it continues, by its line of the ledger: the agent's last one, or, for a fork's first request,
    /// the parent's last one. `None` without one.
    pub continues: Option<usize>,
    /// Tokens of the prefix that both share; zero if it continues none.
    pub shared_tokens: u64,
}

impl Layout {
    /// The layout of a request.
    pub fn of(subject: &Subject, continues: Option<&Subject>) -> Self {
        let Subject { request, cumulative, .. } = subject;
        let tokens = |blocks: usize| if blocks == 0 { 0 } else { cumulative[blocks - 1] };
        let ends = |after: Level| tokens(request.level_start(after));
        let shared = continues.map_or(0, |previous| shared_nodes(&previous.request.nodes, &request.nodes));
        Self {
            level_ends: [ends(Level::System), ends(Level::Messages), tokens(cumulative.len())],
            continues: continues.map(|previous| previous.number),
            shared_tokens: tokens(shared),
        }
    }
}
