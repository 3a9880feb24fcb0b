//! The last requests of agents, in little memory however many agents there are.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::sizes::Last;
use crate::diagnosis::Subject;
use crate::wire::{ChainId, Draft, Index, Trail, shared_nodes};

/// How the last request of an agent was taken and sized. It only saves work: without it a request is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct LastRequest {
    pub trail: Trail,
    pub sizes: Last,
}

/// Most agents whose last request is kept. More would only save work, and cost memory for each of their blocks.
const HELD_MAX: usize = 32;

/// The last requests of the agents that sent one most recently. A fork continues where its parent was.
#[derive(Debug, Default)]
pub(super) struct LastRequests {
    held: BTreeMap<Rc<str>, (u64, Rc<LastRequest>)>,
    /// The agents with a kept request, by when they sent it.
    order: BTreeMap<u64, Rc<str>>,
    /// The beginning of each fork.
    origins: Index<Rc<str>, Rc<LastRequest>>,
    asked: u64,
}

impl LastRequests {
    /// The last request of `agent`, which sends `draft`, as far as it is known; to be returned with [`Self::put`].
    pub fn take(&mut self, agent: &str, draft: &Draft) -> LastRequest {
        let own = self.held.remove(agent).map(|(asked, taken)| {
            self.order.remove(&asked);
            taken
        });
        if let Some(own) = own {
            return Rc::unwrap_or_clone(own);
        }
        let mut taken = self.origins.get(agent).map(|origin| LastRequest::clone(origin)).unwrap_or_default();
        // Other tools, even with equal bytes, may have other declared sizes.
        if !taken.trail.has_heads_of(draft) {
            taken.sizes = Last::default();
        }
        taken
    }

    /// `agent` just sent this.
    pub fn put(&mut self, agent: &Rc<str>, taken: LastRequest) {
        self.asked += 1;
        let taken = Rc::new(taken);
        self.held.insert(agent.clone(), (self.asked, taken));
        self.order.insert(self.asked, agent.clone());
        if self.held.len() > HELD_MAX
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.held.remove(&oldest);
        }
    }

    /// `agent` begins with `parent`'s last request.
    pub fn fork(&mut self, agent: &Rc<str>, parent: &str) {
        let origin = match self.held.get(parent) {
            Some((_, taken)) => Some(taken.clone()),
            None => self.origins.get(parent).cloned(),
        };
        if let Some(origin) = origin {
            self.origins.insert(agent.clone(), origin);
        }
    }

    /// `agent` sends no more requests.
    pub fn forget(&mut self, agent: &str) {
        self.origins.remove(agent);
        if let Some((asked, _)) = self.held.remove(agent) {
            self.order.remove(&asked);
        }
    }
}

/// The request that each chain continues, by its line of the ledger.
#[derive(Debug, Default)]
pub(super) struct Continuations {
    chains: BTreeMap<ChainId, Link>,
    /// By the line that was forked: the first request of the first fork, from which its siblings differ little.
    first_forks: BTreeMap<usize, Weak<Subject>>,
}

/// The request that a chain continues.
#[derive(Debug)]
enum Link {
    /// Its own last request.
    Own(Rc<Subject>),
    /// A fork that has sent nothing yet: its parent's last request.
    Parents { parent: ChainId, previous: Rc<Subject> },
    /// A fork: its own last request, whose path begins with this many blocks of `base`.
    Beyond { base: Rc<Subject>, shared: usize, own: Box<Subject> },
}

impl Continuations {
    /// The request that `chain` continues.
    pub fn get(&self, chain: ChainId) -> Option<Rc<Subject>> {
        match self.chains.get(&chain)? {
            Link::Own(previous) | Link::Parents { previous, .. } => Some(previous.clone()),
            Link::Beyond { base, shared, own } => {
                let mut whole = Subject::clone(own);
                whole.request.nodes.splice(0..0, base.request.nodes[..*shared].iter().copied());
                whole.request.places.splice(0..0, base.request.places[..*shared].iter().copied());
                whole.cumulative.splice(0..0, base.cumulative[..*shared].iter().copied());
                Some(Rc::new(whole))
            }
        }
    }

    /// `fork` continues `parent`'s last request.
    pub fn fork(&mut self, fork: ChainId, parent: ChainId) {
        if let Some(previous) = self.get(parent) {
            self.chains.insert(fork, Link::Parents { parent, previous });
        }
    }

    /// The chain that `chain` is a fork of, until it has sent a request.
    pub fn parent(&self, chain: ChainId) -> Option<ChainId> {
        match self.chains.get(&chain)? {
            Link::Parents { parent, .. } => Some(*parent),
            Link::Own(_) | Link::Beyond { .. } => None,
        }
    }

