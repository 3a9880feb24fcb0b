//! Requests with thinking that the provider rejects, because other content is before it than when it was made.

use std::collections::BTreeSet;

use super::finding::{NoteKind, Noted, Rule, Violation};
use super::identity::{Relative, Whose};
use super::refusal::Refusals;
use super::rules::{Rules, Severity};
use super::sent::Facts;
use crate::diagnosis::{
    Circumstances, JudgedThinking, OpenRule, Outcome, RejectedThinking, Subject, ThinkingCheck, ThinkingRemark, ThinkingTurn, outcome,
};
use crate::pricing::{Date, ServiceTier};
use crate::service::AnsweredThinking;
use crate::wire::Wire;

/// The check, and the first rejected request of each chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Thinking {
    check: ThinkingCheck,
    rejected: Refusals,
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
        let dropped = dropped.map(|answered| ThinkingRemark { path: String::new(), words: dropped_words(answered) });
        notes.extend(unread.or(dropped).map(|dropped| note(NoteKind::ThinkingDropped, dropped)));
        notes.extend(altered.map(|altered| note(NoteKind::ThinkingAltered, altered)));
        let Some(rejected) = rejected else { return (None, notes) };
        if matches!(rejected.outcome, Outcome::Unknown | Outcome::UnknownModel) {
            self.open.insert(request.model.clone());
        }
        let RejectedThinking { path, answer, .. } = &rejected;
        if !rejected.outcome.refuses() || facts.usage.is_some() || rules.thinking != Severity::Fail {
            let words = recorded(facts, &rejected);
            notes.push(note(NoteKind::ThinkingUnbound, ThinkingRemark { path: path.clone(), words }));
            return (None, notes);
        }
        self.rejected.add(lane, taken.number, path.clone(), answer.clone(), rejected.expected);
        (Some(rejected.to_string()), notes)
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.check.renew();
    }

    /// One violation for each chain.
    pub fn violations(&self) -> impl Iterator<Item = Violation> {
        self.rejected.violations(Rule::Thinking, str::to_owned)
    }

    /// What is not known, in words.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.open.iter().map(|model| OpenRule::ThinkingCheck.warning(model))
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

fn dropped_words(answered: AnsweredThinking) -> String {
    let AnsweredThinking { dropped, reason, .. } = answered;
    let blocks = if dropped == 1 { "1 thinking block was".to_owned() } else { format!("{dropped} thinking blocks were") };
    let reason = reason.map_or_else(String::new, |reason| format!(" (`{}`)", reason.word()));
    format!("{blocks} dropped, as the recorded answer says{reason}")
}

/// What happened to a request with rejected thinking, by its recorded answer; without one, what the provider does.
fn recorded(facts: &Facts<'_>, rejected: &RejectedThinking) -> String {
    let RejectedThinking { outcome, answer, edit, .. } = rejected;
    match answered(facts) {
        Some(answered) if answered.dropped > 0 => format!("{}: {edit}", dropped_words(answered)),
        Some(answered) if answered.allowed > 0 => {
            format!("the model saw this thinking, and it was billed, as the recorded answer says: {edit}")
        }
        Some(_) => format!("nothing was dropped, as the recorded answer says: {edit}"),
        None if facts.usage.is_some() && outcome.refuses() => {
            format!("the provider took it, as the recorded answer shows; by the documents: {answer}")
        }
        None => answer.clone(),
    }
}
