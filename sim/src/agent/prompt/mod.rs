//! System prompt, tool descriptions and user context (contract PROMPT).

use std::rc::Rc;

use super::context::Context;
use crate::wire::{Message, Piece};

/// Renders the system prompt of `context`: of the main agent, or of a definition. Not pure: flags can flip between two
/// renderings (PROMPT-05). Every rendering is told to the watcher.
pub fn render_system(_context: &Context) -> Rc<[Piece]> {
    Rc::from([])
}

/// The messages that precede the conversation in every request (`prependUserContext`, LOOP-04).
pub fn user_context(_context: &Context) -> Vec<Rc<Message>> {
    Vec::new()
}
