//! What to do about a bill: what the what-ifs and the causes of misses prove, in money.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use forkcast_replay::what_if::{self, SessionCosts, Where};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;
use forkcast_sim::time::Duration;

use super::tally::WEEK;
use super::{Recorded, Report, Session};
use crate::document::count;

mod advice;

use advice::{Advice, MISSES, ONE_HOUR};

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// A sentence for people: what to do, and what it was that cost.
    pub what: String,
    /// Index among the report's sessions of each that it helps, the one with most money first.
    pub sessions: Vec<usize>,
    /// What it saves over the whole time.
    pub saved: Money,
    /// What it saves in a week.
    pub saved_per_week: Money,
    /// The what-if that proves it: its index; `None` where the money of causes does.
    pub what_if: Option<usize>,
}

/// Actions that are named, at most: nobody does more.
const ACTIONS_MAX: usize = 5;

/// What saves less than this part of the bill is not worth a sentence: one hundredth.
const BILL_PARTS: i128 = 100;

/// What to do, the largest saving first. Savings of several actions may overlap, so they add up to less.
pub fn actions(report: &Report<'_>) -> Vec<Action> {
    let Some(bill) = report.totals.billed.cost.filter(|bill| *bill > Money::ZERO) else { return Vec::new() };
    let tried = tried(report);
    let lives_longer = tried.iter().any(|found| found.lifetime);
    let mut found: Vec<Found> = tried.into_iter().chain(report.missed.found(report, lives_longer)).collect();
    found.retain(|found| found.saved.picousd().saturating_mul(BILL_PARTS) >= bill.picousd());
    found.sort_by_key(|found| (Reverse(found.saved), found.what.clone()));
    found.truncate(ACTIONS_MAX);
    let span = worked(report);
    found.into_iter().map(|found| found.action(span)).collect()
}

/// An action before its money is divided by weeks.
struct Found {
    what: String,
    sessions: Vec<usize>,
    saved: Money,
    what_if: Option<usize>,
    /// It makes entries live longer, so what expired is counted in it.
    lifetime: bool,
}

impl Found {
    fn action(self, span: Duration) -> Action {
        let Self { what, sessions, saved, what_if, .. } = self;
        Action { what, sessions, saved, saved_per_week: per_week(saved, span), what_if }
    }
}

/// From the first request to the last, without weeks in which there was none: one old file must not thin out all savings.
fn worked(report: &Report<'_>) -> Duration {
    let whole = report.span().map_or(Duration::default(), |(first, last)| last.since(first));
    whole.min(Duration(WEEK.0.saturating_mul(report.tally.weeks.len() as u64)))
}

/// Money divided by the weeks in which it was spent, at least one.
fn per_week(saved: Money, span: Duration) -> Money {
    let nanos = |span: Duration| i128::from(span.0);
    if span <= WEEK {
        return saved;
    }
    // Through seconds where the product would not fit.
    match saved.picousd().checked_mul(nanos(WEEK)) {
        Some(product) => Money::from_picousd(product / nanos(span)),
        None => Money::from_picousd(saved.picousd() / (nanos(span) / nanos(WEEK)).max(1)),
    }
}

/// The what-ifs that are worth doing, by the rules of [`what_if::actions`]: nothing that only hindsight could choose, unless it
/// is called so.
fn tried(report: &Report<'_>) -> Vec<Found> {
    let waits = &report.tally.waits;
    let cost = |(at, session): (usize, &Session)| SessionCosts {
        session: at,
        span: None,
        unchanged: session.account.billed.cost.unwrap_or(Money::ZERO),
        what_ifs: session.account.what_if.iter().map(|side| side.cost).collect(),
        waits: waits.contains(&session.index),
    };
    let costs: Vec<SessionCosts> = report.sessions.iter().enumerate().map(cost).collect();
    let found = what_if::actions(&report.options.what_if, &costs).into_iter();
    found.filter_map(|action| advised(report, &action)).collect()
}

