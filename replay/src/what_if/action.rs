//! What to do, out of what the what-ifs say.
//!
//! Lifetimes and pings are one choice: of them only the best is named. `no-cache` and `prices` are no one's to do, and
//! another model answers otherwise, so these are compared in columns and never advised.

use forkcast_sim::pricing::Money;
use forkcast_sim::time::Instant;

use super::spec::{Lifetimes, WhatIf};

/// What one session cost and would have cost, all by the same model of the cache.
#[derive(Clone, Debug)]
pub struct SessionCosts {
    /// Which one: the caller's number.
    pub session: usize,
    /// When its first and its last request were sent; `None` where the recording has no instants.
    pub span: Option<(Instant, Instant)>,
    /// The cost with nothing changed, as the cache's rules have it; not what was recorded.
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
    /// The same per week.
    pub saved_per_week: Money,
}

/// Nanoseconds of a week.
const WEEK: i128 = 7 * 86_400 * 1_000_000_000;

/// The best of each kind of change that saves anything, the most saving first. What is only known afterwards
/// (`ttl=best`) is named where nothing that can be done beforehand saves at least four fifths of it.
pub fn actions(what_ifs: &[WhatIf], sessions: &[SessionCosts]) -> Vec<Action> {
    let span = span(sessions);
    let candidate = |what_if: usize, scope: Where| {
        let concerned = sessions.iter().filter(|session| scope != Where::WithWaits || session.waits);
        let mut action =
            Action { what_if, scope, sessions: Vec::new(), saved: Money::ZERO, saved_per_week: Money::ZERO };
        for session in concerned {
            let Some(Some(cost)) = session.what_ifs.get(what_if) else { continue };
            action.saved += session.unchanged - *cost;
            action.sessions.push(session.session);
        }
        action.saved_per_week = per_week(action.saved, span);
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
const KINDS: usize = 3;

/// `None` for what nobody can do by himself.
fn kind(what_if: &WhatIf) -> Option<usize> {
    if what_if.no_cache || what_if.prices.is_some() || what_if.cache.is_some() || what_if.model.is_some() {
        return None;
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

/// From the first request of all to the last, at least a week.
fn span(sessions: &[SessionCosts]) -> i128 {
    let spans = || sessions.iter().filter_map(|session| session.span);
    let first = spans().map(|(first, _)| first).min();
    let last = spans().map(|(_, last)| last).max();
    let nanos = last.zip(first).map_or(0, |(last, first)| last.since(first).0);
    i128::from(nanos).max(WEEK)
}

fn per_week(saved: Money, span: i128) -> Money {
    let (picousd, span_ms, week_ms) = (saved.picousd(), span / 1_000_000, WEEK / 1_000_000);
    Money::from_picousd(picousd.saturating_mul(week_ms) / span_ms.max(1))
}
