//! Which chain a request belongs to, over all scopes.
//!
//! Where the input names no agents, a request continues the chain with which it shares most message history. One kind of
//! request it would tear: siblings of a fan-out, and answers that were asked for again, all continue the same earlier
//! request and differ behind it. Each of them is a chain of its own. And one kind it would lose: a history that was replaced
//! (compacted, or with all its ids renewed) shares nothing with what it stands for: see [`super::replacement`]. What bytes
//! cannot tell is told as a note ([`NoteKind::NewChain`], [`NoteKind::Branch`]).

use std::collections::BTreeMap;

use super::finding::NoteKind;
use super::replacement::{self, Trace};
use super::resemblance::Likeness;
use super::retelling;
use super::sent::Facts;
use crate::diagnosis::Subject;
use crate::outside::quoted;
use crate::pricing::Rates;
use crate::time::Instant;
use crate::wire::{BlockId, ChainId, Chains, Continuation, Level, Moved, Request, Wire};

/// A chain's latest requests.
#[derive(Clone, Debug)]
pub(super) struct Latest {
    /// The last.
    pub last: Subject,
    /// The one before; of a chain that branched off, the one that it branched off from.
    pub before: Option<Subject>,
    /// The last one's prices.
    pub rates: Option<Rates>,
    /// The scope in which they were sent.
    pub scope: String,
    /// When the first byte of the last one's answer came, or when it was sent; `None` where neither is known.
    pub first_byte_at: Option<Instant>,
}

impl Latest {
    /// The same in a fresh wire.
    pub fn moved(self, old: &Wire, new: &mut Wire, moved: &mut Moved) -> Self {
        let Self { last, before, rates, scope, first_byte_at } = self;
        let mut adopt = |taken: Subject| {
            let request = new.adopt(old, &taken.request, &scope, moved);
            Subject { request, ..taken }
        };
        let before = before.map(&mut adopt);
        Self { last: adopt(last), before, rates, scope, first_byte_at }
    }
}

/// Where a request belongs.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// The chain, numbered over all scopes in order of first requests.
    pub chain: ChainId,
    /// What it is called.
    pub name: String,
    /// The request is its first.
    pub first: bool,
    /// The chain that it branches off: behind the request before that chain's last.
    pub branches_off: Option<ChainId>,
    /// What bytes do not tell of it.
    pub doubt: Option<NoteKind>,
}

/// A chain's last request and the one before.
pub(super) type Recent<'a> = (&'a Request, Option<&'a Request>);

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
    /// Requests without a name that begin chains although there were some: how many, and the first.
    strangers: Option<(usize, usize)>,
    /// Requests that continue two chains equally: how many, and the first with both.
    torn: Option<(usize, usize, [ChainId; 2])>,
}

