//! The requests of one session, one after the other.

use std::sync::Arc;

use forkcast_sim::cache::Rules;
use forkcast_sim::service::{CountedSize, Engine, NotComparable};
use forkcast_sim::wire::model::Resolved;
use forkcast_sim::wire::{BlockId, Level, Role, Usage, number};

use super::Place;
use super::counting::Counting;
use super::forecasting::{Threads, profiled, rules_for};
use crate::exchange::RecordedUsage;
use crate::rebuild::Tokens;
use crate::rebuild::forecast::{Forecast, Shared};
use crate::rebuild::lane::{Arena, Lane};
use crate::replay::contents::SessionContents;
use crate::replay::hypotheticals::Hypotheticals;
use crate::replay::{Options, Replay};
use crate::source::transcript::{Ask, Conversation, Piece, asks, hidden_prefix};
use crate::transcript::Session;

/// An agent on its way.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub conversation: Conversation,
    /// Model and usage of the request before, of its last pass.
    pub last: Option<(Arc<str>, Usage)>,
    /// Tokens that the request before that one had left in the cache.
    pub left_earlier: Option<u64>,
    /// The conversation was folded once.
    pub folded: bool,
}

impl Progress {
    /// The read ends where an earlier request's write had ended and lacks the last one.
    pub fn lacks_last_write(&self, read: u64) -> bool {
        self.last.as_ref().is_some_and(|(_, last)| {
            let earlier = read == last.cache_read_input_tokens || Some(read) == self.left_earlier;
            earlier && read < last.cached_input_tokens()
        })
    }
}

/// Where the blocks of agents begin among the namespaces of opaque blocks.
const FIRST_SPACE: u64 = 16;

/// A session on its way.
pub(super) struct SessionReplay<'a> {
    pub session: &'a Session,
    pub place: Place,
    pub options: &'a Options,
    rules: Rules,
    forecast: Forecast<'a>,
    threads: Threads<'a>,
    pub arena: Arena,
    pub tokens: Tokens,
    /// The cache, which is given what the client must have sent, its usage seen.
    pub engine: Engine,
    /// Each agent's path.
    pub lanes: Vec<Lane>,
    pub agents: Vec<Progress>,
    /// Number of the hidden prefix of each agent.
    pub systems: Vec<u64>,
    pub next_system: u64,
    pub counting: Counting<'a>,
    /// The request being served, as counted.
    pub size: Option<CountedSize>,
    /// What blocks are, if entries say it.
    pub contents: Option<SessionContents>,
    pub hypotheticals: Hypotheticals<'a>,
}

impl<'a> SessionReplay<'a> {
    pub fn new(session: &'a Session, place: Place, shared: &'a Shared, options: &'a Options) -> Self {
        let agents = session.agents.len();
        let rules = rules_for(options.rules, session);
        let mut arena = Arena::default();
        let root = arena.prefixes.root("session", "");
        let number = number(place.index);
        Self {
            session,
            place,
            options,
            rules,
            forecast: Forecast::new(shared, rules, number, session.user.as_deref(), agents),
            threads: Threads::new(session, &rules, options.left_out),
            arena,
            tokens: Tokens::default(),
            engine: Engine::new(&rules, 0, 0, 0),
            lanes: vec![Lane::new(root); agents],
            agents: (0..agents).map(|_| Progress::default()).collect(),
            systems: session.agents.iter().map(|agent| hidden_prefix(&agent.kind)).collect(),
            next_system: 0,
            counting: Counting::new(&options.sizing, session),
            size: None,
            contents: options.composes.then(|| SessionContents::new(session)),
            hypotheticals: Hypotheticals::new(&rules, options),
        }
    }

    /// Serves every request.
    pub fn finish(mut self) -> Replay {
        let asks = asks(self.session);
        self.engine.reserve(asks.len());
        for ask in &asks {
            self.serve(ask);
        }
        let mut entries = self.engine.finish();
        self.hypotheticals.finish(&self.arena.prefixes, &mut entries);
        let is_judged = entries.iter().any(|entry| entry.line.explanation.is_some());
        let rules = if is_judged { vec![self.rules.name] } else { Vec::new() };
        Replay { entries, rules, ..Replay::default() }
    }

    fn serve(&mut self, ask: &Ask<'a>) {
        let agent = &self.session.agents[ask.agent];
        self.size = self.counting.count(ask, &agent.thread);
        let Self { agents, arena, contents, .. } = self;
        let mut block = |piece: &Piece<'_>| own_block(arena, contents, ask.agent, piece);
        agents[ask.agent].conversation.take_in(agent, ask.item, &mut block);
        match profiled(ask) {
            Some((usage, resolved)) => self.serve_request(ask, usage, resolved),
            None if ask.answer.usage.is_none() => self.count_only(ask, NotComparable::NoUsage),
            None => self.count_only(ask, NotComparable::NoProfile),
        }
        let Self { agents, arena, contents, .. } = self;
        let mut block = |piece: &Piece<'_>| own_block(arena, contents, ask.agent, piece);
        agents[ask.agent].conversation.say(Role::Assistant, ask.item, &ask.answer.parts, &mut block);
    }

    fn serve_request(&mut self, ask: &Ask<'a>, recorded: RecordedUsage, resolved: Resolved) {
        let sent = recorded.first_pass();
        let mut request = self.threads.outgoing(ask, &sent, &resolved);
        if let Some(size) = self.size.filter(|_| self.counting.decides()) {
            request.total_tokens = size.tokens;
        }
        let answered = self.threads.answered(ask, recorded.last_pass());
        let decision = self.forecast.predict(&request);
        let mut prompt = self.prompt(ask, sent, resolved, request.ttl, decision);
        self.lay_out(ask, &mut prompt);
        let shown = self.explain(ask, &mut prompt);
        self.commit(ask, &prompt, shown, &recorded);
        self.learn(ask, &prompt, recorded.last_pass());
        self.forecast.learn(&request, &answered, decision.as_ref());
    }
}

/// The block of a part, which no other agent has: usage shows what agents of a session share.
fn own_block(arena: &mut Arena, contents: &mut Option<SessionContents>, agent: usize, piece: &Piece<'_>) -> BlockId {
    let id = (piece.item as u128) << 32 | piece.at as u128;
    let block = arena.blocks.opaque(FIRST_SPACE + agent as u64, id, piece.part.kind, Level::Messages);
    if let Some(contents) = contents {
        contents.note(block, piece);
    }
    block
}
