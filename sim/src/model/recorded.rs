//! A model that answers from a recording.
//!
//! Chains are played in order: an agent's first question takes the first free chain, and each further question takes
//! the next answer of that chain. [`Fidelity`] says whether the question must equal the recorded one.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::{Answer, Question, Script, Unscripted};
use crate::wire::{Request, Wire};

/// How closely questions must match the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// Canonical bytes of the whole prompt must be equal. A new agent takes the chain that begins with the same
    /// question.
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

/// A model that answers from a recording.
pub struct Recorded {
    wire: Wire,
    scope: Rc<str>,
    chains: Vec<Chain>,
    /// The chain that each agent plays, and how many of its takes have been played.
    playing: BTreeMap<Rc<str>, (usize, usize)>,
    fidelity: Fidelity,
}

struct Chain {
    name: Rc<str>,
    takes: Vec<Take>,
    taken: bool,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("chains", &self.chains.len()).field("fidelity", &self.fidelity).finish()
    }
}

impl Recorded {
    /// A model that plays `takes`, whose requests `wire` read in `scope`. Chains are numbered by their first take.
    pub fn new(wire: Wire, scope: &str, takes: Vec<Take>, fidelity: Fidelity) -> Self {
        let mut chains: Vec<Chain> = Vec::new();
        for take in takes {
            match chains.iter_mut().find(|chain| chain.name == take.chain) {
                Some(chain) => chain.takes.push(take),
                None => chains.push(Chain { name: take.chain.clone(), takes: vec![take], taken: false }),
            }
        }
        Self { wire, scope: scope.into(), chains, playing: BTreeMap::new(), fidelity }
    }

    /// The chain for a new agent.
    fn cast(&mut self, question: &Question, asked: &Request) -> Result<usize, Unscripted> {
        let free = |chain: &Chain| !chain.taken;
        let begins = |chain: &Chain| chain.takes.first().is_some_and(|take| take.request.nodes == asked.nodes);
        let found = match self.fidelity {
            Fidelity::Strict => self.chains.iter().position(|chain| free(chain) && begins(chain)),
            Fidelity::Loose => None,
        };
        // If no chain begins alike, the next free chain is taken, so that the divergence can be reported.
        let found = found.or_else(|| self.chains.iter().position(free));
        let Some(at) = found else {
            return Err(Unscripted(format!(
                "agent `{}` ({}) is one agent more than the recording has: all its {} chains are taken",
                question.agent_type,
                question.agent,
                self.chains.len()
            )));
        };
        self.chains[at].taken = true;
        Ok(at)
    }

    fn divergence(&self, question: &Question, asked: &Request, take: &Take) -> Option<Unscripted> {
        let recorded = &take.request;
        if self.fidelity == Fidelity::Loose || asked.nodes == recorded.nodes {
            return None;
        }
        let at = asked.nodes.iter().zip(&recorded.nodes).take_while(|(asked, recorded)| asked == recorded).count();
        let where_asked = asked.places.get(at).map_or("nothing more".to_owned(), |place| format!("`{place}`"));
        let where_recorded = recorded.places.get(at).map_or("nothing more".to_owned(), |place| format!("`{place}`"));
        Some(Unscripted(format!(
            "agent `{}` ({}) does not ask what answer {} of chain `{}` was recorded for: the first {at} blocks are \
             equal, then it sent {where_asked} where the recording has {where_recorded}. Play it loosely to go by position \
             alone, or record again",
            question.agent_type, question.agent, question.turn, take.chain
        )))
    }
}

impl Script for Recorded {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        let asked = self.wire.take(&question.draft, &self.scope.clone());
        let (chain, played) = match self.playing.get(&question.agent) {
            Some(playing) => *playing,
            None => (self.cast(question, &asked)?, 0),
        };
        let Some(take) = self.chains[chain].takes.get(played) else {
            let name = &self.chains[chain].name;
            let takes = self.chains[chain].takes.len();
            return Err(Unscripted(format!(
                "agent `{}` ({}) asked for answer {}, but chain `{name}` of the recording ends after {takes}",
                question.agent_type, question.agent, question.turn
            )));
        };
        if let Some(divergence) = self.divergence(question, &asked, take) {
            return Err(divergence);
        }
        let answer = take.answer.clone();
        self.playing.insert(question.agent.clone(), (chain, played + 1));
        Ok(answer)
    }
}
