//! The guard, for requests that someone else has read.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::budget::{Spent, Turn};
use super::clock::Clockwork;
use super::finding::{Finding, NoteKind, Noted, Rule};
use super::identity::{Identity, Whose};
use super::judge::{self, Question};
use super::lock::RequestRecord;
use super::member::Member;
use super::refusal::Refusals;
use super::report::{Checked, Report};
use super::rules::Rules;
use super::sent::Facts;
use super::sharing::{self, Demand};
use super::thinking::Thinking;
use super::timeless::TimelessCache;
use super::uncached::{self, Uncached};
use super::unread;
use crate::diagnosis::{Cause, OpenRule, Subject};
use crate::pricing::{PriceBook, Rates};
use crate::service::{PriceFacts, RecordedUsage, Tariff};
use crate::wire::{Marker, Moved, NodeId, Request, Usage, Wire};

/// Checks requests one after the other. The caller owns the wire into which they were read, which is the same for all.
#[derive(Clone, Debug)]
pub struct Watch {
    rules: Rules,
    book: PriceBook,
    identity: Identity<Arc<Member>>,
    timeless: TimelessCache,
    clocked: Clockwork,
    spent: Spent,
    refusals: Refusals,
    uncached: Uncached,
    thinking: Thinking,
    /// Rules that findings and notes rest on, though they are not known for a model.
    assumed: BTreeSet<(OpenRule, String)>,
    report: Report,
}

/// The parts of a request that its recorded usage describes.
pub(super) struct Shown {
    /// Its breakpoints that count.
    pub effective: Vec<Marker>,
    /// The prefix that the cache is believed to have served.
    pub hit: Option<NodeId>,
}

impl Watch {
    /// A watch under `rules`, at list prices.
    pub fn new(rules: Rules) -> Self {
        Self {
            book: PriceBook::built_in(),
            identity: Identity::default(),
            timeless: TimelessCache::new(&rules.preset),
            clocked: Clockwork::new(rules.preset),
            spent: Spent::default(),
            refusals: Refusals::default(),
            uncached: Uncached::default(),
            thinking: Thinking::default(),
            assumed: BTreeSet::new(),
            report: Report::default(),
            rules,
        }
    }

    /// The same with other prices.
    pub fn with_prices(mut self, book: PriceBook) -> Self {
        self.book = book;
        self
    }

    /// The rules in force.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Takes the next request. `cumulative` are the tokens of each of its prefixes.
    pub fn take(&mut self, wire: &Wire, request: Request, cumulative: Vec<u64>, facts: &Facts<'_>) -> Checked {
        let number = self.report.requests;
        let taken = self.taken(number, request, cumulative);
        self.checked(wire, taken, facts, false).0
    }

    /// A request with its sizes, as request `number`.
    pub(super) fn taken(&self, number: usize, request: Request, cumulative: Vec<u64>) -> Subject {
        let taken = Subject::new(number, request, cumulative, &self.rules.preset);
        if self.rules.in_tests { Subject { minimum_tokens: 0, ..taken } } else { taken }
    }

    /// Takes a request; also returns the parts that its recorded usage describes. Its breakpoints are assumed if it
    /// `is_implied` by the rule for tests.
    pub(super) fn checked(
        &mut self,
        wire: &Wire,
        taken: Subject,
        facts: &Facts<'_>,
        is_implied: bool,
    ) -> (Checked, Shown) {
        let taken = Arc::new(taken);
        let rates = self.rates(&taken, facts);
        let member = |sender| {
            let first_byte_at = facts.first_byte_at.or(facts.at);
            Arc::new(Member { subject: Arc::clone(&taken), sender, rates, first_byte_at })
        };
        let whose = self.identity.take(wire, &taken.request, facts, member);
        let clock = self.clocked.scope(facts);
        let at = clock.advance(wire, facts);
        let recorded_read = facts.usage.map(|usage| taken.blocks_within(usage.cache_read_input_tokens));
        let case = Question {
            wire,
            timeless: self.timeless.moment(),
            clocked: clock.moment(at, recorded_read),
            older: &taken,
            newer: &taken,
            rates: rates.as_ref(),
            rule: Rule::Stability,
            chain: &whose.lane.name,
            concerns: &|_| true,
            read_tokens: facts.usage.map_or(0, |usage| usage.cache_read_input_tokens),
            asks_breakpoints: true,
        };
        let (findings, mut notes) = Self::judge(&case, &whose, facts);
        let lane = &whose.lane;
        let read = self.timeless.serve(wire, &taken);
        let shown = self.clocked.scope(facts).take(wire, &taken, read, facts, at);
        self.assume_look_back(wire, &taken, read, facts);
        notes.extend(shown.late.map(|cause| late(&taken, &lane.name, read, cause)));
        notes.extend(self.doubt(&taken, &whose, facts));
        if !facts.given_up {
            let turn = uncached::Turn {
                taken: &taken,
                previous: whose.previous.as_ref().filter(|_| !lane.first).map(|previous| &*previous.subject),
                blocks_read: read,
                rates: rates.as_ref(),
                is_broken: findings.iter().any(|finding| finding.breaks_prefix),
                is_measured: facts.usage.is_some(),
                is_implied,
            };
            self.uncached.take(wire, &turn, &whose);
        }
        let (rejected, of_thinking) = self.thinking.take(wire, &taken, facts, &whose, &self.rules);
        let (refused, noted) = self.refusals.take(wire, &taken, facts, lane, &findings, &self.rules);
        notes.extend(of_thinking.into_iter().chain(noted));
        let output_tokens = facts.usage.map_or(0, |usage| usage.output_tokens);
        let asked = if is_unbilled(&taken, facts) { Usage::default() } else { shown.outcome.usage() };
        let expected = Usage { output_tokens, ..asked };
        let checked = Checked {
            request: taken.number,
            chain: lane.chain,
            chain_name: lane.name.clone(),
            first: lane.first,
            findings,
            notes,
            refused: refused.or(rejected),
            expected,
            cost: rates.as_ref().map(|rates| rates.bill(&expected, &[]).total),
        };
        let effective = if taken.refusal.is_some() { Vec::new() } else { taken.effective() };
        self.report(&checked, &taken.request);
        (checked, Shown { effective, hit: shown.outcome.hit })
    }

