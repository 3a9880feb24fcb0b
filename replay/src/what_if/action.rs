//! Recommended actions, from the what-ifs.
//!
//! Lifetimes and pings are alternatives: only the best is recommended. Users cannot choose `no-cache` or `prices`, so these are
//! columns and never recommended; nor is a compaction, for what an agent reads again after it is not in its figure. Another model gives other answers: its action says so ([`Action::scope`]).

use forkcast_sim::pricing::Money;

use super::spec::{Lifetimes, WhatIf};

/// What one session cost and would have cost, all by the same model of the cache.
#[derive(Clone, Debug)]
pub struct SessionCosts {
    /// Which one: the caller's number.
    pub session: usize,
    /// The cost with nothing changed, by the cache's rules; not the recorded one.
    pub unchanged: Money,
    /// In step with the what-ifs; `None` where a price is missing.
    pub what_ifs: Vec<Option<Money>>,
    /// Some agent waited longer than five minutes for its next request, and not longer than an hour.
    pub waits: bool,
}

/// In which sessions to do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Where {
    /// Everywhere.
    Everywhere,
    /// In sessions with waits of five minutes to an hour.
    WithWaits,
    /// For each conversation what turned out cheaper.
    ByConversation,
    /// Everywhere, with other answers.
    OtherModel,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Index of the what-if that proves it.
    pub what_if: usize,
    /// Where to do it.
    pub scope: Where,
    /// The sessions that it concerns, by their numbers.
    pub sessions: Vec<usize>,
    /// What would have been saved in them.
    pub saved: Money,
}

/// The best of each kind of change that saves anything, the most saving first. What is only known afterwards
/// (`ttl=best`) is named where nothing that can be done beforehand saves at least four fifths of it.
pub fn actions(what_ifs: &[WhatIf], sessions: &[SessionCosts]) -> Vec<Action> {
    let candidate = |what_if: usize, scope: Where| {
        let concerned = sessions.iter().filter(|session| scope != Where::WithWaits || session.waits);
        let mut action = Action { what_if, scope, sessions: Vec::new(), saved: Money::ZERO };
        for session in concerned {
            let Some(Some(cost)) = session.what_ifs.get(what_if) else { continue };
            action.saved += session.unchanged - *cost;
            action.sessions.push(session.session);
        }
        action
    };
    let mut best: [Option<Action>; KINDS] = Default::default();
    // What can be done beforehand comes first.
    for is_hindsight in [false, true] {
        for (at, what_if) in what_ifs.iter().enumerate() {
            let Some(kind) = kind(what_if) else { continue };
            for scope in scopes(what_if).iter().filter(|scope| (**scope == Where::ByConversation) == is_hindsight) {
                let found = candidate(at, *scope);
                let known = best[kind].as_ref().map_or(Money::ZERO, |best| best.saved);
                if found.saved > known && is_worth(&found, known) {
                    best[kind] = Some(found);
                }
            }
        }
    }
    let mut actions: Vec<Action> = best.into_iter().flatten().collect();
    actions.sort_by_key(|action| std::cmp::Reverse(action.saved));
    actions
}

/// Kinds of changes that exclude each other.
const KINDS: usize = 4;

/// The kind of a change; `None` if users cannot make it.
fn kind(what_if: &WhatIf) -> Option<usize> {
    if what_if.no_cache || what_if.prices.is_some() || what_if.cache.is_some() || what_if.compact_at.is_some() {
        return None;
    }
    let is_cached_otherwise = what_if.breakpoints.is_some() || what_if.ttl.is_some() || what_if.keepalive.is_some();
    if what_if.model.is_some() {
        return (!is_cached_otherwise).then_some(3);
    }
    match (what_if.breakpoints, what_if.ttl.is_some() || what_if.keepalive.is_some()) {
        (None, false) => None,
        (None, true) => Some(0),
        (Some(_), false) => Some(1),
        (Some(_), true) => Some(2),
    }
}

/// Where a change may be made. Lifetimes matter where somebody waits.
fn scopes(what_if: &WhatIf) -> &'static [Where] {
    if what_if.model.is_some() {
        return &[Where::OtherModel];
    }
    match (what_if.ttl, what_if.keepalive) {
        (Some(Lifetimes::Best), _) => &[Where::ByConversation],
        (None, None) => &[Where::Everywhere],
        _ => &[Where::Everywhere, Where::WithWaits],
    }
}

/// What is only known afterwards must promise a quarter more.
fn is_worth(found: &Action, known: Money) -> bool {
    found.scope != Where::ByConversation || found.saved.picousd() * 4 > known.picousd() * 5
}
