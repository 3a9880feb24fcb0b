//! Requests with thinking that the provider rejects, because other content is before it than when it was made.

use super::finding::{NoteKind, Noted, Rule, Violation};
use super::identity::{Kinship, Relative, Whose};
use super::refusal::Refusals;
use super::rules::{Rules, Severity};
use super::sent::Facts;
use crate::diagnosis::{Edit, Outcome, Subject, ThinkingCheck, ThinkingFault, outcome};
use crate::outside::quoted;
use crate::wire::{ChainId, Level, Place, Request, Wire};

/// The check, and the first rejected request of each chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Thinking {
    check: ThinkingCheck,
    rejected: Refusals,
    /// A request to a model that checks was taken.
    pub is_asked: bool,
}

/// What the rule expects.
const EXPECTED: &str = "each kept thinking block after the content that it was made after; keep that content, or leave out \
                        this block and all kept thinking after it";

impl Thinking {
    /// Takes a request; `whose` is its identity. Returns a note where the check does not fail.
    pub fn take<T: Relative>(
        &mut self,
        wire: &Wire,
        taken: &Subject,
        facts: &Facts<'_>,
        whose: &Whose<T>,
        rules: &Rules,
    ) -> Option<Noted> {
        let request = &taken.request;
        let outcome = outcome(request).filter(|_| rules.thinking != Severity::Off && request.has_modelled_cache())?;
        self.is_asked = true;
        let lane = &whose.lane;
        let parent = match &whose.kinship {
            Kinship::Fork { parent, .. } => Some(parent.sender().chain),
            _ => lane.branches_off,
        };
        let previous = whose.previous.as_ref().map(Relative::request);
        let fault = self.check.take(wire, request, lane.chain, previous, parent)?;
        let path = request.path(fault.place);
        let answer = answer(request, fault, outcome);
        let fails = outcome <= Outcome::RefusedOnNewAccounts;
        if !fails || facts.usage.is_some() || rules.thinking != Severity::Fail {
            let noted = Noted::new(&lane.name, taken.number, NoteKind::ThinkingUnbound, path);
            return Some(Noted { answer: Some(answer), ..noted });
        }
        self.rejected.add(lane, taken.number, path, answer);
        None
    }

    /// Forgets what belongs to a wire that is replaced.
    pub fn renew(&mut self) {
        self.check.renew();
    }

    /// One violation for each chain.
    pub fn violations(&self) -> impl Iterator<Item = Violation> {
        self.rejected.violations(Rule::Thinking, str::to_owned, EXPECTED)
    }
}

/// The first thinking in `newer` that its provider does not take as it is, if `newer` follows `older` in one chain.
pub(super) fn of_pair(wire: &Wire, older: &Request, newer: &Request) -> Option<Noted> {
    let outcome = outcome(newer).filter(|_| newer.has_modelled_cache())?;
    let (mut check, chain) = (ThinkingCheck::default(), ChainId(0));
    check.take(wire, older, chain, None, None);
    let fault = check.take(wire, newer, chain, Some(older), None)?;
    let noted = Noted::new("", 1, NoteKind::ThinkingUnbound, newer.path(fault.place));
    Some(Noted { answer: Some(answer(newer, fault, outcome)), ..noted })
}

/// What the provider does, and why.
fn answer(request: &Request, fault: &ThinkingFault, outcome: Outcome) -> String {
    let model = quoted(&request.model);
    let follows = match outcome {
        Outcome::Refused => format!("HTTP 400 on {model}"),
        Outcome::RefusedOnNewAccounts => {
            format!("HTTP 400 on {model} for accounts created since 2026-08-31 (older ones pay for the block)")
        }
        Outcome::Dropped => format!("{model} drops this thinking"),
        Outcome::Unknown => format!("{model} checks this thinking; what follows is not documented"),
    };
    let level = |place: &Place| (place.level == Level::Tools).then_some("the list of tools");
    let edit = match &fault.edit {
        Edit::Differs(place) => match level(place) {
            Some(tools) => format!("{tools} differs from when it was made"),
            None => format!("content before it differs from when it was made, first at {}", request.path(*place)),
        },
        Edit::Missing(place) => {
            format!("content that was before it when it was made is missing, starting at {}", request.path(*place))
        }
        Edit::Thinking => "the thinking before it is not what was before it when it was made".to_owned(),
    };
    format!("{follows}: {edit}")
}
