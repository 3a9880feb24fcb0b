//! A request as it was sent, and what is known beside its bytes.

use std::sync::Arc;

use super::breakpoints::Breakpoints;
use crate::diagnosis::Subject;
use crate::time::Instant;
use crate::wire::{Addresses, Maker, Usage};

/// What is known of a request beside its prompt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// Name of the chain (the agent) where the input names it; else it is found by message history.
    pub chain: Option<&'a str>,
    /// Name of the chain that started this one, where the input names it.
    pub parent: Option<&'a str>,
    /// The request of another chain that this one goes on from, by its position, where the input knows that: bytes alone do not
    /// show that a chain without most of its parent's history is a fork.
    pub continues: Option<usize>,
    /// Who may share a cache: requests of one scope.
    pub scope: &'a str,
    /// The agents of this scope are of one run, so that those of one kind are siblings, though nobody says who called them.
    pub siblings: bool,
    /// When it was sent; without it, one second after the request before.
    pub at: Option<Instant>,
    /// When the first byte of its answer came; without it, at once.
    pub first_byte_at: Option<Instant>,
    /// What the provider reported, where that is recorded.
    pub usage: Option<Usage>,
}

impl Facts<'_> {
    /// Tokens of the whole prompt: what the provider reported in sum, else what the blocks have.
    pub(super) fn total_tokens(&self, taken: &Subject) -> u64 {
        self.usage.map_or_else(|| taken.total_tokens(), |usage| usage.total_input_tokens())
    }
}

/// A body as it was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent<'a> {
    /// The bytes of the body.
    pub body: &'a [u8],
    /// Whose rules it follows.
    pub maker: Maker,
    /// What is known beside the prompt.
    pub facts: Facts<'a>,
    /// Where its parts stood in the body that was sent, where these bytes are a translation; paths are told as these.
    pub addresses: Option<&'a Arc<Addresses>>,
    /// The model, where the address names it and the body does not.
    pub model_outside: &'a str,
    /// Tokens of each of its prefixes, where the input declares them.
    pub sizes: Option<&'a [u64]>,
    /// What is known of its breakpoints beside those in the body.
    pub breakpoints: Breakpoints,
}

impl<'a> Sent<'a> {
    /// A body of which nothing else is known.
    pub fn body(body: &'a [u8]) -> Self {
        Self { body, ..Self::default() }
    }
}
