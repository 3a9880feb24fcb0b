//! A request as it was sent, and the facts besides its bytes.

use std::sync::Arc;

use super::breakpoints::Breakpoints;
use crate::diagnosis::Subject;
use crate::service::PriceFacts;
use crate::time::Instant;
use crate::wire::{Addresses, Maker, Usage};

/// Facts about a request besides its prompt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// Name of the chain (the agent) if the input names it; else it is found by message history.
    pub chain: Option<&'a str>,
    /// Name of the chain that started this one, if the input names it.
    pub parent: Option<&'a str>,
    /// Its key in the input, if others may name it.
    pub key: Option<u64>,
    /// Key of the request in another chain that this one continues, if the input shows it: bytes alone do not show that
    /// a chain without most of its parent's history is a fork.
    pub continues: Option<u64>,
    /// Requests of one scope may share a cache.
    pub scope: &'a str,
    /// The agents of this scope belong to one run, so that those of one kind are siblings, even without a known caller.
    pub siblings: bool,
    /// When it was sent, where lifetimes are judged; if unknown, one second after the previous request.
    pub at: Option<Instant>,
    /// When it was sent, if that is recorded, whether or not lifetimes are judged.
    pub recorded_at: Option<Instant>,
    /// When the first byte of its answer came, or it was given up; if unknown, immediately.
    pub first_byte_at: Option<Instant>,
    /// It was given up before the first byte: nothing is billed, and what it would have written cannot be read.
    pub given_up: bool,
    /// Nothing of its answer is recorded: what it would have written cannot be read either.
    pub unanswered: bool,
    /// The usage that the provider reported, if it is recorded.
    pub usage: Option<Usage>,
    /// What decides its prices besides the body, if it is recorded.
    pub price: Option<PriceFacts<'a>>,
}

impl Facts<'_> {
    /// Tokens of the whole prompt: the provider's total, else the sum over the blocks.
    pub(super) fn total_tokens(&self, taken: &Subject) -> u64 {
        self.usage.map_or_else(|| taken.total_tokens(), |usage| usage.total_input_tokens())
    }
}

/// A body as it was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent<'a> {
    /// The bytes of the body.
    pub body: &'a [u8],
    /// The provider with the rules that it follows.
    pub maker: Maker,
    /// Facts besides the prompt.
    pub facts: Facts<'a>,
    /// Positions of its parts in the body that was sent, if these bytes are a translation; used in reported paths.
    pub addresses: Option<&'a Arc<Addresses>>,
    /// The model, if the address names it and the body does not.
    pub model_outside: &'a str,
    /// Tokens of each of its prefixes, if the input declares them.
    pub sizes: Option<&'a [u64]>,
    /// Facts about its breakpoints besides those in the body.
    pub breakpoints: Breakpoints,
}

impl<'a> Sent<'a> {
    /// A body about which nothing else is known.
    pub fn body(body: &'a [u8]) -> Self {
        Self { body, ..Self::default() }
    }
}
