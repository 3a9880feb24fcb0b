//! Requests with thinking that the provider rejects, because other content is before it than when it was made.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{NoteKind, Noted, Rule, Violation};
use super::identity::{Relative, Whose};
use super::refusal::Refusals;
use super::rules::{Rules, Severity};
use super::sent::Facts;
use crate::diagnosis::{
    AnsweredThinking, Circumstances, JudgedThinking, OpenRule, Outcome, RejectedThinking, Subject, ThinkingCheck, ThinkingRemark, ThinkingTurn, outcome,
    refusal_of_thinking,
};
use crate::pricing::{Date, ServiceTier};
use crate::wire::Wire;

/// The check, and the first rejected request of each chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Thinking {
    check: ThinkingCheck,
    rejected: Refusals,
    /// The first recorded error of each chain, and how many there are.
    recorded: BTreeMap<Option<String>, (String, usize)>,
    /// Models for which something was found, though what they do with it is not known.
    open: BTreeSet<String>,
    /// A request to a model that checks was taken.
    pub is_asked: bool,
}

/// The provider's error for a request, and notes.
pub(super) type Told = (Option<String>, Vec<Noted>);

impl Thinking {
    /// Takes a request; `whose` is its identity. Returns the provider's error, or notes where the check does not fail.
    pub fn take<T: Relative>(
        &mut self,
        wire: &Wire,
        taken: &Subject,
        facts: &Facts<'_>,
        whose: &Whose<T>,
        rules: &Rules,
    ) -> Told {
        if rules.thinking == Severity::Off {
            return Told::default();
        }
        let (request, lane) = (&taken.request, &whose.lane);
        let circumstances = circumstances(facts, rules);
        self.is_asked |= outcome(request, &circumstances).is_some_and(|outcome| outcome != Outcome::UnknownModel);
        let previous = whose.previous.as_ref().map(Relative::request);
        let parent = whose.parent();
        let turn = ThinkingTurn { wire, request, chain: lane.chain, previous, parent, circumstances };
        let JudgedThinking { rejected, unread, altered } = self.check.take(&turn);
        let note = |kind: NoteKind, remark: ThinkingRemark| Noted {
            answer: Some(remark.words),
            ..Noted::new(&lane.name, taken.number, kind, remark.path)
        };
        let mut notes = Vec::new();
        let dropped = answered(facts).filter(|answered| answered.dropped > 0 && rejected.is_none());
        let dropped = dropped.map(|answered| ThinkingRemark { path: String::new(), words: answered.dropped_words() });
        notes.extend(unread.or(dropped).map(|dropped| note(NoteKind::ThinkingDropped, dropped)));
        notes.extend(altered.map(|altered| note(NoteKind::ThinkingAltered, altered)));
        let Some(rejected) = rejected else { return (None, notes) };
        if matches!(rejected.outcome, Outcome::Unknown | Outcome::UnknownModel) {
            self.open.insert(request.model.clone());
        }
        let RejectedThinking { path, answer, expected, .. } = &rejected;
        if !rejected.outcome.refuses() || facts.usage.is_some() || rules.thinking != Severity::Fail {
            let words = rejected.told(answered(facts), facts.usage.is_some());
            notes.push(note(NoteKind::ThinkingUnbound, ThinkingRemark { path: path.clone(), words }));
            return (None, notes);
        }
        self.rejected.add(lane, taken.number, path.clone(), answer.clone(), expected);
        (Some(rejected.to_string()), notes)
    }

    /// Takes a recorded error about thinking.
    pub fn refused(&mut self, chain: Option<&str>, message: &str, rules: &Rules) {
        if rules.thinking != Severity::Off {
            self.is_asked = true;
            self.recorded.entry(chain.map(str::to_owned)).or_insert((message.to_owned(), 0)).1 += 1;
        }
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.check.renew();
    }

    /// One violation for each chain, and one for each with recorded errors.
    pub fn violations(&self, rules: &Rules) -> impl Iterator<Item = Violation> {
        let recorded = self.recorded.iter().filter(|_| rules.thinking == Severity::Fail);
        let recorded = recorded.map(|(chain, (message, requests))| Violation {
            rule: Rule::Thinking,
            chain: chain.clone(),
            what: refused_words(*requests),
            found: format!("HTTP 400: {message}"),
            expected: refusal_of_thinking(message).unwrap_or_default().to_owned(),
        });
        self.rejected.violations(Rule::Thinking, str::to_owned).chain(recorded)
    }

    /// What is not known, and recorded errors that are allowed, in words.
    pub fn warnings(&self, rules: &Rules) -> impl Iterator<Item = String> {
        let allowed = self.recorded.values().filter(|_| rules.thinking == Severity::Note);
        let allowed = allowed.map(|(message, requests)| format!("There is {}: {message}", refused_words(*requests)));
        self.open.iter().map(|model| OpenRule::ThinkingCheck.warning(model)).chain(allowed)
    }
}

/// What decides the outcome for a request besides its body.
fn circumstances(facts: &Facts<'_>, rules: &Rules) -> Circumstances {
    Circumstances {
        date: facts.recorded_at.filter(|at| at.has_day()).map(Date::of),
        account_created: rules.account_created,
        batch: facts.price.is_some_and(|price| price.tier == ServiceTier::Batch),
    }
}

/// What the recorded answer says about thinking.
fn answered(facts: &Facts<'_>) -> Option<AnsweredThinking> {
    facts.price.and_then(|price| price.answer.thinking)
}

fn refused_words(requests: usize) -> String {
    match requests {
        1 => "a recorded request that was refused".to_owned(),
        requests => format!("{requests} recorded requests that were refused, the first"),
    }
}
