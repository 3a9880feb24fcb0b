//! The explanation's reading of a request: the path that it must have sent, its sizes and breakpoints, and what the cache
//! makes of it.

use forkcast_sim::cache::minimum_tokens;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Terms;
use forkcast_sim::service::FRAME_TOKENS;
use forkcast_sim::wire::model::Resolved;
use forkcast_sim::wire::{Level, Marker, NodeId, Place, Prefixes, Ttl, Usage};
use xxhash_rust::xxh3::xxh3_64;

use super::ask::Ask;
use super::explained::{Shortfall, Shown};
use super::run::Run;
use crate::rebuild::forecast::Decision;
use crate::rebuild::lane::{Arena, Ends, Head};
use crate::rebuild::{MarkerRole, Sent, SentMarker, Tokens};
use crate::replay::price::Priced;
use crate::transcript::AgentKind;

/// Tokens behind the last breakpoint are a few of frame; more than this is something else and says nothing of the next
/// request (`input_tokens` of recorded requests: 1 to 13, by model).
const TAIL_TOKENS_MAX: u64 = 20;

/// Bytes of JSON for a token where only lengths are known, as for sizes by length alone.
const BYTES_PER_TOKEN: u64 = 3;

/// Entries laid out again before a conversation is folded: more than any recorded session needs (the largest of the public
/// ones comes to some ten thousand), and few enough for memory.
const REBUILT_MAX: usize = 100_000;

/// The same once it was.
const REBUILT_AGAIN_MAX: usize = 10_000;

/// What is known of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prompt {
    pub usage: Usage,
    pub ttl: Ttl,
    pub resolved: Resolved,
    /// The forecast; `None` for the first request of a chain, which is taken as given.
    pub decision: Option<Decision>,
    /// The first of its chain.
    pub first: bool,
    /// Tokens up to the last breakpoint.
    pub cached: u64,
    /// Tokens that had been sent before.
    pub known: u64,
    /// The last entry that the request before had sent.
    pub left: Option<usize>,
    /// Another breakpoint, which the read shows.
    pub marked: Option<NodeId>,
}

/// The number of an agent's hidden prefix: agents of one kind share theirs.
pub(crate) fn hidden_prefix(kind: &AgentKind) -> u64 {
    let word = match kind {
        AgentKind::Main | AgentKind::Fork | AgentKind::Internal => "main",
        AgentKind::Named { name, .. } => name.as_deref().unwrap_or("agent"),
    };
    xxh3_64(word.as_bytes())
}

impl<'a> Run<'a> {
    pub fn prompt(
        &self,
        ask: &Ask<'a>,
        usage: Usage,
        resolved: Resolved,
        ttl: Ttl,
        decision: Option<Decision>,
    ) -> Prompt {
        let last = self.agents[ask.agent].last.as_ref();
        let tail = match last {
            Some((_, before)) if before.input_tokens <= TAIL_TOKENS_MAX => before.input_tokens,
            Some(_) => 0,
            None => usage.input_tokens,
        };
        let cached = usage.total_input_tokens().saturating_sub(tail);
        Prompt { usage, ttl, resolved, decision, first: last.is_none(), cached, known: 0, left: None, marked: None }
    }

    /// Brings the path up to what is sent now, and gives every prefix its tokens.
    pub fn lay_out(&mut self, ask: &Ask<'a>, prompt: &mut Prompt) {
        if prompt.first {
            self.agents[ask.agent].head_tokens = self.first_head(ask, prompt);
        }
        let head = head(&mut self.arena, self.systems[ask.agent], prompt);
        let (state, lane) = (&mut self.agents[ask.agent], &mut self.world.lanes[ask.agent]);
        let kept = state.history.take_kept();
        lane.truncate(kept);
        let moved = lane.set_head(&mut self.arena, head, state.history.entries());
        lane.follow(&mut self.arena, state.history.entries());
        let kept = if moved { 0 } else { kept };
        prompt.left = state.sent_entries.checked_sub(1);
        let known = prompt.left.and_then(|left| state.history.end(left));
        prompt.known = known.unwrap_or(if prompt.first { 0 } else { state.head_tokens }).min(prompt.cached);
        let from = state.history.size_to(state.head_tokens.min(prompt.cached), prompt.cached).min(kept);
        state.sent_entries = state.history.len();
        self.world.lanes[ask.agent].count_again(kept.saturating_sub(from));
        self.tell_sizes(ask.agent, from);
    }

    /// The hidden prefix of a chain's first request: what it read, else what the conversation leaves by its length.
    fn first_head(&self, ask: &Ask<'a>, prompt: &Prompt) -> u64 {
        match prompt.usage.cache_read_input_tokens {
            0 => prompt.cached.saturating_sub(self.agents[ask.agent].history.unsized_weight() / BYTES_PER_TOKEN),
            read => read.min(prompt.cached),
        }
    }

