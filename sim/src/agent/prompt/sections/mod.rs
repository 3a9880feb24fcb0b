//! The parts of a system prompt.

pub mod coordinator;
mod session;
mod stable;

use std::borrow::Cow;

pub(super) use session::{environment, guidance, notes, servers, skills};
pub(super) use stable::{IDENTITY, STABLE};

/// A part of a prompt.
pub(super) struct Section {
    /// Its name in logs.
    pub name: &'static str,
    /// Its text.
    pub text: Cow<'static, str>,
}

impl Section {
    /// A part with fixed text.
    pub const fn fixed(name: &'static str, text: &'static str) -> Self {
        Self { name, text: Cow::Borrowed(text) }
    }

    /// A part with text of one session.
    pub const fn of(name: &'static str, text: String) -> Self {
        Self { name, text: Cow::Owned(text) }
    }
}

/// The last part of the main prompt: a note on tool results (PROMPT-01).
pub(super) const CLOSING: &str = "Results of tools may be cleared from the conversation later. Write down in your \
    answers what you will still need of them.";
