//! Recommended actions: savings in money, proved by the what-ifs and the causes of misses.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use forkcast_replay::replay::{Options, Passes};
use forkcast_replay::what_if::{self, Breakpoints, SessionCosts, WhatIf, Where};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::model::resolve;

use super::{Recorded, Report, Session, View};
use crate::document::{count, several, span};

mod advice;

use advice::{Advice, MISSES, Reader};

pub use advice::{in_clients, lives_an_hour, suggestion};

/// A recommended action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Stable word for machines: `restart`, `pause`, `ttl_1h`.
    pub code: &'static str,
    /// A sentence for people: the action, and the reason for the cost.
    pub what: String,
    /// The sessions that it helps, as indices among the report's sessions, the one with most money first.
    pub sessions: Vec<usize>,
    /// The saving over the time of the recording.
    pub saved: Money,
    /// Index of the what-if that proves it; `None` if the cost of causes does.
    pub what_if: Option<usize>,
}

/// Most actions that are recommended.
const ACTIONS_MAX: usize = 5;

/// The smallest saving worth a sentence, as a share of this bill: one hundredth.
const BILL_PARTS: i128 = 100;

/// The actions, the largest saving first: those that keep the answers, then another model, last those that only
/// hindsight could choose. Savings of several actions may overlap, so they add up to less.
pub fn actions(report: &Report<'_>) -> Vec<Action> {
    let Some(bill) = report.totals.billed.cost.filter(|bill| *bill > Money::ZERO) else { return Vec::new() };
    let tried = tried(report);
    let lives_longer = tried.iter().any(|found| found.lives_longer && found.kind == Kind::SameAnswers);
    let mut found: Vec<Found> = tried.into_iter().chain(report.missed.found(report, lives_longer)).collect();
    found.retain(|found| found.action.saved.picousd().saturating_mul(BILL_PARTS) >= bill.picousd());
    found.sort_by_key(|found| (found.kind, Reverse(found.action.saved), found.action.what.clone()));
    // The smallest saving among those that keep the answers is dropped, so that each kind is present.
    let others = found.iter().filter(|found| found.kind != Kind::SameAnswers).count();
    let same = found.len() - others;
    found.drain(ACTIONS_MAX.saturating_sub(others).min(same)..same);
    found.into_iter().take(ACTIONS_MAX).map(|found| found.action).collect()
}

/// An action and the facts that decide its position.
struct Found {
    action: Action,
    /// It makes entries live longer, so expired entries are counted in it.
    lives_longer: bool,
    kind: Kind,
}

/// How certain its effect is, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The same requests get the same answers.
    SameAnswers,
    /// Another model answers.
    OtherModel,
    /// It requires knowledge of the future.
    Hindsight,
}

/// The worthwhile what-ifs, by the rules of [`what_if::actions`].
fn tried(report: &Report<'_>) -> Vec<Found> {
    let waits = &report.tally.waits;
    // The user of a client cannot make it send pings or place its breakpoints.
    let is_author = report.missed.reader() == Reader::Author;
    let is_possible = |what_if: &WhatIf| {
        stays_with_its_maker(report, what_if)
            && (is_author || (what_if.keepalive.is_none() && what_if.breakpoints.is_none()))
    };
    let cost = |(at, session): (usize, &Session)| SessionCosts {
        session: at,
        unchanged: session.account.billed.cost.unwrap_or(Money::ZERO),
        what_ifs: session
            .account
            .what_if
            .iter()
            .zip(&report.options.what_if)
            .map(|(side, what_if)| side.cost.filter(|_| is_possible(what_if)))
            .collect(),
        waits: waits.contains(&session.index),
    };
    let costs: Vec<SessionCosts> = report.sessions.iter().enumerate().map(cost).collect();
    let found = what_if::actions(&report.options.what_if, &costs).into_iter();
    found.filter_map(|action| advised(report, &action)).collect()
}

/// Clients are built for the models of one maker: no other one's is advised.
fn stays_with_its_maker(report: &Report<'_>, what_if: &WhatIf) -> bool {
    let Some(to) = what_if.model.filter(|_| !what_if.of_its_maker) else { return true };
    let mut known = report.tally.models.iter().filter_map(|model| resolve(model));
    known.all(|found| found.id.row().vendor == to.row().vendor)
}

