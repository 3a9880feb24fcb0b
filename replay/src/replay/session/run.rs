//! The requests of one session, one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::cache::Rules;
use forkcast_sim::ledger::UnreadWrites;
use forkcast_sim::pricing::Rates;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;
use forkcast_sim::wire::model::{Resolved, Vendor, resolve};

use super::agent::State;
use super::ask::{Ask, asks};
use super::prompt::{Prompt, hidden_prefix};
use super::{Ledger, Place};
use crate::agreement::NotComparable;
use crate::rebuild::habits::{Situation, TurnEnd, followed_up};
use crate::rebuild::lane::Arena;
use crate::rebuild::profile::{Profile, version};
use crate::rebuild::{Shared, Tokens, World};
use crate::replay::Options;
use crate::replay::run::day_of;
use crate::transcript::{Answer, Client, OutputCount, Session, Sign, What};

/// A session on its way through its caches.
pub(super) struct Run<'a> {
    pub session: &'a Session,
    pub place: Place,
    pub shared: &'a Shared,
    pub options: &'a Options,
    pub ledger: Ledger,
    pub arena: Arena,
    pub tokens: Tokens,
    /// What the client is believed to have sent, its usage unseen.
    pub forecast: World,
    /// What it must have sent, its usage seen.
    pub explained: World,
    pub agents: Vec<State>,
    /// Number of the hidden prefix of each agent in the forecast, and in the explanation.
    pub systems: Vec<(u64, u64)>,
    pub next_system: u64,
    resolved: BTreeMap<Arc<str>, Option<Resolved>>,
    pub unread: UnreadWrites,
    /// In step with the lines of the ledger.
    pub rates: Vec<Option<Rates>>,
    /// Hidden requests to come, by instant and agent.
    follow_ups: BTreeMap<(Instant, usize), (Ask<'a>, Prompt)>,
}

impl<'a> Run<'a> {
    pub fn new(session: &'a Session, place: Place, shared: &'a Shared, options: &'a Options) -> Self {
        let agents = session.agents.len();
        let day = asks(session).first().filter(|_| place.timed).map(|ask| day_of(ask.at));
        let rules = options.rules.unwrap_or_else(|| Rules::for_recording(day));
        let mut arena = Arena::default();
        let root = arena.prefixes.root("session", "");
        let mut run = Self {
            session,
            place,
            shared,
            options,
            ledger: Ledger { rules: vec![rules.name], chains: agents, ..Ledger::default() },
            arena,
            tokens: Tokens::default(),
            forecast: World::new(rules, agents, root),
            explained: World::new(rules, agents, root),
            agents: (0..agents).map(|_| State::default()).collect(),
            systems: Vec::new(),
            next_system: 0,
            resolved: BTreeMap::new(),
            unread: UnreadWrites::default(),
            rates: Vec::new(),
            follow_ups: BTreeMap::new(),
        };
        run.systems = session.agents.iter().map(|agent| hidden_prefix(&agent.kind)).collect();
        run
    }

    /// Serves every request and gives the ledger.
    pub fn finish(mut self) -> Ledger {
        let asks = asks(self.session);
        let mut next_of: BTreeMap<usize, Vec<Instant>> = BTreeMap::new();
        for ask in asks.iter().rev() {
            next_of.entry(ask.agent).or_default().push(ask.at);
        }
        for ask in &asks {
            let next = next_of.get_mut(&ask.agent);
            let next_at = next.and_then(|instants| {
                instants.pop();
                instants.last().copied()
            });
            self.follow_up_until(ask.at);
            self.serve(ask, next_at);
        }
        self.price_unread_writes();
        self.ledger
    }

