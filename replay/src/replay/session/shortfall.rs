//! Why a request read less than its chain had left: the account of its tokens.

use forkcast_sim::cache::EntryState;
use forkcast_sim::diagnosis::{Cause, Explanation, Missed, Note};
use forkcast_sim::service::FRAME_TOKENS;
use forkcast_sim::wire::Usage;

use crate::rebuild::forecast::Decision;
use crate::rebuild::profile::RuleName;
use crate::transcript::{Diagnosis, DiagnosisKind};

/// A cause and what shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attribution {
    pub cause: Cause,
    /// Line of the transcript.
    pub line: u32,
    /// For people.
    pub shows: &'static str,
}

/// Facts about a shortfall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortfall {
    /// Line of the request.
    pub line: u32,
    /// What the forecast had said.
    pub decision: Option<Decision>,
    pub diagnosis: Option<Diagnosis>,
    /// The model is another than that of the request before.
    pub model_changed: bool,
    /// What became of the entry that the chain's last request left.
    pub entry: Option<EntryState>,
    /// Tokens read.
    pub read: u64,
    /// The read ends exactly where an earlier write had ended and lacks the last one, in the months in which the provider made
    /// writes readable late.
    pub unready: bool,
    /// Tokens that the request before had left in the cache.
    pub left: u64,
    /// Tokens sent before.
    pub known: u64,
    /// Tokens of the hidden prefix.
    pub head: u64,
    /// Tokens of the prompt.
    pub total: u64,
    /// Tokens of the prompt before with its answer: a prompt of this size lost no thinking.
    pub unstripped: u64,
}

impl Shortfall {
    /// The first cause that holds, in the order of the design: the model, content, then time and rules.
    pub fn cause(&self) -> Attribution {
        let line = self.line;
        if self.model_changed {
            return Attribution { cause: Cause::ModelChanged, line, shows: "another model" };
        }
        if self.read >= self.left && self.left > 0 {
            return Attribution {
                cause: Cause::NoBreakpoint,
                line,
                shows: "sent after the last breakpoint of the previous request",
            };
        }
        let ruled = self.decision.filter(|decision| self.is_foreseen(decision));
        if let Some((decision, cause)) = ruled.and_then(|decision| Some((decision, decision.rule.cause()?))) {
            return Attribution { cause, line: decision.line, shows: decision.rule.shows() };
        }
        if let Some(cause) = self.diagnosis.and_then(|diagnosis| of_diagnosis(diagnosis.kind)) {
            return Attribution { cause, line, shows: "the provider's own diagnosis" };
        }
        self.cause_of_time()
    }

    /// A read that ends within the hidden prefix shows that this changed. One of nothing shows no change: the entry may have
    /// been lost as well.
    fn cause_of_time(&self) -> Attribution {
        let line = self.line;
        match self.entry {
            Some(EntryState::Expired) => Attribution { cause: Cause::Expired, line, shows: "longer than the lifetime" },
            Some(EntryState::InFlight) => {
                Attribution { cause: Cause::InFlight, line, shows: "sent before the answer began" }
            }
            _ if self.unready => {
                Attribution { cause: Cause::InFlight, line, shows: "the last write could not be read yet" }
            }
            _ if self.read > 0 && self.read + FRAME_TOKENS < self.head => Attribution {
                cause: Cause::SystemChanged,
                line,
                shows: "inferred: less was read than the hidden prefix had",
            },
            _ => Attribution { cause: Cause::Unexplained, line, shows: "nothing in the transcript" },
        }
    }

    /// The rule accounts for a read that falls so short: one that foresees a place in the conversation does not account for
    /// a fall far below it.
    fn is_foreseen(&self, decision: &Decision) -> bool {
        let expired_in_part = decision.rule == RuleName::Expired && self.is_small();
        let grew = decision.rule == RuleName::Stripped && self.total >= self.unstripped;
        let far_below = !decision.in_head && self.read * 10 < decision.read_tokens * 7;
        !expired_in_part && !far_below && !grew
    }

    /// Most of what had been left was read.
    fn is_small(&self) -> bool {
        self.read * 10 > self.known * 9
    }
}

/// Causes of the provider's words (prompt-caching page, cache diagnostics, 2026-09): `previous_message_not_found` and
/// `unavailable` state none.
fn of_diagnosis(kind: DiagnosisKind) -> Option<Cause> {
    match kind {
        DiagnosisKind::SystemChanged => Some(Cause::SystemChanged),
        DiagnosisKind::ToolsChanged => Some(Cause::ToolChanged),
        DiagnosisKind::MessagesChanged => Some(Cause::MessageEdited),
        DiagnosisKind::ModelChanged => Some(Cause::ModelChanged),
        DiagnosisKind::PreviousMessageNotFound | DiagnosisKind::Unavailable | DiagnosisKind::Other => None,
    }
}

/// The account: `known` tokens of the prompt had been sent before; what of them was not read is missed.
pub(super) fn explanation(usage: &Usage, known: u64, cause: Option<Cause>) -> Explanation {
    let (read, total) = (usage.cache_read_input_tokens, usage.total_input_tokens());
    let known = known.min(total);
    let cause = cause.filter(|_| read < known);
    let missed: Vec<Missed> =
        cause.into_iter().flat_map(|cause| Missed::of_stretch(cause, &(read..known), usage)).collect();
    let missed_tokens: u64 = missed.iter().map(|part| part.tokens).sum();
    let notes = if read > known { vec![Note::ReadAhead] } else { Vec::new() };
    Explanation {
        read_tokens: read,
        new_tokens: total - read.min(total) - missed_tokens.min(total - read.min(total)),
        missed,
        differences: Vec::new(),
        notes,
    }
}