fn advised(report: &Report<'_>, action: &what_if::Action) -> Option<Found> {
    let tried = report.what_ifs.get(action.what_if)?;
    let saved = |at: &usize| Some((*at, report.sessions.get(*at)?.account.saved(action.what_if)?));
    let what_if = report.options.what_if.get(action.what_if)?;
    let changes = |(at, saved): &(usize, Money)| match what_if.model {
        Some(_) => *saved != Money::ZERO,
        None => what_if.changes(&report.sessions[*at].account.billed.usage),
    };
    let (sessions, _) = ranked(action.sessions.iter().filter_map(saved).filter(changes).collect())?;
    let number = count(sessions.len() as u64);
    let all = report.sessions.len();
    let plural = if sessions.len() == 1 { "" } else { "s" };
    let place = match action.scope {
        Where::Everywhere if all == 1 => "in this session".to_owned(),
        Where::Everywhere if sessions.len() < all => format!("in {number} of {} sessions", count(all as u64)),
        Where::Everywhere if all == 2 => "in both sessions".to_owned(),
        Where::Everywhere => format!("in all {number} sessions"),
        Where::WithWaits if sessions.len() == 1 => "in the session that pauses for five minutes to an hour".to_owned(),
        Where::WithWaits => format!("in the {number} sessions that pause for five minutes to an hour"),
        Where::OtherModel if tried.same_tokens > 0 => {
            let requests = several(tried.same_tokens, "request");
            format!("for the {requests} to models of its maker, with the same tokens; answers will differ")
        }
        Where::OtherModel => "for the same requests; answers will differ".to_owned(),
        Where::ByConversation => format!("in {number} session{plural}, by what turned out cheaper afterwards"),
    };
    let advice::Change { code, words } = advice::change(&tried.name, report.missed.reader());
    let lives_longer = what_if.ttl.is_some() || what_if.keepalive.is_some();
    let kind = match action.scope {
        Where::ByConversation => Kind::Hindsight,
        Where::OtherModel => Kind::OtherModel,
        Where::Everywhere | Where::WithWaits => Kind::SameAnswers,
    };
    let what = format!("{words} {place}");
    let action = Action { code, what, sessions, saved: action.saved, what_if: Some(action.what_if) };
    Some(Found { action, lives_longer, kind })
}

/// The what-ifs that price advice on breakpoints begin so.
const BREAKPOINTS: &str = "breakpoints=";

/// The placement that costs least, tried because requests missed tokens for lack of a breakpoint. What they lost is more
/// than it saves: what is written for later requests costs more than plain input, and requests that are sent together
/// cannot read what one of them writes.
#[derive(Debug)]
pub(super) struct Placed {
    what_if: String,
    /// By index among the report's sessions.
    saved: Vec<(usize, Money)>,
}

/// The placements that the author of an agent may choose.
const PLACEMENTS: [Breakpoints; 4] =
    [Breakpoints::System, Breakpoints::Tail, Breakpoints::Both, Breakpoints::Client2026];

/// Replays the requests once more with other breakpoints, if their author may place them and their lack is worth a sentence.
pub(super) fn placed(report: &Report<'_>) -> Option<Placed> {
    let is_tried = report.view.is_trial || report.tried().any(|(_, tried)| tried.name.starts_with(BREAKPOINTS));
    let lost = report.missed.for_breakpoints().picousd().saturating_mul(BILL_PARTS);
    let is_worth = lost > 0 && report.totals.billed.cost.is_some_and(|bill| lost >= bill.picousd());
    if is_tried || !is_worth || report.is_partial() || report.missed.reader() != Reader::Author {
        return None;
    }
    let placement = |breakpoints| WhatIf { breakpoints: Some(breakpoints), ..WhatIf::default() };
    let what_if = PLACEMENTS.map(placement).to_vec();
    let options = Options { what_if, composes: false, ..report.options.clone() };
    let requests = Passes::new(report.inputs, &options, &|| false);
    let view = View { is_trial: true, ..report.view.clone() };
    let again = Report::new(report.inputs, &requests, &options, view);
    let cost = |at: &usize| again.totals.what_if.get(*at).and_then(|side| side.cost);
    let best = (0..PLACEMENTS.len()).filter(|at| cost(at).is_some()).min_by_key(cost)?;
    let saved = again.sessions.iter().enumerate();
    let saved = saved.filter_map(|(at, session)| Some((at, session.account.saved(best)?))).collect();
    Some(Placed { what_if: options.what_if[best].to_string(), saved })
}

/// The misses, each under the first advice that fits it.
#[derive(Debug)]
pub(super) struct Missed {
    sums: Vec<Sum>,
    /// Requests by the person who can change something about them.
    readers: BTreeMap<Reader, u64>,
}

impl Default for Missed {
    fn default() -> Self {
        Self { sums: MISSES.iter().map(|_| Sum::default()).collect(), readers: BTreeMap::new() }
    }
}

