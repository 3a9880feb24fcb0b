//! The recorded results of calls, with their durations and sizes.

use std::collections::BTreeMap;

use forkcast_sim::time::{Duration, Instant};

use super::wording::{Block, Said};

/// A call and its result.
#[derive(Clone, Debug, Default)]
pub(super) struct Called {
    pub tool: String,
    pub called_at: Option<Instant>,
    pub answered_at: Option<Instant>,
    pub text: String,
    pub failed: bool,
    /// The user interrupted it.
    pub interrupted: bool,
    /// Tokens that its result added, with what the client attached to it.
    pub result_tokens: Option<u64>,
    /// Tokens of the notification about the task that it started.
    pub notice_tokens: Option<u64>,
}

/// All calls by id.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub calls: BTreeMap<String, Called>,
}

/// The result of a call that has none in the recording.
const LOST: &str = "(The recording has no result of this call.)";

/// A result that is recorded this shortly before an interruption is its consequence.
const CUT_OFF: Duration = Duration::from_secs(1);

impl Called {
    /// How long the call took.
    pub fn takes(&self) -> Option<Duration> {
        Some(self.answered_at?.since(self.called_at?))
    }
}

impl Results {
    /// A call was complete.
    pub fn called(&mut self, id: &str, tool: &str, at: Option<Instant>) {
        let call = self.calls.entry(id.to_owned()).or_default();
        (call.tool, call.called_at) = (tool.to_owned(), at);
    }

    /// Its result came. Some transcripts have it before the call.
    pub fn answered(&mut self, id: &str, block: &Block, tokens: u64) {
        let call = self.calls.entry(id.to_owned()).or_default();
        call.answered_at = block.at;
        if let Said::Result { text, failed, .. } = &block.said {
            (call.text, call.failed) = (text.clone(), *failed);
        }
        *call.result_tokens.get_or_insert(0) += tokens;
    }

    /// Its result came at `at` or before, and is not recorded.
    pub fn lost(&mut self, id: &str, at: Option<Instant>) {
        if let Some(call) = self.calls.get_mut(id) {
            call.answered_at = at.max(call.called_at);
            call.text = LOST.to_owned();
            call.result_tokens = Some(0);
        }
    }

    /// The client attached something to its result.
    pub fn grows(&mut self, id: &str, tokens: u64) {
        if let Some(call) = self.calls.get_mut(id) {
            *call.result_tokens.get_or_insert(0) += tokens;
        }
    }

    /// The end of the task that it started was reported.
    pub fn noticed(&mut self, id: &str, tokens: u64) {
        if let Some(call) = self.calls.get_mut(id) {
            *call.notice_tokens.get_or_insert(0) += tokens;
        }
    }

    /// The user interrupted it before a result came.
    pub fn interrupted(&mut self, id: &str) {
        if let Some(call) = self.calls.get_mut(id) {
            call.interrupted = true;
        }
    }

    /// Whether an interruption at `at` stopped these calls: the client then writes an error as their result. Such
    /// calls never end by themselves.
    pub fn is_cut_off(&mut self, ids: &[String], at: Option<Instant>) -> bool {
        let mut any = false;
        for id in ids {
            let Some(call) = self.calls.get_mut(id) else { continue };
            let is_near = call.answered_at.zip(at).is_none_or(|(answered, at)| at.since(answered) <= CUT_OFF);
            call.interrupted |= call.failed && is_near;
            any |= call.interrupted;
        }
        any
    }
}
