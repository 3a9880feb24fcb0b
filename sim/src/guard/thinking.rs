//! Requests with thinking that the provider rejects, because other content is before it than when it was made.

use super::finding::{NoteKind, Noted, Rule, Violation};
use super::identity::{Relative, Whose};
use super::refusal::Refusals;
use super::rules::{Rules, Severity};
use super::sent::Facts;
use crate::diagnosis::{Outcome, RejectedThinking, Subject, ThinkingCheck, outcome};
use crate::wire::Wire;

/// The check, and the first rejected request of each chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Thinking {
    check: ThinkingCheck,
    rejected: Refusals,
    /// A request to a model that checks was taken.
    pub is_asked: bool,
}

impl Thinking {
    /// Takes a request; `whose` is its identity. Returns the provider's error, or a note where the check does not fail.
    pub fn take<T: Relative>(
        &mut self,
        wire: &Wire,
        taken: &Subject,
        facts: &Facts<'_>,
        whose: &Whose<T>,
        rules: &Rules,
    ) -> (Option<String>, Option<Noted>) {
        if rules.thinking == Severity::Off {
            return (None, None);
        }
        let (request, lane) = (&taken.request, &whose.lane);
        self.is_asked |= outcome(request).is_some();
        let previous = whose.previous.as_ref().map(Relative::request);
        let rejected = self.check.take(wire, request, lane.chain, previous, whose.parent());
        let Some(rejected) = rejected else { return (None, None) };
        let (fails, error) = (rejected.outcome <= Outcome::RefusedOnNewAccounts, rejected.to_string());
        let RejectedThinking { path, answer, .. } = rejected;
        if !fails || facts.usage.is_some() || rules.thinking != Severity::Fail {
            let noted = Noted::new(&lane.name, taken.number, NoteKind::ThinkingUnbound, path);
            return (None, Some(Noted { answer: Some(answer), ..noted }));
        }
        self.rejected.add(lane, taken.number, path, answer);
        (Some(error), None)
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.check.renew();
    }

    /// One violation for each chain.
    pub fn violations(&self) -> impl Iterator<Item = Violation> {
        self.rejected.violations(Rule::Thinking, str::to_owned, RejectedThinking::EXPECTED)
    }
}
