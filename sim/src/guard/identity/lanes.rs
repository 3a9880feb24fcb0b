//! Assigns requests to chains, over all scopes.
//!
//! If the input names no agents, a request continues the chain with which it shares most message history. Two cases
//! need care. Siblings of a fan-out, and retries for another answer, all continue the same earlier request and would be
//! mixed up in one chain: each of them gets a chain of its own. A replaced history (compacted, or with new ids
//! throughout) shares nothing with the original and would start a new chain: see [`super::replacement`]. Cases that
//! bytes cannot decide get a note ([`NoteKind::NewChain`], [`NoteKind::Branch`]).

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::kin::Relative;
use super::replacement::{self, Trace};
use super::resemblance::{
    History, Likeness, is_another_agent, is_answered, is_answered_otherwise, is_equal_head, is_of_another_kind,
    is_same_head, said,
};
use super::{Ends, Recent, retelling};
use crate::guard::{Facts, NoteKind};
use crate::outside::quoted;
use crate::wire::{self, Candidates, ChainId, Chains, Continuation, Level, Request, Wire};

/// The chain of a request.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The chain, numbered over all scopes in order of first requests.
    pub chain: ChainId,
    /// Name of the chain.
    pub name: String,
    /// The request is its first.
    pub first: bool,
    /// The chain that it branches off, after the request before that chain's last one.
    pub branches_off: Option<ChainId>,
    /// The note for a case that bytes do not decide.
    pub doubt: Option<NoteKind>,
}

/// The chains of all scopes.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    scopes: BTreeMap<String, Scope>,
    names: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct Scope {
    chains: Chains,
    /// The number over all scopes of each of its chains.
    numbers: Vec<ChainId>,
    /// Chains found by history.
    unnamed: Vec<ChainId>,
    /// Requests without a name that begin chains although there were others: how many, and the first.
    strangers: Option<(usize, usize)>,
    /// Requests that continue two chains equally: how many, and the first with both.
    torn: Option<(usize, usize, [ChainId; 2])>,
}

impl Lanes {
    /// The names of all chains, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The chain of request `number`. `latest` are the ends of all chains.
    pub fn assign<T: Relative>(
        &mut self,
        wire: &Wire,
        request: &Request,
        number: usize,
        facts: &Facts<'_>,
        latest: &Ends<T>,
    ) -> Lane {
        let scope = self.scopes.entry(facts.scope.to_owned()).or_default();
        let branches_off = facts.chain.is_none().then(|| scope.branch(wire, request, latest)).flatten();
        let continued = match branches_off {
            Some(_) => scope.chains.begin(request, wire),
            None if facts.chain.is_some() => scope.chains.assign(facts.chain, request, wire),
            None => match scope.follow(wire, request, facts, latest) {
                Some(continued) => continued,
                None => {
                    match scope.retold(wire, request, facts, latest).or_else(|| scope.replaced(wire, request, latest)) {
                        Some(chain) => scope.chains.resume(chain, request, wire),
                        None => scope.chains.begin(request, wire),
                    }
                }
            },
        };
        let doubt = match branches_off {
            Some(_) => Some(NoteKind::Branch),
            None => {
                let begins = facts.chain.is_none() && continued.first;
                (begins && scope.could_be_known(wire, request, latest)).then_some(NoteKind::NewChain)
            }
        };
        if facts.chain.is_none() && branches_off.is_none() {
            scope.remember(number, continued);
        }
        let chain = match scope.numbers.get(continued.chain.0 as usize) {
            Some(chain) => *chain,
            None => {
                let chain = ChainId(wire::number(self.names.len()));
                scope.numbers.push(chain);
                if facts.chain.is_none() {
                    scope.unnamed.push(chain);
                }
                let name = name(&self.names, facts, continued.chain);
                self.names.push(name);
                chain
            }
        };
        Lane { chain, name: self.names[chain.0 as usize].clone(), first: continued.first, branches_off, doubt }
    }

    /// Warnings about uncertain chains, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.scopes.iter().flat_map(|(scope, chains)| chains.warnings(scope, &self.names)).collect()
    }
}

/// Name of a new chain: the input's name for it, unless another scope has used it.
fn name(names: &[String], facts: &Facts<'_>, chain: ChainId) -> String {
    match facts.chain {
        Some(name) if !names.iter().any(|known| known == name) => name.to_owned(),
        Some(name) => format!("{}/{name}", facts.scope),
        None => format!("{}#{}", facts.scope, chain.0 + 1),
    }
}

