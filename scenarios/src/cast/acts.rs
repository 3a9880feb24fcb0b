//! What the user did: lines typed, the queue, interruptions.

use forkcast_sim::time::{Duration, Instant};

/// A line without text: it held an image, or nothing.
pub(super) const NO_TEXT: &str = "(This line has no text.)";

/// A typed line.
#[derive(Clone, Debug, Default)]
pub(super) struct UserLine {
    pub text: String,
    pub at: Option<Instant>,
    pub tokens: u64,
}

/// An act.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub at: Instant,
    pub does: Does,
}

/// The kinds of acts.
#[derive(Clone, Debug)]
pub(super) enum Does {
    Types {
        text: String,
        tokens: u64,
        /// The main agent had nothing to do.
        begins_turn: bool,
    },
    Arrives {
        text: String,
        tokens: u64,
    },
    /// The history becomes a summary; with a duration, before the next request and not before the next turn.
    Compacts {
        text: String,
        tokens: u64,
        takes: Option<Duration>,
    },
    /// The conversation continues before this text.
    Rewinds {
        text: String,
    },
    Escape,
}

/// The acts of a session's user, in the order of the recording.
#[derive(Debug, Default)]
pub(super) struct Acts {
    pub acts: Vec<Act>,
    /// Lines of the next turn.
    line: Option<UserLine>,
    /// Tokens of attachments before the first line.
    early_tokens: u64,
    interrupted: bool,
    latest: Instant,
}

impl Acts {
    fn act(&mut self, at: Option<Instant>, does: Does) {
        let does = match does {
            Does::Types { text, tokens, begins_turn } if text.is_empty() => {
                Does::Types { text: NO_TEXT.to_owned(), tokens, begins_turn }
            }
            other => other,
        };
        let at = at.unwrap_or(self.latest);
        self.latest = self.latest.max(at);
        self.acts.push(Act { at, does });
    }

    /// A line that begins a turn, or a part of it.
    pub fn line(&mut self, line: UserLine) {
        match &mut self.line {
            Some(known) => {
                known.text = format!("{}\n{}", known.text, line.text);
                known.tokens += line.tokens;
            }
            None => {
                let tokens = line.tokens + std::mem::take(&mut self.early_tokens);
                self.line = Some(UserLine { tokens, ..line });
            }
        }
    }

    /// The turn begins: its lines are typed, at the instant of its first request if that is known.
    pub fn send_line(&mut self, sent_at: Option<Instant>) {
        self.interrupted = false;
        let Some(line) = self.line.take() else { return };
        self.act(line.at.max(sent_at), Does::Types { text: line.text, tokens: line.tokens, begins_turn: true });
    }

    /// The history becomes a summary.
    pub fn compacts(&mut self, at: Option<Instant>, takes: Option<Duration>, text: &str, tokens: u64) {
        self.act(at, Does::Compacts { text: text.to_owned(), tokens, takes });
    }

    /// The client attached something to the newest summary.
    pub fn summary_grows(&mut self, more: u64) {
        let newest = self.acts.iter_mut().rev().find_map(|act| match &mut act.does {
            Does::Compacts { tokens, .. } => Some(tokens),
            _ => None,
        });
        newest.into_iter().for_each(|tokens| *tokens += more);
    }

    /// The conversation continues before `text`.
    pub fn rewinds(&mut self, at: Option<Instant>, text: &str) {
        self.act(at, Does::Rewinds { text: text.to_owned() });
    }

    /// Whether a line waits for its turn.
    pub const fn has_line(&self) -> bool {
        self.line.is_some()
    }

    /// Forgets what was typed last.
    pub fn drop_line(&mut self) {
        self.line = None;
    }

    /// The client attached something to the lines of the next turn.
    pub fn grows(&mut self, tokens: u64) {
        match &mut self.line {
            Some(line) => line.tokens += tokens,
            None => self.early_tokens += tokens,
        }
    }

    /// The user interrupted.
    pub fn escape(&mut self, at: Option<Instant>) {
        self.interrupted = true;
        self.act(at, Does::Escape);
    }

    /// Whether the newest turn was interrupted.
    pub const fn was_interrupted(&self) -> bool {
        self.interrupted
    }

    /// A line reached the agent between two rounds.
    pub fn in_turn(&mut self, text: &str, at: Option<Instant>, tokens: u64) {
        self.act(at, Does::Types { text: text.to_owned(), tokens, begins_turn: false });
    }

    /// A notification came. With `tokens`, the task is none of ours, so it arrives from outside.
    pub fn notified(&mut self, text: &str, at: Option<Instant>, tokens: Option<u64>) {
        if let Some(tokens) = tokens {
            self.act(at, Does::Arrives { text: text.to_owned(), tokens });
        }
    }
}
