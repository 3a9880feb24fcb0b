//! The requests of one session, one after the other.

use forkcast_sim::service::{CountedSize, NotComparable, Premiums};
use forkcast_sim::wire::Usage;
use forkcast_sim::wire::model::Resolved;

use super::Place;
use super::agent::State;
use super::ask::{Ask, asks};
use super::counted::Counting;
use super::forecasting::{Models, Threads, rules_for};
use super::prompt::hidden_prefix;
use crate::rebuild::forecast::{Forecast, Shared};
use crate::rebuild::lane::Arena;
use crate::rebuild::{Tokens, World};
use crate::replay::supposed::Supposed;
use crate::replay::{Options, Replay};
use crate::transcript::Session;

/// A session on its way.
pub(super) struct Run<'a> {
    pub session: &'a Session,
    pub place: Place,
    pub options: &'a Options,
    pub result: Replay,
    forecast: Forecast<'a>,
    models: Models,
    threads: Threads<'a>,
    pub arena: Arena,
    pub tokens: Tokens,
    /// What the client must have sent, its usage seen.
    pub world: World,
    pub agents: Vec<State>,
    /// Number of the hidden prefix of each agent.
    pub systems: Vec<u64>,
    pub next_system: u64,
    pub premiums: Premiums,
    pub counting: Counting<'a>,
    /// The request being served, as counted.
    pub size: Option<CountedSize>,
    pub supposed: Supposed<'a>,
}

impl<'a> Run<'a> {
    pub fn new(session: &'a Session, place: Place, shared: &'a Shared, options: &'a Options) -> Self {
        let agents = session.agents.len();
        let rules = rules_for(options.rules, session);
        let mut arena = Arena::default();
        let root = arena.prefixes.root("session", "");
        let number = u32::try_from(place.index).unwrap_or(u32::MAX);
        Self {
            session,
            place,
            options,
            result: Replay { rules: vec![rules.name], ..Replay::default() },
            forecast: Forecast::new(shared, rules, number, session.user.clone(), agents),
            models: Models::default(),
            threads: Threads::new(session, &rules, options.left_out),
            arena,
            tokens: Tokens::default(),
            world: World::new(rules, agents, root),
            agents: (0..agents).map(|_| State::default()).collect(),
            systems: session.agents.iter().map(|agent| hidden_prefix(&agent.kind)).collect(),
            next_system: 0,
            premiums: Premiums::default(),
            counting: Counting::new(&options.sizing, session),
            size: None,
            supposed: Supposed::new(&rules, options),
        }
    }

    /// Serves every request.
    pub fn finish(mut self) -> Replay {
        for ask in &asks(self.session) {
            self.serve(ask);
        }
        self.premiums.settle(&mut self.result.entries);
        self.supposed.finish(&self.arena.prefixes, &mut self.result.entries);
        self.result
    }

    fn serve(&mut self, ask: &Ask<'a>) {
        let agent = &self.session.agents[ask.agent];
        self.size = self.counting.count(ask, &agent.thread);
        self.agents[ask.agent].take_in(&mut self.arena, ask.agent, agent, ask.item);
        match self.models.profiled(ask.answer) {
            Some((usage, resolved)) => self.serve_request(ask, usage, resolved),
            None if ask.answer.usage.is_none() => self.count_only(ask, NotComparable::NoUsage),
            None => self.count_only(ask, NotComparable::NoProfile),
        }
        self.agents[ask.agent].parts(&mut self.arena, (ask.agent, ask.item), &ask.answer.parts);
    }

    fn serve_request(&mut self, ask: &Ask<'a>, usage: Usage, resolved: Resolved) {
        let mut request = self.threads.outgoing(ask, &usage, &resolved);
        if let Some(size) = self.size.filter(|_| self.counting.decides()) {
            request.total_tokens = size.tokens;
        }
        let answered = self.threads.answered(ask, usage);
        let decision = self.forecast.predict(&request);
        let mut prompt = self.prompt(ask, usage, resolved, request.ttl, decision);
        self.lay_out(ask, &mut prompt);
        let shown = self.explain(ask, &mut prompt);
        let priced = self.push(ask, &prompt, shown);
        self.commit(ask, &prompt, priced.as_ref());
        self.learn(ask, &prompt);
        self.forecast.learn(&request, &answered, decision.as_ref());
    }
}
