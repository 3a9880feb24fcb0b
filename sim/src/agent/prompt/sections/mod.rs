//! The parts of a system prompt.

mod session;
mod stable;

use std::borrow::Cow;

pub(super) use session::{environment, guidance, notes, servers, skills};
pub(super) use stable::{IDENTITY, STABLE};

/// A part of a prompt.
pub(super) struct Section {
    /// Its word in logs.
    pub name: &'static str,
    /// What it says.
    pub text: Cow<'static, str>,
}

impl Section {
    /// A part that always says the same.
    pub const fn fixed(name: &'static str, text: &'static str) -> Self {
        Self { name, text: Cow::Borrowed(text) }
    }

    /// A part of a session.
    pub const fn of(name: &'static str, text: String) -> Self {
        Self { name, text: Cow::Owned(text) }
    }
}

/// The last part of the main prompt: a note on results of tools (PROMPT-01).
pub(super) const CLOSING: &str = "Results of tools may be cleared from the conversation later. Write down in your \
    answers what you will still need of them.";
