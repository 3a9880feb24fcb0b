//! Two requests by themselves: what the newer one changes of what the older left in the cache.

use super::finding::{Finding, Noted, Rule};
use super::judge::{self, Case};
use super::reads::Entries;
use super::sharing::Within;
use super::taken::Taken;
use crate::cache;
use crate::pricing::Rates;
use crate::wire::{Pins, Request, Wire};

/// What two requests in a row differ in.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Changes, in prompt order.
    pub findings: Vec<Finding>,
    /// What costs nothing.
    pub notes: Vec<Noted>,
    /// How many leading blocks the older request leaves in the cache.
    pub cached_blocks: usize,
}

/// Judges `newer` as the request after `older` in one chain, both read into `wire`; sizes are estimated from lengths.
/// The older request is number 0 of the findings, the newer number 1.
pub fn judge_pair(
    wire: &Wire,
    preset: &cache::Rules,
    older: &Request,
    newer: &Request,
    rates: Option<&Rates>,
) -> Judged {
    let taken = |number: usize, request: &Request| {
        let cumulative = Pins::default().sizes(request, wire, None, None);
        Taken::new(number, request.clone(), cumulative, preset)
    };
    let older = taken(0, older);
    let newer = taken(1, newer);
    let mut entries = Entries::default();
    if older.refusal.is_none() {
        entries.write(&wire.prefixes, &older.effective(), 0, preset);
    }
    let case = Case {
        wire,
        entries: &entries,
        preset,
        older: &older,
        newer: &newer,
        rates,
        rule: Rule::Stability,
        chain: "",
        within: &Within::ALL,
    };
    let (findings, notes) = judge::judge(&case);
    Judged { findings, notes, cached_blocks: older.covered() }
}