    /// Remembers that a request reads its first `read` blocks only by an open rule.
    fn assume_look_back(&mut self, wire: &Wire, taken: &Subject, read: usize, facts: &Facts<'_>) {
        if facts.usage.is_none() && unread::rests_on_runs(wire, taken, read, self.rules.preset.look_back) {
            self.assumed.insert((OpenRule::LookBack, taken.request.model.clone()));
        }
    }

    /// The note for a case that bytes cannot decide. Two requests in flight at once cannot be consecutive turns.
    fn doubt(&self, taken: &Subject, whose: &Whose<Arc<Member>>, facts: &Facts<'_>) -> Option<Noted> {
        let Whose { lane, behind, .. } = whose;
        let answered = match lane.branches_off.or(*behind) {
            Some(chain) => self.identity.recent(chain).and_then(|recent| recent.last.first_byte_at),
            None => None,
        };
        let at_once = facts.at.zip(answered).is_some_and(|(at, answered)| at < answered);
        let doubt = lane.doubt.or_else(|| behind.map(|_| NoteKind::Branch));
        let kind = doubt.filter(|doubt| *doubt != NoteKind::Branch || !at_once)?;
        Some(Noted::new(&lane.name, taken.number, kind, String::new()))
    }

    /// Changes since the previous request of its chain, with their costs.
    fn judge(case: &Question<'_>, whose: &Whose<Arc<Member>>, facts: &Facts<'_>) -> (Vec<Finding>, Vec<Noted>) {
        let (mut findings, notes) = Self::changes(case, whose);
        if is_unbilled(case.newer, facts) {
            findings.iter_mut().for_each(Finding::cost_nothing);
        }
        (findings, notes)
    }

    /// Changes since the previous request of its chain; for a first one, the parts that it does not share with its kin.
    fn changes(case: &Question<'_>, whose: &Whose<Arc<Member>>) -> (Vec<Finding>, Vec<Noted>) {
        if let Some(previous) = whose.previous.as_ref().filter(|_| !whose.lane.first) {
            return judge::judge(&Question { older: &previous.subject, ..*case });
        }
        let (mut findings, mut notes, mut asks_breakpoints) = (Vec::new(), Vec::new(), false);
        for Demand { older, within } in sharing::demands(&whose.kinship) {
            let older = &older.subject;
            let asks = within.asks_breakpoints(older);
            let concerns = |found: &_| within.concerns(found);
            let demand = Question { older, rule: within.rule, concerns: &concerns, asks_breakpoints: asks, ..*case };
            let (found, noted) = judge::judge(&demand);
            let with_sibling = within.with_sibling;
            findings.extend(found.into_iter().map(|found| Finding { with_sibling, ..found }));
            notes.extend(noted);
            asks_breakpoints |= asks;
        }
        if !asks_breakpoints {
            findings.extend(unread::refusal(case));
        }
        (findings, notes)
    }

    /// Adds the findings to the report.
    fn report(&mut self, checked: &Checked, request: &Request) {
        let open = checked.findings.iter().filter_map(|finding| OpenRule::of_change(&finding.site, request));
        self.assumed.extend(open.map(|rule| (rule, request.model.clone())));
        if request.has_modelled_cache() {
            self.spent.add(&Turn {
                number: checked.request,
                chain: checked.chain,
                name: &checked.chain_name,
                first: checked.first,
                expected: &checked.expected,
                cost: checked.cost,
                marked: request.markers_sent,
            });
        } else {
            self.spent.add_unknown();
        }
        self.report.requests += 1;
        self.report.chains = self.identity.chains();
        checked.findings.iter().for_each(|finding| self.report.find(finding.clone(), &self.rules));
        checked.notes.iter().for_each(|note| self.report.note(note.clone()));
    }

