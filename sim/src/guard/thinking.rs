//! Requests with thinking that the provider rejects, because other content is before it than when it was made.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{NoteKind, Noted, Rule, ShownBy, Violation};
use super::identity::{Relative, Whose};
use super::refusal::Refusals;
use super::rules::{Rules, Severity};
use super::sent::Facts;
use crate::diagnosis::{
    AnsweredThinking, Circumstances, JudgedThinking, OpenRule, Outcome, Subject, ThinkingCheck, ThinkingRemark,
    ThinkingTurn, outcome, refusal_of_thinking,
};
use crate::pricing::ServiceTier;
use crate::wire::Wire;

/// The check, and the first rejected request of each chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Thinking {
    check: ThinkingCheck,
    rejected: Refusals,
    /// Recorded errors by chain.
    recorded: BTreeMap<Option<String>, RecordedErrors>,
    /// How many recorded errors were taken, whatever they are about.
    errors: usize,
    /// Models for which something was found, though what they do with it is not known.
    open: BTreeSet<String>,
    /// A request to a model that checks was taken.
    pub is_asked: bool,
}

/// The recorded errors about the thinking of a chain.
#[derive(Clone, Debug)]
struct RecordedErrors {
    /// The first message, and what the provider expects.
    first: String,
    /// Its position among all recorded errors.
    position: usize,
    expected: &'static str,
    requests: usize,
}

impl RecordedErrors {
    fn words(&self) -> String {
        match self.requests {
            1 => "a recorded request that was refused".to_owned(),
            requests => format!("{requests} recorded requests that were refused, the first"),
        }
    }
}

impl Thinking {
    /// Takes a request; `whose` is its identity. Returns the provider's error, or notes where the check does not fail.
    pub fn take<T: Relative>(
        &mut self,
        wire: &Wire,
        taken: &Subject,
        facts: &Facts<'_>,
        whose: &Whose<T>,
        rules: &Rules,
    ) -> (Option<String>, Vec<Noted>) {
        if rules.thinking == Severity::Off {
            return (None, Vec::new());
        }
        let judged = self.judge(wire, taken, facts, whose, rules);
        let mut remarks = remarks(&judged, facts);
        let mut error = None;
        if let Some(rejected) = judged.rejected {
            if rejected.outcome.refuses() && facts.usage.is_none() && rules.thinking == Severity::Fail {
                error = Some(rejected.to_string());
                self.rejected.add(&whose.lane, taken.number, rejected.path, rejected.answer, rejected.expected);
            } else {
                let is_open = matches!(rejected.outcome, Outcome::Unknown | Outcome::UnknownModel);
                self.open.extend(is_open.then(|| taken.request.model.clone()));
                let words = rejected.told(answered(facts), facts.usage.is_some());
                remarks.push((NoteKind::ThinkingUnbound, ThinkingRemark { path: rejected.path, words }));
            }
        }
        let noted = |(kind, ThinkingRemark { path, words })| Noted {
            answer: Some(words),
            ..Noted::new(&whose.lane.name, taken.number, kind, path)
        };
        (error, remarks.into_iter().map(noted).collect())
    }

    fn judge<T: Relative>(
        &mut self,
        wire: &Wire,
        taken: &Subject,
        facts: &Facts<'_>,
        whose: &Whose<T>,
        rules: &Rules,
    ) -> JudgedThinking {
        let (request, circumstances) = (&taken.request, circumstances(facts, rules));
        self.is_asked |= outcome(request, &circumstances).is_some_and(|outcome| outcome != Outcome::UnknownModel);
        let (chain, parent) = (whose.lane.chain, whose.parent());
        let previous = whose.previous.as_ref().map(Relative::request);
        self.check.take(&ThinkingTurn { wire, request, chain, previous, parent, circumstances })
    }

    /// Takes a recorded error; others than those about thinking do not matter.
    pub fn refused(&mut self, chain: Option<&str>, message: &str, rules: &Rules) {
        let position = self.errors;
        self.errors += 1;
        let Some(expected) = refusal_of_thinking(message).filter(|_| rules.thinking != Severity::Off) else { return };
        self.is_asked = true;
        let first = RecordedErrors { first: message.to_owned(), position, expected, requests: 0 };
        self.recorded.entry(chain.map(str::to_owned)).or_insert(first).requests += 1;
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.check.renew();
    }

    /// One violation for each chain, and one for each with recorded errors.
    pub fn violations(&self, rules: &Rules) -> impl Iterator<Item = Violation> {
        let recorded = self.recorded.iter().filter(|_| rules.thinking == Severity::Fail);
        let recorded = recorded.map(|(chain, errors)| Violation {
            rule: Rule::Thinking,
            chain: chain.clone(),
            shown_by: Some(ShownBy::RecordedError(errors.position)),
            path: String::new(),
            what: errors.words(),
            found: format!("HTTP 400: {}", errors.first),
            expected: errors.expected.to_owned(),
        });
        self.rejected.violations(Rule::Thinking, str::to_owned).chain(recorded)
    }

    /// What is not known, and recorded errors that are allowed, in words.
    pub fn warnings(&self, rules: &Rules) -> impl Iterator<Item = String> {
        let allowed = self.recorded.values().filter(|_| rules.thinking == Severity::Note);
        let allowed = allowed.map(|errors| format!("Allowed by the rules: {}: {}", errors.words(), errors.first));
        self.open.iter().map(|model| OpenRule::ThinkingCheck.warning(model)).chain(allowed)
    }
}

/// What there is to know of thinking in a request besides the rejected.
fn remarks(judged: &JudgedThinking, facts: &Facts<'_>) -> Vec<(NoteKind, ThinkingRemark)> {
    let dropped = answered(facts).filter(|answered| answered.dropped > 0 && judged.rejected.is_none());
    let dropped = dropped.map(|answered| ThinkingRemark { path: String::new(), words: answered.dropped_words() });
    let dropped = judged.unread.clone().or(dropped).map(|remark| (NoteKind::ThinkingDropped, remark));
    let altered = judged.altered.clone().map(|remark| (NoteKind::ThinkingAltered, remark));
    dropped.into_iter().chain(altered).collect()
}

/// What decides the outcome for a request besides its body.
fn circumstances(facts: &Facts<'_>, rules: &Rules) -> Circumstances {
    let batch = facts.price.is_some_and(|price| price.tier == ServiceTier::Batch);
    Circumstances { account_created: rules.account_created, batch, ..Circumstances::default() }.at(facts.recorded_at)
}

/// What the recorded answer says about thinking.
fn answered(facts: &Facts<'_>) -> Option<AnsweredThinking> {
    facts.price.and_then(|price| price.answer.thinking)
}