impl Scope {
    /// The chain without a name with the history that `request` continues. Another kind of agent continues none of them
    /// because of a beginning that many share, nor does the same beginning with other answers; with a whole history it
    /// is the same agent under a new head ([`super::retelling`]).
    fn follow<T: Relative>(
        &mut self,
        wire: &Wire,
        request: &Request,
        facts: &Facts<'_>,
        latest: &Ends<T>,
    ) -> Option<Continuation> {
        let Self { chains, numbers, unnamed, .. } = self;
        let last = |within: ChainId| latest.get(*numbers.get(within.0 as usize)?);
        // An agent of its own that waits for this turn.
        let waits = |recent: &Recent<T>| {
            let last = recent.last.request();
            is_same_head(last, request) && messages(last) < messages(request) && repeats(wire, request, last)
        };
        let is_awaited = LazyCell::new(|| unnamed.iter().filter_map(|chain| latest.get(*chain)).any(waits));
        let may = |within: ChainId| {
            last(within).is_none_or(|recent| {
                let last = recent.last.request();
                let is_no_turn = || messages(request) <= messages(last) && !is_same_head(last, request);
                // Logs have thousands of questions behind the same examples: what is found without reading comes first.
                !(retelling::asks_otherwise(wire, last, request)
                    || is_answered_otherwise(wire, last, request)
                    || is_recorded_twice(request, facts, recent)
                    || is_no_turn() && *is_awaited
                    || is_of_another_kind(wire, last, request)
                    || is_another_agent(wire, last, request))
            })
        };
        let is_likely =
            |within: ChainId| last(within).is_some_and(|recent| is_same_head(recent.last.request(), request));
        chains.follow(request, wire, &Candidates { may: &may, is_likely: &is_likely })
    }

    /// The chain that `request` branches off: it contains the whole history of the request before that chain's last
    /// one, or of the one that the chain itself branched off from, but not of the last one, and is no longer than that.
    /// Tools and system prompt may have changed.
    fn branch<T: Relative>(&self, wire: &Wire, request: &Request, latest: &Ends<T>) -> Option<ChainId> {
        let recent = || self.unnamed.iter().rev().filter_map(|chain| Some((*chain, latest.get(*chain)?)));
        if recent().any(|(_, recent)| holds(request, recent.last.request())) {
            return None;
        }
        let branches = |recent: &Recent<T>| {
            let last = recent.last.request();
            messages(request) <= messages(last)
                && branched_from(wire, request, recent).is_some()
                && !repeats(wire, request, last)
                && !is_of_another_kind(wire, last, request)
                && !is_another_agent(wire, last, request)
        };
        recent().find(|(_, recent)| branches(recent)).map(|(chain, _)| chain)
    }