    /// `chain` sent this.
    pub fn put(&mut self, chain: ChainId, previous: Subject) {
        let base = match self.chains.remove(&chain) {
            Some(Link::Parents { previous: forked, .. }) => Some(self.first_fork(forked.number, &previous)),
            Some(Link::Beyond { base, .. }) => Some(base),
            Some(Link::Own(_)) | None => None,
        };
        let link = match base {
            Some(base) => beyond(base, previous),
            None => Link::Own(Rc::new(previous)),
        };
        self.chains.insert(chain, link);
    }

    /// The first request of the first fork of `line`, while any fork of it still sends requests.
    fn first_fork(&mut self, line: usize, previous: &Subject) -> Rc<Subject> {
        if let Some(first) = self.first_forks.get(&line).and_then(Weak::upgrade) {
            return first;
        }
        let first = Rc::new(previous.clone());
        self.first_forks.insert(line, Rc::downgrade(&first));
        first
    }

    /// `chain` sends no more requests.
    pub fn forget(&mut self, chain: ChainId) {
        self.chains.remove(&chain);
    }
}

fn beyond(base: Rc<Subject>, mut own: Subject) -> Link {
    let old = &base.request;
    let new = &own.request;
    let nodes = shared_nodes(&old.nodes, &new.nodes);
    let places = old.places[..nodes].iter().zip(&new.places[..nodes]);
    let same_place = places.take_while(|(old, new)| old == new).count();
    let sizes = base.cumulative[..same_place].iter().zip(&own.cumulative[..same_place]);
    let shared = sizes.take_while(|(old, new)| old == new).count();
    own.request.nodes = own.request.nodes[shared..].to_vec();
    own.request.places = own.request.places[shared..].to_vec();
    own.cumulative = own.cumulative[shared..].to_vec();
    Link::Beyond { base, shared, own: Box::new(own) }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Continuations, HELD_MAX, LastRequest, LastRequests};
    use crate::diagnosis::Subject;
    use crate::wire::{ChainId, Draft, Message, NormalForms, Piece, Role, Wire};

    fn draft(texts: &[&str]) -> Draft {
        let message = |text: &&str| Rc::new(Message { role: Role::User, content: [Piece::text(text)].into() });
        Draft {
            model: "claude-opus-5-5".into(),
            tools: Rc::from([]),
            system: Rc::from([]),
            messages: texts.iter().map(message).collect(),
            parameters: Rc::from([]),
            marks: Vec::new(),
        }
    }

    fn subject(wire: &mut Wire, number: usize, texts: &[&str]) -> Subject {
        let request = wire.take(&draft(texts), "scope");
        let cumulative = (1..=request.nodes.len() as u64).collect();
        Subject { number, request, cumulative, minimum_tokens: 0, refusal: None }
    }

    #[test]
    fn a_forks_last_request_is_returned_completely_whichever_agents_have_ended() {
        let mut wire = Wire::new(NormalForms::default());
        let (mut continued, parent) = (Continuations::default(), ChainId(0));
        continued.put(parent, subject(&mut wire, 0, &["a", "b"]));
        let sent = [["a", "b", "one", "x"], ["a", "b", "two", "x"], ["a", "c", "two", "x"]];
        for fork in 1..=3 {
            continued.fork(ChainId(fork), parent);
            assert_eq!(continued.get(ChainId(fork)).unwrap().number, 0);
        }
        for (fork, texts) in (1..).zip(&sent) {
            continued.put(ChainId(fork), subject(&mut wire, fork as usize, &texts[..3]));
        }
        continued.forget(ChainId(1));
        for (fork, texts) in (2..).zip(&sent[1..]) {
            for texts in [&texts[..3], &texts[..]] {
                let whole = subject(&mut wire, 9, texts);
                continued.put(ChainId(fork), whole.clone());
                let kept = continued.get(ChainId(fork)).unwrap();
                let parts = |subject: &Subject| {
                    let Subject { number, request, cumulative, .. } = subject.clone();
                    (number, request.nodes, request.places, cumulative)
                };
                assert_eq!(parts(&kept), parts(&whole));
            }
        }
    }

    #[test]
    fn only_the_latest_are_kept() {
        let mut latest = LastRequests::default();
        latest.put(&"parent".into(), LastRequest::default());
        for fork in 0..HELD_MAX * 3 {
            let name: Rc<str> = format!("fork-{fork}").into();
            latest.fork(&name, "parent");
            let taken = latest.take(&name, &draft(&[]));
            latest.put(&name, taken);
        }
        assert_eq!((latest.held.len(), latest.order.len()), (HELD_MAX, HELD_MAX));
        for fork in 0..HELD_MAX * 3 {
            latest.forget(&format!("fork-{fork}"));
        }
        assert_eq!((latest.held.len(), latest.order.len(), latest.origins.len()), (0, 0, 0));
    }
}