    /// Tells the sizes of the prefixes that end with the entries from `from` on, and of the hidden prefix.
    fn tell_sizes(&mut self, agent: usize, from: usize) {
        let (state, lane) = (&self.agents[agent], &self.world.lanes[agent]);
        self.tokens.set(lane.system_end(), state.head_tokens);
        for at in from..lane.len() {
            if let (Some(node), Some(end)) = (lane.node(at), state.history.end(at)) {
                self.tokens.set(node, end);
            }
        }
    }

    /// Makes the path agree with what was read, and gives the cause where that fell short.
    pub fn explain(&mut self, ask: &Ask<'a>, prompt: &mut Prompt) -> Option<Shown> {
        let lane = &self.world.lanes[ask.agent];
        let ends = lane.ends();
        let marked = markers(&ends, prompt);
        let request = sent((&self.arena.prefixes, &self.tokens), &ends, ask, prompt, &marked);
        let read = prompt.usage.cache_read_input_tokens;
        let left = prompt.left.and_then(|at| lane.node(at));
        self.world.deliver_until(request.prefixes, ask.times.at);
        let plain = self.world.peek(&request).read_tokens;
        let entry = left.map(|node| self.world.state(request.prefixes, node, ask.times.at));
        if read + FRAME_TOKENS < plain {
            self.break_path(ask.agent, prompt, read);
        } else if let Some(landing) = prompt.decision.and_then(|decision| changed_unseen(&decision, read)) {
            self.break_path(ask.agent, prompt, landing.max(self.agents[ask.agent].head_tokens));
        }
        self.reach(ask, prompt, left);
        if read >= prompt.known {
            return None;
        }
        let shortfall = Shortfall {
            line: ask.line,
            decision: prompt.decision,
            diagnosis: ask.answer.diagnosis,
            model_changed: self.agents[ask.agent].last.as_ref().is_some_and(|(model, _)| *model != ask.answer.model),
            entry,
            read,
            left: self.agents[ask.agent]
                .last
                .as_ref()
                .map_or(0, |(_, usage)| usage.cache_read_input_tokens + usage.cache_creation_input_tokens()),
            known: prompt.known,
            head: self.agents[ask.agent].head_tokens,
        };
        Some(shortfall.cause())
    }

    /// Where more was read than the cache would give, somebody unseen wrote it; and where the look-back does not find it even
    /// so, the client had set a breakpoint there.
    fn reach(&mut self, ask: &Ask<'a>, prompt: &mut Prompt, left: Option<NodeId>) {
        let (lane, state) = (&self.world.lanes[ask.agent], &self.agents[ask.agent]);
        let ends = lane.ends();
        let marked = markers(&ends, prompt);
        let request = sent((&self.arena.prefixes, &self.tokens), &ends, ask, prompt, &marked);
        let found = self.world.peek(&request);
        let read = prompt.usage.cache_read_input_tokens;
        if read <= found.read_tokens + FRAME_TOKENS {
            return;
        }
        let reached = state.history.len_within(read + FRAME_TOKENS).checked_sub(1);
        let reached = reached.and_then(|at| lane.node(at)).unwrap_or(ends.system_end);
        self.world.warm(&request, reached);
        let depth = |node| request.prefixes.depth(node);
        let floor = found.hit.filter(|hit| left.is_some_and(|left| depth(*hit) >= depth(left)));
        self.supposed.warm(&request, reached, floor);
        if self.world.peek(&request).read_tokens + FRAME_TOKENS < read {
            prompt.marked = Some(reached);
        }
    }

    /// Something changed behind `read` tokens: from there on the path is another.
    fn break_path(&mut self, agent: usize, prompt: &Prompt, read: u64) {
        let state = &mut self.agents[agent];
        let mut from = state.history.len_within(read + FRAME_TOKENS);
        if read + FRAME_TOKENS < state.head_tokens / 2 {
            self.next_system += 1;
            self.systems[agent] = self.next_system;
            from = 0;
        } else if from == 0 {
            state.head_tokens = read;
        }
        let head = head(&mut self.arena, self.systems[agent], prompt);
        let (entries, lane) = (self.agents[agent].history.entries(), &mut self.world.lanes[agent]);
        lane.set_head(&mut self.arena, head, entries);
        lane.rewrite(&mut self.arena, from, entries);
        self.tell_sizes(agent, from);
    }

    /// Lets the request act on the cache.
    pub fn commit(&mut self, ask: &Ask<'a>, prompt: &Prompt, priced: Option<&Priced>) {
        let ends = self.world.lanes[ask.agent].ends();
        let markers = markers(&ends, prompt);
        let sent = sent((&self.arena.prefixes, &self.tokens), &ends, ask, prompt, &markers);
        self.world.serve(&sent);
        let line = priced.and_then(|_| self.result.entries.len().checked_sub(1));
        self.supposed.serve(
            &Sent {
                rates: priced.and_then(|priced| priced.rates.as_ref()),
                terms: priced.map_or_else(Terms::default, |priced| priced.terms),
                fees: priced.map_or(&[], |priced| &priced.fees),
                ..sent
            },
            line,
        );
        self.follow_writes(ask, prompt);
    }