impl Missed {
    /// `pause`: how long its agent had not sent a request before.
    pub fn take(&mut self, entry: &Recorded<'_>, pause: Option<Duration>) {
        *self.readers.entry(Reader::of(entry)).or_default() += 1;
        for part in &entry.line.charge.causes {
            let shows = advice::shown(entry, part.cause);
            if entry.evidence.as_ref().is_some_and(|evidence| evidence.is_of_provider(part.cause)) {
                continue;
            }
            let advice = MISSES.iter().position(|advice| advice.is_for(part.cause, shows));
            if let Some((sum, cost)) = advice.and_then(|at| self.sums.get_mut(at)).zip(part.cost) {
                sum.requests += 1;
                *sum.of_session.entry(entry.line.session).or_default() += cost;
                *sum.of_cause.entry(part.cause).or_default() += cost;
                if part.cause == Cause::Expired {
                    sum.pauses.extend(pause.map(|pause| (Reverse(cost), pause)));
                }
            }
        }
    }

    /// The person who can change something about most requests.
    fn reader(&self) -> Reader {
        let most = self.readers.iter().max_by_key(|(_, requests)| **requests);
        most.map_or(Reader::Author, |(reader, _)| *reader)
    }

    /// The money of the misses that other breakpoints would have prevented.
    fn for_breakpoints(&self) -> Money {
        let known = MISSES.iter().zip(&self.sums).filter(|(advice, _)| advice.is_priced_by(BREAKPOINTS));
        known.flat_map(|(_, sum)| sum.of_session.values()).copied().sum()
    }

    fn found(&self, report: &Report<'_>, lives_longer: bool) -> Vec<Found> {
        let reader = self.reader();
        let known = MISSES.iter().zip(&self.sums);
        let tried = |advice: &Advice| report.tried().any(|(_, tried)| advice.is_priced_by(&tried.name));
        let known =
            known.filter(|(advice, _)| !(tried(advice) || lives_longer && advice.causes.contains(&Cause::Expired)));
        known.filter_map(|(advice, sum)| sum.found(report, advice, reader)).collect()
    }
}

/// Misses with the same advice.
#[derive(Debug, Default)]
struct Sum {
    requests: u64,
    /// Money by the session's index in the ledger.
    of_session: BTreeMap<usize, Money>,
    of_cause: BTreeMap<Cause, Money>,
    /// Pauses during which entries expired, with the cost of each.
    pauses: Vec<(Reverse<Money>, Duration)>,
}

/// Most pauses that are listed.
const PAUSES_SHOWN: usize = 3;

impl Sum {
    fn found(&self, report: &Report<'_>, advice: &Advice, reader: Reader) -> Option<Found> {
        let placed = report.placed.as_ref().filter(|_| advice.is_priced_by(BREAKPOINTS));
        let money = match placed {
            Some(placed) => placed.saved.clone(),
            None => self.lost(report, advice),
        };
        let (sessions, saved) = ranked(money.into_iter().filter(|(_, cost)| *cost > Money::ZERO).collect())?;
        let (dearest, _) = self.of_cause.iter().max_by_key(|(cause, cost)| (**cost, Reverse(**cause)))?;
        let proof = placed.map_or_else(String::new, |placed| format!("; as {}", placed.what_if));
        let what = format!("{} ({}{proof})", advice.words(*dearest, reader), self.times());
        let action = Action { code: advice.code, what, sessions, saved, what_if: None };
        Some(Found { action, lives_longer: false, kind: Kind::SameAnswers })
    }

    /// What its misses cost in each session.
    fn lost(&self, report: &Report<'_>, advice: &Advice) -> Vec<(usize, Money)> {
        let sessions = report.sessions.iter().enumerate();
        let money = sessions.filter_map(|(at, session)| Some((at, *self.of_session.get(&session.index)?)));
        let most = |at: usize| report.sessions[at].account.above_bound().filter(|_| advice.is_bounded);
        money.map(|(at, cost)| (at, most(at).map_or(cost, |most| cost.min(most)))).collect()
    }

    /// `6 times`; `8 times, after 3 h 45 min, 1 h 27 min …` for pauses that outlived the cache.
    fn times(&self) -> String {
        let times = if self.requests == 1 { "once".to_owned() } else { format!("{} times", count(self.requests)) };
        let mut pauses = self.pauses.clone();
        pauses.sort();
        let spans: Vec<String> = pauses.iter().take(PAUSES_SHOWN).map(|(_, pause)| span(pause.as_millis())).collect();
        if spans.is_empty() {
            return times;
        }
        let more = if pauses.len() > PAUSES_SHOWN { " …" } else { "" };
        format!("{times}, after {}{more}", spans.join(", "))
    }
}

/// The sessions, the one with most money first, and the sum of all; `None` if there are none.
fn ranked(mut found: Vec<(usize, Money)>) -> Option<(Vec<usize>, Money)> {
    found.sort_by_key(|(at, saved)| (Reverse(*saved), *at));
    let saved = found.iter().map(|(_, saved)| *saved).sum();
    (!found.is_empty()).then(|| (found.into_iter().map(|(at, _)| at).collect(), saved))
}
