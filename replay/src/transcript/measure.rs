//! Blocks of a transcript, counted while they are read, if counted sizes were requested.
//!
//! The model of a block is not known when it is read (a prompt comes before its answer, a session may change its model), so
//! the basis of every tokenizer's estimate is kept: tokens in o200k, and the class of the text.

use std::sync::{Mutex, MutexGuard, PoisonError};

use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{BlockKind, Content, Index, Level, Role};
use forkcast_tokens::{Class, Makeup, Vocabulary, makeup};
use xxhash_rust::xxh3::xxh3_128;

use super::Part;

/// Class, tokens and fixed tokens of a block.
type Measure = (Class, u32, u32);

/// Counts blocks, each distinct one once, however many files have it.
#[derive(Debug, Default)]
pub struct Measuring {
    known: Mutex<Index<u128, Measure>>,
}

impl Measuring {
    /// Counts the block with this JSON.
    pub fn measure(&self, part: &mut Part, json: &[u8]) {
        let id = xxh3_128(json);
        let known = self.known().get(&id).copied();
        let measure = known.unwrap_or_else(|| {
            let found = measured(part.kind, json);
            self.known().insert(id, found);
            found
        });
        (part.class, part.tokens, part.fixed_tokens) = measure;
    }

    /// The index is valid even if a thread panicked while it held the lock, because inserts are single steps.
    fn known(&self) -> MutexGuard<'_, Index<u128, Measure>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A block has texts of several classes only if the result of a tool has several parts; all then count as the largest.
/// Images are scaled to the tier of models from Opus 4.7 on.
fn measured(kind: BlockKind, json: &[u8]) -> Measure {
    let content = Content { level: Level::Messages, role: Role::Other, kind, bytes: json };
    let found = makeup(content, Tokenizer::Claude47, Vocabulary::O200k);
    let class = Class::ALL.into_iter().max_by_key(|class| found.text[*class as usize]).unwrap_or(Class::Prose);
    let clamped = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
    (class, clamped(found.text_tokens()), clamped(found.fixed))
}

impl Part {
    /// Its makeup; empty unless sizes are counted.
    pub fn makeup(&self) -> Makeup {
        let mut whole = Makeup { fixed: u64::from(self.fixed_tokens), ..Makeup::default() };
        whole.text[self.class as usize] = u64::from(self.tokens);
        whole.calls = u64::from(matches!(self.kind, BlockKind::ToolUse | BlockKind::ToolResult));
        whole
    }
}
