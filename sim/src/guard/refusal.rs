//! Requests that the provider answers with HTTP 400, unless a finding reports it: nothing is read, written or billed,
//! and the chain's next request finds nothing in the cache.

use std::collections::BTreeMap;

use super::finding::{Finding, NoteKind, Noted, Rule, Violation};
use super::identity::Lane;
use super::rules::{Rules, Severity};
use super::sent::Facts;
use crate::cache::refusal;
use crate::diagnosis::{Cause, Subject};
use crate::wire::ChainId;

/// The first refused request of each chain, and how many more there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    chains: BTreeMap<ChainId, Refused>,
}

#[derive(Clone, Debug)]
struct Refused {
    chain: String,
    request: usize,
    path: String,
    answer: String,
    more: usize,
}

impl Refusals {
    /// The provider's error for a request that its rules forbid, or a note if the check's rules allow it. A recorded
    /// usage shows that the provider accepted it.
    pub fn take(
        &mut self,
        taken: &Subject,
        facts: &Facts<'_>,
        lane: &Lane,
        findings: &[Finding],
        rules: &Rules,
    ) -> (Option<String>, Option<Noted>) {
        let says_so = |found: &Finding| matches!(found.cause, Cause::BreakpointLimit | Cause::TtlOrder);
        let Some(refusal) = taken.refusal.as_ref().filter(|_| !findings.iter().any(says_so)) else {
            return (None, None);
        };
        let path = refusal::place(&taken.request, refusal).map_or_else(String::new, |place| taken.request.path(place));
        let answer = refusal.to_string();
        if facts.usage.is_some() || rules.stability != Severity::Fail {
            let noted = Noted::new(&lane.name, taken.number, NoteKind::Refused, path);
            return (None, Some(Noted { answer: Some(answer), ..noted }));
        }
        let first = Refused { chain: lane.name.clone(), request: taken.number, path, answer: answer.clone(), more: 0 };
        self.chains.entry(lane.chain).and_modify(|known| known.more += 1).or_insert(first);
        (Some(answer), None)
    }

    /// One violation for each chain.
    pub fn violations(&self) -> impl Iterator<Item = Violation> {
        self.chains.values().map(Refused::violation)
    }
}

impl Refused {
    fn violation(&self) -> Violation {
        let place = if self.path.is_empty() { String::new() } else { format!(" at {}", self.path) };
        let more = match self.more {
            0 => String::new(),
            more => format!(", and {more} more of the chain"),
        };
        let what = format!("request {}{place}{more}", self.request);
        let found = format!("the provider refuses it: \"{}\"", self.answer);
        Violation::new(Rule::Stability, &self.chain, what, found, "a request that it accepts")
    }
}