    /// Follows what the request read and wrote, until somebody reads it.
    fn follow_writes(&mut self, ask: &Ask<'a>, prompt: &Prompt) {
        let (lane, state) = (&self.world.lanes[ask.agent], &self.agents[ask.agent]);
        let (read, written) = (prompt.usage.cache_read_input_tokens, prompt.usage.cache_creation_input_tokens());
        let prefixes = &self.arena.prefixes;
        if read > 0 {
            let reached = state.history.len_within(read + FRAME_TOKENS).checked_sub(1);
            self.premiums.read(prefixes, reached.and_then(|at| lane.node(at)).unwrap_or(lane.system_end()));
        }
        if written > 0 && !ask.answer.copied {
            let head = state.head_tokens.saturating_sub(read).min(written);
            let stretches = [head, written - head];
            let marked = markers(&lane.ends(), &Prompt { marked: None, ..*prompt })
                .into_iter()
                .map(|sent| sent.marker)
                .zip(stretches);
            // The line of this request is the last one.
            let line = self.result.entries.len().saturating_sub(1);
            self.premiums.wrote(prefixes, line, &marked.collect::<Vec<_>>());
        }
    }

    /// Takes from the usage what it says of sizes, for the requests to come.
    pub fn learn(&mut self, ask: &Ask<'a>, prompt: &Prompt) {
        let usage = prompt.usage;
        let read = usage.cache_read_input_tokens;
        let cached = read + usage.cache_creation_input_tokens();
        let state = &mut self.agents[ask.agent];
        let last = state.history.len().saturating_sub(1);
        if cached > 0 {
            state.history.correct_last(cached);
        }
        let landed = !prompt.first && read > 0 && read + FRAME_TOKENS < prompt.known;
        if landed && state.history.len_within(read + FRAME_TOKENS) == 0 {
            state.head_tokens = read;
        }
        state.last = Some((ask.answer.model.clone(), usage));
        self.tell_sizes(ask.agent, last);
        self.fold(ask.agent);
    }

    /// Where a conversation was laid out anew so often that its length would count each time, all that was sent becomes one
    /// block: positions within it are lost, which matters for what-ifs of such sessions alone.
    fn fold(&mut self, agent: usize) {
        let (state, lane) = (&mut self.agents[agent], &mut self.world.lanes[agent]);
        let most = if state.folded { REBUILT_AGAIN_MAX } else { REBUILT_MAX };
        if lane.rebuilt() <= most {
            return;
        }
        state.history.fold();
        state.sent_entries = state.history.len();
        state.folded = true;
        lane.forget();
    }
}

/// What stands in front of a conversation.
fn head(arena: &mut Arena, system: u64, prompt: &Prompt) -> Head {
    let root = arena.prefixes.root("session", prompt.resolved.id.row().id);
    Head { root, system: arena.system(system), state: arena.state(0) }
}

/// Where the read would have landed by a change of content that shows in the transcript but not in the usage, because the
/// lifetime was over too: a longer one must not be credited with what the change would have taken anyway.
fn changed_unseen(decision: &Decision, read: u64) -> Option<u64> {
    let content = decision.rule.cause().filter(|cause| !matches!(cause, Cause::Expired | Cause::BeyondLookback));
    content.filter(|_| read <= decision.read_tokens + FRAME_TOKENS).map(|_| decision.read_tokens)
}

/// Breakpoints as Claude Code sets them: behind the system prompt, and on the last block (`clients.md` 1, 2.1.197 to
/// 2.1.330; captures of 2026-07 and 2026-08). The one on the identity line lies below and is never the longest.
fn markers(ends: &Ends, prompt: &Prompt) -> Vec<SentMarker> {
    let at = |node, level, role| {
        let place = Place { level, item: 0, part: 0, keys: false };
        SentMarker { marker: Marker { node, ttl: prompt.ttl, place, automatic: false }, role }
    };
    let mut markers = vec![at(ends.system_end, Level::System, MarkerRole::System)];
    markers.extend(prompt.marked.map(|node| at(node, Level::Messages, MarkerRole::Other)));
    markers.push(at(ends.end, Level::Messages, MarkerRole::Tail));
    markers
}

/// A request as it reaches the cache.
fn sent<'s>(
    (prefixes, tokens): (&'s Prefixes, &'s Tokens),
    ends: &Ends,
    ask: &Ask<'s>,
    prompt: &Prompt,
    markers: &'s [SentMarker],
) -> Sent<'s> {
    Sent {
        prefixes,
        sizes: tokens,
        end: ends.end,
        system_end: ends.system_end,
        markers,
        total_tokens: prompt.usage.total_input_tokens(),
        minimum_tokens: minimum_tokens(Some(prompt.resolved.id)),
        ttl: prompt.ttl,
        agent: ask.agent,
        times: ask.times,
        model: &ask.answer.model,
        output_tokens: prompt.usage.output_tokens,
        hidden: ask.answer.copied,
        is_last: ask.is_last,
        rates: None,
        terms: Terms::default(),
        fees: &[],
    }
}
