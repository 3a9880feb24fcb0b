//! A model that answers from a recording.
//!
//! [`Fidelity`] says how questions find their answers: strictly by content, each answer once, whichever agent asks; or by
//! position, where an agent's first question takes the chain that resembles it most, and each further question the next
//! answer of that chain.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::rc::Rc;

use super::{Answer, Question, Script, Unscripted};
use crate::wire::{BlockId, NodeId, Request, Wire};

/// How closely questions must match the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// The whole request must be equal in canonical form: prompt, parameters and breakpoints.
    #[default]
    Strict,
    /// Only the position matters.
    Loose,
}

/// An exchange of a recording.
#[derive(Clone, Debug)]
pub struct Take {
    /// The chain it belongs to.
    pub chain: Rc<str>,
    /// The recorded request, read by the wire that the model receives.
    pub request: Request,
    /// The recorded answer.
    pub answer: Answer,
}

/// Describes the first difference between a recorded request and the one that was sent instead.
pub type Describe = Box<dyn Fn(&Wire, &Request, &Request) -> String>;

/// A model that answers from a recording.
pub struct Recorded {
    wire: Wire,
    scope: Rc<str>,
    takes: Vec<Take>,
    chains: Vec<Chain>,
    /// The takes of each prompt that have not been played, in their order.
    by_prompt: BTreeMap<NodeId, VecDeque<usize>>,
    /// The chain that each agent plays.
    playing: BTreeMap<Rc<str>, usize>,
    fidelity: Fidelity,
    describe: Describe,
    last_played: Option<usize>,
}

struct Chain {
    name: Rc<str>,
    /// Its takes that have not been played.
    takes: VecDeque<usize>,
    played: usize,
    /// The blocks of its first prompt.
    first: BTreeSet<BlockId>,
    taken: bool,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("chains", &self.chains.len()).field("fidelity", &self.fidelity).finish()
    }
}

impl Recorded {
    /// A model that plays `takes`, whose requests `wire` read in `scope`. Chains are numbered by their first take;
    /// `describe` is asked for the difference of a question that was not recorded.
    pub fn new(wire: Wire, scope: &str, takes: Vec<Take>, fidelity: Fidelity, describe: Describe) -> Self {
        let mut by_prompt: BTreeMap<NodeId, VecDeque<usize>> = BTreeMap::new();
        let mut chains: Vec<Chain> = Vec::new();
        for (number, take) in takes.iter().enumerate() {
            by_prompt.entry(take.request.end()).or_default().push_back(number);
            match chains.iter_mut().find(|chain| chain.name == take.chain) {
                Some(chain) => chain.takes.push_back(number),
                None => chains.push(Chain {
                    name: take.chain.clone(),
                    takes: [number].into(),
                    played: 0,
                    first: blocks(&wire, &take.request),
                    taken: false,
                }),
            }
        }
        let playing = BTreeMap::new();
        Self { wire, scope: scope.into(), takes, chains, by_prompt, playing, fidelity, describe, last_played: None }
    }

    /// The take whose answer was given last.
    pub const fn last_played(&self) -> Option<usize> {
        self.last_played
    }

    /// The chain that an agent plays; for a new agent, the free one that begins with its question, else the free one with
    /// most of its blocks.
    fn chain_of(&mut self, question: &Question, asked: &Request) -> Result<usize, Unscripted> {
        if let Some(chain) = self.playing.get(&question.agent) {
            return Ok(*chain);
        }
        let own = blocks(&self.wire, asked);
        let begins = |chain: &Chain| {
            let first = chain.takes.front().and_then(|number| self.takes.get(*number));
            first.is_some_and(|take| take.request.end() == asked.end())
        };
        let free = self.chains.iter().enumerate().filter(|(_, chain)| !chain.taken);
        let best = free.max_by_key(|(at, chain)| {
            let shared = chain.first.intersection(&own).count();
            (begins(chain), shared, usize::MAX - at)
        });
        let Some((at, _)) = best else {
            return Err(Unscripted(format!(
                "agent `{}` ({}) is one agent more than the recording has: all its {} chains are taken",
                question.agent_type,
                question.agent,
                self.chains.len()
            )));
        };
        self.chains[at].taken = true;
        self.playing.insert(question.agent.clone(), at);
        Ok(at)
    }

    /// The next take of this prompt, of the agent's own chain if it has one.
    fn equal(&self, question: &Question, asked: &Request) -> Option<usize> {
        let numbers = self.by_prompt.get(&asked.end())?;
        let chain = self.playing.get(&question.agent).map(|at| &self.chains[*at].name);
        let is_equal = |number: &&usize| is_equal(&self.takes[**number].request, asked);
        let own = |number: &&usize| chain == Some(&self.takes[**number].chain);
        let mut equal = numbers.iter().filter(is_equal);
        let first = equal.clone().next();
        equal.find(own).or(first).copied()
    }

    /// Takes an answer out of the recording.
    fn play(&mut self, number: usize, agent: &Rc<str>) -> Answer {
        self.last_played = Some(number);
        let Take { chain: name, request, answer } = &self.takes[number];
        if let Some(numbers) = self.by_prompt.get_mut(&request.end()) {
            numbers.retain(|other| *other != number);
        }
        if let Some(at) = self.chains.iter().position(|chain| chain.name == *name) {
            let chain = &mut self.chains[at];
            chain.takes.retain(|other| *other != number);
            chain.played += 1;
            chain.taken = true;
            self.playing.insert(agent.clone(), at);
        }
        answer.clone()
    }

    fn divergence(&self, question: &Question, asked: &Request, take: &Take, played: usize) -> Unscripted {
        Unscripted(format!(
            "agent `{}` ({}) does not ask what answer {played} of chain `{}` was recorded for: {}. Play it loosely to go by \
             position alone, or record again",
            question.agent_type,
            question.agent,
            take.chain,
            (self.describe)(&self.wire, &take.request, asked)
        ))
    }
}

fn blocks(wire: &Wire, request: &Request) -> BTreeSet<BlockId> {
    request.nodes.iter().filter_map(|node| wire.prefixes.block(*node)).collect()
}

/// Whether two requests are equal in canonical form. The order of parameters means nothing.
fn is_equal(recorded: &Request, asked: &Request) -> bool {
    let parameters = |request: &Request| -> BTreeMap<String, Vec<u8>> {
        request.envelope.iter().map(|field| (field.key.clone(), field.value.clone())).collect()
    };
    recorded.nodes == asked.nodes && recorded.markers == asked.markers && parameters(recorded) == parameters(asked)
}

impl Script for Recorded {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        let asked = self.wire.take(&question.draft, &self.scope.clone());
        if self.fidelity == Fidelity::Strict
            && let Some(number) = self.equal(question, &asked)
        {
            return Ok(self.play(number, &question.agent));
        }
        let at = self.chain_of(question, &asked)?;
        let chain = &self.chains[at];
        let Some(number) = chain.takes.front().copied() else {
            return Err(Unscripted(format!(
                "agent `{}` ({}) asked for answer {}, but chain `{}` of the recording ends after {}",
                question.agent_type, question.agent, question.turn, chain.name, chain.played
            )));
        };
        match self.fidelity {
            Fidelity::Strict => Err(self.divergence(question, &asked, &self.takes[number], chain.played)),
            Fidelity::Loose => Ok(self.play(number, &question.agent)),
        }
    }
}
