//! Two requests by themselves: what the newer one changes in the prefix that the older left in the cache.

use super::finding::{Finding, Noted, Rule};
use super::judge::{self, Question};
use super::timeless::TimelessCache;
use crate::cache;
use crate::diagnosis::{Circumstances, RejectedThinking, Subject, ThinkingCheck};
use crate::pricing::Rates;
use crate::wire::{Pins, Request, Wire};

/// The differences between two consecutive requests.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Changes, in prompt order.
    pub findings: Vec<Finding>,
    /// Harmless notes.
    pub notes: Vec<Noted>,
    /// Thinking in the newer request that its provider rejects or drops.
    pub thinking: Option<RejectedThinking>,
    /// How many leading blocks the older request leaves in the cache.
    pub cached_blocks: usize,
}

/// Judges `newer` as the request after `older` in one chain, both read into `wire`. The older request is number 0 of the
/// findings, the newer number 1.
pub fn judge_pair(
    wire: &Wire,
    preset: &cache::Rules,
    older: &Subject,
    newer: &Subject,
    rates: Option<&Rates>,
    circumstances: Circumstances,
) -> Judged {
    let requests = [older, newer].map(|subject| Subject { number: 0, ..subject.clone() });
    judge_of(wire, preset, requests, rates, circumstances)
}

/// The same for short requests of tests: every breakpoint counts, and nothing is priced.
pub(super) fn judge_of_tests(wire: &Wire, preset: &cache::Rules, older: &Request, newer: &Request) -> Judged {
    let requests = [older, newer].map(|request| Subject { minimum_tokens: 0, ..taken(wire, preset, request) });
    judge_of(wire, preset, requests, None, Circumstances::default())
}

fn taken(wire: &Wire, preset: &cache::Rules, request: &Request) -> Subject {
    let cumulative = Pins::default().sizes(request, wire, None, None);
    Subject::new(0, request.clone(), cumulative, preset)
}

fn judge_of(
    wire: &Wire,
    preset: &cache::Rules,
    [older, newer]: [Subject; 2],
    rates: Option<&Rates>,
    circumstances: Circumstances,
) -> Judged {
    let newer = Subject { number: 1, ..newer };
    let mut cache = TimelessCache::new(preset);
    cache.serve(wire, &older);
    let case = Question {
        wire,
        timeless: cache.moment(),
        clocked: cache.moment(),
        older: &older,
        newer: &newer,
        rates,
        rule: Rule::Stability,
        chain: "",
        concerns: &|_| true,
        read_tokens: 0,
        asks_breakpoints: true,
    };
    let (mut findings, notes) = judge::judge(&case);
    if newer.refusal.is_some() {
        findings.iter_mut().for_each(Finding::cost_nothing);
    }
    let thinking = ThinkingCheck::of_pair(wire, &older.request, &newer.request, circumstances).rejected;
    Judged { findings, notes, thinking, cached_blocks: older.covered() }
}