    fn serve(&mut self, ask: &Ask<'a>, next_at: Option<Instant>) {
        let agent = &self.session.agents[ask.agent];
        let mut situation = self.agents[ask.agent].take_in(&mut self.arena, ask.agent, agent, ask.item);
        let model = ask.answer.model.clone();
        let resolved = *self.resolved.entry(model).or_insert_with_key(|model| resolve(model));
        let profiled = resolved.filter(|resolved| resolved.id.row().vendor == Vendor::Anthropic);
        let usage = ask.answer.usage.map(|recorded| recorded.usage).filter(|usage| usage.total_input_tokens() > 0);
        let Some((usage, resolved)) = usage.zip(profiled) else {
            let why = if profiled.is_some() { NotComparable::NoUsage } else { NotComparable::NoProfile };
            self.count_only(ask, why);
            self.agents[ask.agent].parts(&mut self.arena, (ask.agent, ask.item), &ask.answer.parts);
            return;
        };
        self.agents[ask.agent].announce(ask.answer, ask.line, &mut situation);
        let prompt = self.serve_request(ask, usage, resolved, situation);
        let state = &mut self.agents[ask.agent];
        state.answered(ask, usage, output_tokens(ask.answer, &usage));
        state.parts(&mut self.arena, (ask.agent, ask.item), &ask.answer.parts);
        self.expect_follow_up(ask, next_at, prompt);
    }

    fn serve_request(&mut self, ask: &Ask<'a>, usage: Usage, resolved: Resolved, situation: Situation) -> Prompt {
        let mut prompt = self.prompt(ask, usage, resolved, situation);
        self.change(ask, &mut prompt);
        self.size(ask, &mut prompt);
        let predicted = self.predict(ask, &prompt);
        let shown = self.explain(ask, &prompt);
        self.push(ask, &prompt, &predicted, shown);
        self.commit(ask, &prompt);
        self.learn(ask, &prompt);
        prompt
    }

    /// The habits of the session's client in the version that sent the request.
    pub fn profile(&self, answer: &Answer, resolved: &Resolved) -> Profile {
        let keeps_thinking = resolved.id.row().keeps_thinking.unwrap_or(true);
        match (self.session.client, &answer.version) {
            (Client::ClaudeCode, Some(text)) => Profile::claude_code(version(text), keeps_thinking),
            _ => Profile::plain(keeps_thinking),
        }
    }

    /// A turn ended: the client may send a hidden request behind the answer.
    fn expect_follow_up(&mut self, ask: &Ask<'a>, next_at: Option<Instant>, prompt: Prompt) {
        let (state, Some(next_at)) = (&self.agents[ask.agent], next_at) else { return };
        let Some(last) = state.last.as_ref().filter(|last| last.turn_over && ask.agent == 0) else { return };
        let end = TurnEnd {
            ended_at: last.ended_at,
            next_at,
            written_tokens: last.usage.cache_creation_input_tokens() + last.usage.input_tokens,
            plan_mode: state.plan_mode,
        };
        if followed_up(&self.profile(ask.answer, &prompt.resolved), &end) && !self.is_compacted_next(ask) {
            self.follow_ups.insert((last.ended_at, ask.agent), (*ask, prompt));
        }
    }

    /// What follows the answer is a compaction, or no prompt at all.
    fn is_compacted_next(&self, ask: &Ask<'_>) -> bool {
        let items = &self.session.agents[ask.agent].thread.items[ask.item + 1..];
        let next = items.iter().take_while(|item| !matches!(item.what, What::Answer(_)));
        next.into_iter().any(|item| matches!(item.what, What::Sign(Sign::Compacted { .. })))
    }

    /// Sends the hidden requests that came before `at`.
    fn follow_up_until(&mut self, at: Instant) {
        while let Some(entry) = self.follow_ups.first_entry() {
            if entry.key().0 > at {
                return;
            }
            let ((sent_at, _), (ask, prompt)) = entry.remove_entry();
            self.follow_up(sent_at, &ask, &prompt);
        }
    }
}

/// Tokens of the answer: as counted, or by estimate where only the start of the stream was.
fn output_tokens(answer: &Answer, usage: &Usage) -> u64 {
    match answer.output {
        OutputCount::Final => usage.output_tokens,
        OutputCount::StreamStart { estimated_tokens } => u64::from(estimated_tokens),
    }
}