    /// The chains without names with a last request most similar to `request`, and their similarity.
    fn of_kind<'a, T: Relative>(
        &self,
        wire: &Wire,
        request: &Request,
        latest: &'a Ends<T>,
    ) -> Option<(Likeness, Vec<(ChainId, &'a Request)>)> {
        replacement::most_alike(wire, request, || self.known(wire, request, latest))
    }

    /// The chain, numbered within the scope, with the history that `request` replaced. `request` continues no chain,
    /// but is no beginning either ([`replacement`]), and only one chain is possible.
    fn replaced<T: Relative>(&self, wire: &Wire, request: &Request, latest: &Ends<T>) -> Option<ChainId> {
        let trace = Trace::of(wire, request)?;
        let (likeness, known) = self.of_kind(wire, request, latest)?;
        self.within(replacement::only(wire, request, trace, likeness, &known)?)
    }

    /// The chain, numbered within the scope, with the history that `request` repeats with changes all over. A beginning
    /// that was never answered is no history for another kind of agent.
    fn retold<T: Relative>(
        &self,
        wire: &Wire,
        request: &Request,
        facts: &Facts<'_>,
        latest: &Ends<T>,
    ) -> Option<ChainId> {
        let has_history = is_answered(wire, request);
        let may = |last: &Request| match has_history {
            true if is_another_agent(wire, last, request) => false,
            true => is_answered(wire, last) || !is_of_another_kind(wire, last, request),
            false => is_equal_head(last, request),
        };
        let is_other =
            |chain: ChainId| latest.get(chain).is_some_and(|recent| !is_recorded_twice(request, facts, recent));
        let known = self.known(wire, request, latest).filter(|(chain, last)| may(last) && is_other(*chain));
        self.within(retelling::only(wire, request, known)?)
    }

    /// The chains without names with their last requests, the latest chain first. Another provider has nothing of a
    /// conversation in its cache, and another question behind the same messages is no part of one.
    fn known<'a, T: Relative>(
        &self,
        wire: &Wire,
        request: &Request,
        latest: &'a Ends<T>,
    ) -> impl Iterator<Item = (ChainId, &'a Request)> {
        let lasts = self.unnamed.iter().rev().filter_map(|chain| Some((*chain, latest.get(*chain)?.last.request())));
        lasts.filter(|(_, last)| last.maker == request.maker && !retelling::asks_otherwise(wire, last, request))
    }

    /// The number within the scope of a chain.
    fn within(&self, chain: ChainId) -> Option<ChainId> {
        let within = self.numbers.iter().position(|number| *number == chain)?;
        Some(ChainId(wire::number(within)))
    }

    /// Whether `request`, which begins a chain, could belong to a known chain with its history replaced.
    fn could_be_known<T: Relative>(&self, wire: &Wire, request: &Request, latest: &Ends<T>) -> bool {
        let trace = Trace::of(wire, request);
        let own = History::of(wire, request);
        let repeats =
            |last: &Request| is_of_another_kind(wire, last, request) && History::of(wire, last).shared(&own).most;
        // With most of a history, another kind of agent may be a new version of the one that had it.
        if own.messages > 1 && self.known(wire, request, latest).any(|(_, last)| repeats(last)) {
            return true;
        }
        match self.of_kind(wire, request, latest) {
            Some((likeness, _)) => likeness > Likeness::Partial || trace.is_some(),
            None => trace == Some(Trace::Summary) && !self.unnamed.is_empty(),
        }
    }

    fn remember(&mut self, number: usize, continued: Continuation) {
        if continued.first && !self.unnamed.is_empty() {
            let (count, first) = self.strangers.unwrap_or((0, number));
            self.strangers = Some((count + 1, first));
        }
        if let Some(rival) = continued.rival {
            let both = [continued.chain, rival].map(|chain| self.numbers[chain.0 as usize]);
            let (count, first, both) = self.torn.unwrap_or((0, number, both));
            self.torn = Some((count + 1, first, both));
        }
    }

    fn warnings(&self, scope: &str, names: &[String]) -> Vec<String> {
        // At the end and quoted: the quoted part of a message is left out of anonymised output.
        let scope = if scope.is_empty() { String::new() } else { format!(" Scope: {}.", quoted(scope)) };
        let strangers = self.strangers.map(|(count, first)| {
            let which = match count {
                1 => format!("request {first} names no agent and continues no conversation before it: it begins a chain of its own"),
                _ => format!(
                    "{count} requests name no agent and continue no conversation before them: each begins a chain of its \
                     own, the first is request {first}"
                ),
            };
            format!("{which}. Name the agents, or give each a folder, if that is wrong.{scope}")
        });
        let torn = self.torn.map(|(count, first, chains)| {
            let [taken, rival] = chains.map(|chain| quoted(&names[chain.0 as usize]));
            let which = match count {
                1 => format!("request {first} names no agent and continues two conversations equally"),
                _ => format!(
                    "{count} requests name no agent and continue two conversations equally, the first is request {first}"
                ),
            };
            format!("{which}: assigned to {taken}, it could be {rival}. Name the agents, or give each a folder.{scope}")
        });
        strangers.into_iter().chain(torn).collect()
    }
}

/// Whether the last request of a chain was sent in the same instant and is as long: then it is this request in another
/// recording, not an earlier one.
fn is_recorded_twice<T: Relative>(request: &Request, facts: &Facts<'_>, recent: &Recent<T>) -> bool {
    let at = recent.last.sender().recorded_at;
    at.is_some() && at == facts.recorded_at && messages(request) == messages(recent.last.request())
}

/// The earlier request of a chain that `request` goes on from.
pub(super) fn branched_from<'a, T: Relative>(wire: &Wire, request: &Request, recent: &'a Recent<T>) -> Option<&'a T> {
    let tells = |earlier: &&T| holds(request, earlier.request()) || repeats(wire, request, earlier.request());
    recent.before.iter().chain(&recent.origin).find(tells)
}

/// Whether the messages of `request` begin with those of `earlier`.
fn repeats(wire: &Wire, request: &Request, earlier: &Request) -> bool {
    let mut own = said(wire, request).map(|(_, block)| block);
    said(wire, earlier).all(|(_, block)| own.next() == Some(block))
}

/// Whether `request` begins with all blocks of `earlier`.
fn holds(request: &Request, earlier: &Request) -> bool {
    let last = earlier.nodes.len().checked_sub(1);
    last.is_some_and(|last| request.nodes.get(last) == Some(&earlier.end()))
}

/// How many messages a request has.
pub(super) fn messages(request: &Request) -> usize {
    let from = request.level_start(Level::Messages);
    let last = request.places[from..].iter().rev().find(|place| place.item != wire::Place::LEVEL_HEAD);
    last.map_or(0, |place| place.item as usize + 1)
}