impl Lanes {
    /// How many chains there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The chain of request `number`. `latest` gives a chain's last request and the one before.
    pub fn assign<'a>(
        &mut self,
        wire: &Wire,
        (number, request): (usize, &Request),
        facts: &Facts<'_>,
        latest: impl Fn(ChainId) -> Option<Recent<'a>>,
    ) -> Lane {
        let scope = self.scopes.entry(facts.scope.to_owned()).or_default();
        let branches_off = facts.chain.is_none().then(|| scope.branch(wire, request, &latest)).flatten();
        let continued = match branches_off {
            Some(_) => scope.chains.begin(request, wire),
            None if facts.chain.is_some() => scope.chains.assign(facts.chain, request, wire),
            None => match scope.chains.follow(request, wire) {
                Some(continued) => continued,
                None => match scope.retold(wire, request, &latest).or_else(|| scope.replaced(wire, request, &latest)) {
                    Some(chain) => scope.chains.resume(chain, request, wire),
                    None => scope.chains.begin(request, wire),
                },
            },
        };
        let doubt = match branches_off {
            Some(_) => Some(NoteKind::Branch),
            None => {
                let begins = facts.chain.is_none() && continued.first;
                (begins && scope.could_be_known(wire, request, &latest)).then_some(NoteKind::NewChain)
            }
        };
        if facts.chain.is_none() && branches_off.is_none() {
            scope.remember(number, continued);
        }
        let chain = match scope.numbers.get(continued.chain.0 as usize) {
            Some(chain) => *chain,
            None => {
                let chain = ChainId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
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

    /// What makes chains less sure than they look, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.scopes.iter().flat_map(|(scope, chains)| chains.warnings(scope, &self.names)).collect()
    }
}

/// What a new chain is called: by the input's name for it, which another scope may have used.
fn name(names: &[String], facts: &Facts<'_>, chain: ChainId) -> String {
    match facts.chain {
        Some(name) if !names.iter().any(|known| known == name) => name.to_owned(),
        Some(name) => format!("{}/{name}", facts.scope),
        None => format!("{}#{}", facts.scope, chain.0 + 1),
    }
}

impl Scope {
    /// The chain that `request` branches off: it holds the whole history of the request before that chain's last one, not
    /// of the last one, and is no longer than that. Tools and system prompt may have changed.
    fn branch<'a>(
        &self,
        wire: &Wire,
        request: &Request,
        latest: &impl Fn(ChainId) -> Option<Recent<'a>>,
    ) -> Option<ChainId> {
        let recent = || self.unnamed.iter().rev().filter_map(|chain| Some((*chain, latest(*chain)?)));
        if recent().any(|(_, (last, _))| holds(request, last)) {
            return None;
        }
        let said = said(wire, request);
        let tells = |earlier: &Request| holds(request, earlier) || said.starts_with(&self::said(wire, earlier));
        let branches = |(last, before): Recent<'_>| {
            messages(request) <= messages(last)
                && before.is_some_and(tells)
                && !said.starts_with(&self::said(wire, last))
        };
        recent().find(|(_, recent)| branches(*recent)).map(|(chain, _)| chain)
    }

    /// The chains without names whose last request `request` is most alike, and how alike that is.
    fn of_kind<'a>(
        &self,
        wire: &Wire,
        request: &Request,
        latest: &impl Fn(ChainId) -> Option<Recent<'a>>,
    ) -> Option<(Likeness, Vec<(ChainId, &'a Request)>)> {
        let known = || self.unnamed.iter().rev().filter_map(|chain| Some((*chain, latest(*chain)?.0)));
        replacement::most_alike(wire, request, known)
    }

    /// The chain, numbered within the scope, whose history `request` replaced, which continues none: yet it is no beginning
    /// ([`replacement`]), and one chain alone can be meant.
    fn replaced<'a>(
        &self,
        wire: &Wire,
        request: &Request,
        latest: &impl Fn(ChainId) -> Option<Recent<'a>>,
    ) -> Option<ChainId> {
        let trace = Trace::of(wire, request)?;
        let (likeness, known) = self.of_kind(wire, request, latest)?;
        self.within(replacement::only(wire, request, trace, likeness, &known)?)
    }

    /// The chain, numbered within the scope, whose history `request` tells again with changes all over.
    fn retold<'a>(
        &self,
        wire: &Wire,
        request: &Request,
        latest: &impl Fn(ChainId) -> Option<Recent<'a>>,
    ) -> Option<ChainId> {
        let known = self.unnamed.iter().rev().filter_map(|chain| Some((*chain, latest(*chain)?.0)));
        self.within(retelling::only(wire, request, known)?)
    }

    /// The number within the scope of a chain.
    fn within(&self, chain: ChainId) -> Option<ChainId> {
        let within = self.numbers.iter().position(|number| *number == chain)?;
        Some(ChainId(u32::try_from(within).unwrap_or(u32::MAX)))
    }

    /// Whether `request`, which begins a chain, could be a known one's with its history replaced.
    fn could_be_known<'a>(
        &self,
        wire: &Wire,
        request: &Request,
        latest: &impl Fn(ChainId) -> Option<Recent<'a>>,
    ) -> bool {
        let trace = Trace::of(wire, request);
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
        // At the end and quoted: what a message quotes is left out where names are.
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
            format!("{which}: taken for {taken}, it could be {rival}. Name the agents, or give each a folder.{scope}")
        });
        strangers.into_iter().chain(torn).collect()
    }
}

/// Whether `request` begins with all blocks of `earlier`.
fn holds(request: &Request, earlier: &Request) -> bool {
    let last = earlier.nodes.len().checked_sub(1);
    last.is_some_and(|last| request.nodes.get(last) == Some(&earlier.end()))
}

/// The blocks of a request's messages, without the keys of level and messages.
pub(super) fn said(wire: &Wire, request: &Request) -> Vec<BlockId> {
    let from = request.level_start(Level::Messages);
    let blocks = request.nodes[from..].iter().zip(&request.places[from..]).filter(|(_, place)| !place.keys);
    blocks.filter_map(|(node, _)| wire.prefixes.block(*node)).collect()
}

/// How many messages a request has.
pub(super) fn messages(request: &Request) -> usize {
    let from = request.level_start(Level::Messages);
    let last = request.places[from..].iter().rev().find(|place| place.item != crate::wire::Place::LEVEL_HEAD);
    last.map_or(0, |place| place.item as usize + 1)
}