    /// Takes the message of a recorded error about thinking.
    pub(super) fn refused(&mut self, chain: Option<&str>, message: &str) {
        self.thinking.refused(chain, message, &self.rules);
    }

    /// Adds notes to a request that was just checked.
    pub(super) fn note(&mut self, checked: &mut Checked, notes: Vec<(NoteKind, String)>) {
        if let Some(recent) = self.identity.recent(checked.chain) {
            let request = &recent.last.subject.request;
            let open = notes.iter().filter_map(|(note, _)| match note {
                NoteKind::Harmless(note) => OpenRule::of_note(*note, request),
                _ => None,
            });
            self.assumed.extend(open.map(|rule| (rule, request.model.clone())));
        }
        let (chain, request) = (&checked.chain_name, checked.request);
        let noted = |(note, path)| Noted::new(chain, request, note, path);
        let notes: Vec<Noted> = notes.into_iter().map(noted).collect();
        notes.iter().for_each(|note| self.report.note(note.clone()));
        checked.notes.extend(notes);
    }

    /// Moves to a fresh wire that contains only the requests that later ones are compared with.
    pub(super) fn renew(&mut self, old: &Wire) -> (Wire, Moved) {
        let (mut new, mut moved) = (Wire::new(*old.forms()), Moved::default());
        self.thinking.renew();
        self.uncached.renew();
        self.identity.for_each_mut(|member| {
            let subject = &member.subject;
            let request = new.adopt(old, &subject.request, &member.sender.scope, &mut moved);
            let subject = Arc::new(Subject { request, ..Subject::clone(subject) });
            *member = Arc::new(Member { subject, ..Member::clone(member) });
        });
        self.timeless = self.timeless.moved(old, &new, &moved);
        self.clocked.renew(old, &new, &moved);
        (new, moved)
    }

    /// The request just checked, in the form that a lock records. `parent` is the chain that started its chain.
    pub fn seen<'a>(
        &'a self,
        wire: &'a Wire,
        checked: &'a Checked,
        parent: Option<&'a str>,
    ) -> Option<RequestRecord<'a>> {
        let last = &self.identity.recent(checked.chain)?.last;
        Some(RequestRecord {
            chain: &checked.chain_name,
            parent,
            wire,
            arena: 0,
            request: &last.subject.request,
            cumulative: &last.subject.cumulative,
            usage: checked.expected,
            cost: checked.cost,
            rates: last.rates,
        })
    }

    fn rates(&self, taken: &Subject, facts: &Facts<'_>) -> Option<Rates> {
        let request = &taken.request;
        let unknown = RecordedUsage::default();
        let price = facts.price.unwrap_or_else(|| PriceFacts::answered(&request.model, &unknown, facts.at));
        let usage = Usage { input_tokens: facts.total_tokens(taken), ..Usage::default() };
        Tariff { book: &self.book, date: None }.quote(&price.asked_by(request), &usage).rates
    }

    /// The report on all requests.
    pub fn finish(mut self) -> Report {
        self.uncached.findings().for_each(|finding| self.report.find(finding, &self.rules));
        self.report.violations = self.spent.violations(&self.rules.budget);
        let refused = |answer: &str| format!("the provider refuses it: \"{answer}\"");
        self.report.violations.extend(self.refusals.violations(Rule::Stability, refused));
        self.report.violations.extend(self.thinking.violations(&self.rules));
        self.report.checks_thinking = self.thinking.is_asked;
        self.report.warnings = self.identity.warnings();
        self.report.warnings.extend(self.uncached.warnings());
        self.report.warnings.extend(self.spent.warning().filter(|_| self.rules.checks(Rule::Budget)));
        self.report.warnings.extend(self.thinking.warnings(&self.rules));
        self.report.warnings.extend(self.assumed.iter().map(|(rule, model)| rule.warning(model)));
        self.report.set_score(&self.rules);
        self.report
    }
}

/// The note that a request read less than its first `read` blocks, because of time.
fn late(taken: &Subject, chain: &str, read: usize, cause: Cause) -> Noted {
    let path = taken.request.path(taken.request.places[read - 1]);
    Noted::new(chain, taken.number, NoteKind::Time(cause), path)
}

/// It was given up, or the provider refuses it.
fn is_unbilled(request: &Subject, facts: &Facts<'_>) -> bool {
    facts.given_up || request.is_refused(facts.usage.as_ref())
}