fn advised(report: &Report<'_>, action: &what_if::Action) -> Option<Found> {
    let name = report.what_ifs.get(action.what_if)?;
    let saved = |at: &usize| Some((*at, report.sessions.get(*at)?.account.saved(action.what_if)?));
    let (sessions, _) = ranked(action.sessions.iter().filter_map(saved).collect())?;
    let number = count(sessions.len() as u64);
    let plural = if sessions.len() == 1 { "" } else { "s" };
    let place = match action.scope {
        Where::Everywhere if sessions.len() == 1 => "in the one session that there is".to_owned(),
        Where::Everywhere => format!("in all {number} sessions"),
        Where::WithWaits if sessions.len() == 1 => "in the session that pauses for five minutes to an hour".to_owned(),
        Where::WithWaits => format!("in the {number} sessions that pause for five minutes to an hour"),
        Where::ByConversation => format!("in {number} session{plural}, by what turned out cheaper in each"),
    };
    let what = format!("{} {place}", advice::of_what_if(name));
    let lifetime = report
        .options
        .what_if
        .get(action.what_if)
        .is_some_and(|found| found.ttl.is_some() || found.keepalive.is_some());
    Some(Found { what, sessions, saved: action.saved, what_if: Some(action.what_if), lifetime })
}

/// The misses, each under the first piece of advice that fits it.
#[derive(Debug)]
pub(super) struct Missed(Vec<Sum>);

impl Default for Missed {
    fn default() -> Self {
        Self(MISSES.iter().map(|_| Sum::default()).collect())
    }
}

impl Missed {
    pub fn take(&mut self, entry: &Recorded<'_>) {
        let told = entry.evidence.as_ref().map_or("", |shown| shown.shows);
        let usage = entry.line.billed().unwrap_or_default();
        let lives_long = usage.ephemeral_1h_input_tokens > usage.ephemeral_5m_input_tokens;
        for part in &entry.line.charge.causes {
            let shows = if part.cause == Cause::Expired && lives_long { ONE_HOUR } else { told };
            let advice = MISSES.iter().position(|advice| advice.is_for(part.cause, shows));
            if let Some((sum, cost)) = advice.and_then(|at| self.0.get_mut(at)).zip(part.cost) {
                sum.requests += 1;
                *sum.of_session.entry(entry.line.session).or_default() += cost;
            }
        }
    }

    fn found(&self, report: &Report<'_>, lives_longer: bool) -> Vec<Found> {
        let told = MISSES.iter().zip(&self.0);
        let told = told.filter(|(advice, _)| !(lives_longer && advice.causes.contains(&Cause::Expired)));
        told.filter_map(|(advice, sum)| sum.found(report, advice)).collect()
    }
}

/// Misses under one piece of advice.
#[derive(Debug, Default)]
struct Sum {
    requests: u64,
    /// Money by the session's index in the ledger.
    of_session: BTreeMap<usize, Money>,
}

impl Sum {
    fn found(&self, report: &Report<'_>, advice: &Advice) -> Option<Found> {
        let sessions = report.sessions.iter().enumerate();
        let money = sessions.filter_map(|(at, session)| Some((at, *self.of_session.get(&session.index)?)));
        let (sessions, saved) = ranked(money.filter(|(_, cost)| *cost > Money::ZERO).collect())?;
        let plural = if self.requests == 1 { "" } else { "s" };
        let what = format!("{}: {} request{plural} {}", advice.words(), count(self.requests), advice.because);
        Some(Found { what, sessions, saved, what_if: None, lifetime: false })
    }
}

/// The sessions, the one with most money first, and the sum of all; `None` where there are none.
fn ranked(mut found: Vec<(usize, Money)>) -> Option<(Vec<usize>, Money)> {
    found.sort_by_key(|(at, saved)| (Reverse(*saved), *at));
    let saved = found.iter().map(|(_, saved)| *saved).sum();
    (!found.is_empty()).then(|| (found.into_iter().map(|(at, _)| at).collect(), saved))
}

#[cfg(test)]
mod tests {
    use super::per_week;
    use forkcast_sim::pricing::Money;
    use forkcast_sim::time::Duration;

    #[test]
    fn less_than_a_week_counts_as_one() {
        let days = |days: u64| Duration::from_secs(days * 86_400);
        let saved = Money::from_picousd(14_000);
        assert_eq!(per_week(saved, Duration::default()), saved);
        assert_eq!(per_week(saved, days(6)), saved);
        assert_eq!(per_week(saved, days(14)), Money::from_picousd(7_000));
        // 2 USD a week for 100,000 days.
        let much = Money::from_picousd(2 * 14_286 * 1_000_000_000_000);
        assert_eq!(per_week(much, days(100_002)).picousd(), 2 * 1_000_000_000_000);
    }
}
