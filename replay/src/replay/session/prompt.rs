//! The explanation of a request: the path that it must have sent, its sizes and breakpoints, and its effect on the cache.

use std::ops::RangeInclusive;

use forkcast_sim::cache::minimum_tokens;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::service::{FRAME_TOKENS, Movement, Quote, SizedRequest, UNPRICED};
use forkcast_sim::wire::model::Resolved;
use forkcast_sim::wire::{Marker, NodeId, Prefixes, Ttl, Usage};
use smallvec::SmallVec;

use super::run::SessionReplay;
use super::shortfall::{Attribution, Shortfall};
use crate::exchange::RecordedUsage;
use crate::rebuild::forecast::Decision;
use crate::rebuild::lane::{Arena, Ends, Head};
use crate::rebuild::{Dispatch, DispatchMarker, MarkerRole, Tokens};
use crate::replay::run::day_of;
use crate::source::transcript::Ask;
use crate::transcript::AgentKind;

/// The tokens after the last breakpoint are a small frame; more than this is other content, which the next request need not have
/// (`input_tokens` of recorded requests: 1 to 13, by model).
const TAIL_TOKENS_MAX: u64 = 20;

/// Rebuilt entries before a conversation is folded: more than any recorded session needs (the largest public one needs some ten
/// thousand), and few enough for memory.
const REBUILT_MAX: usize = 100_000;

/// The same once it was.
const REBUILT_AGAIN_MAX: usize = 10_000;

/// Days since 1970 on which the provider made writes readable some seconds after the answer's end: 2026-03-15 to 2026-05-31;
/// before and after, 0.1 % of the requests within a turn show it (`observed.md` 6).
const LATE_DAYS: RangeInclusive<i64> = 20_527..=20_604;

/// Facts about a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionPrompt {
    /// What its first pass used.
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
    /// The client sent it for itself, as a rule to compact.
    pub compacts: bool,
    /// Another breakpoint, which the read shows.
    pub marked: Option<NodeId>,
    /// What a request that is in no transcript must have used, since the request before: it read what that one had left and
    /// wrote what this one read beyond it. An estimate, without its output.
    pub hidden: Option<Usage>,
}

impl<'a> SessionReplay<'a> {
    pub fn prompt(
        &self,
        ask: &Ask<'a>,
        usage: Usage,
        resolved: Resolved,
        ttl: Ttl,
        decision: Option<Decision>,
    ) -> SessionPrompt {
        let last = self.agents[ask.agent].last.as_ref();
        let tail = match last {
            Some((_, before)) if before.input_tokens <= TAIL_TOKENS_MAX => before.input_tokens,
            Some(_) => 0,
            None => usage.input_tokens,
        };
        let cached = usage.total_input_tokens().saturating_sub(tail);
        SessionPrompt {
            usage,
            ttl,
            resolved,
            decision,
            first: last.is_none(),
            cached,
            known: 0,
            left: None,
            compacts: self.session.agents[ask.agent].kind == AgentKind::Internal,
            marked: None,
            hidden: None,
        }
    }

    /// Brings the path up to the current prompt, and gives every prefix its tokens.
    pub fn lay_out(&mut self, ask: &Ask<'a>, prompt: &mut SessionPrompt) {
        let head = head(&mut self.arena, self.systems[ask.agent], prompt);
        let (state, lane) = (&mut self.agents[ask.agent].conversation, &mut self.lanes[ask.agent]);
        let kept = state.history.take_kept();
        lane.truncate(kept);
        let moved = lane.set_head(&mut self.arena, head, state.history.entries());
        lane.follow(&mut self.arena, state.history.entries());
        let kept = if moved { 0 } else { kept };
        prompt.left = state.sent_entries.checked_sub(1);
        let known = prompt.left.and_then(|left| state.history.end(left));
        prompt.known = known.or(state.head_tokens).unwrap_or(0).min(prompt.cached);
        let from = state.size_to(prompt.cached, prompt.usage.cache_read_input_tokens).min(kept);
        state.sent_entries = state.history.len();
        self.lanes[ask.agent].count_again(kept.saturating_sub(from));
        self.tell_sizes(ask.agent, from);
    }

    /// Sets the sizes of the prefixes that end with the entries from `from` on, and of the hidden prefix.
    fn tell_sizes(&mut self, agent: usize, from: usize) {
        let (state, lane) = (&self.agents[agent].conversation, &self.lanes[agent]);
        self.tokens.set(lane.system_end(), state.head());
        for at in from..lane.len() {
            if let (Some(node), Some(end)) = (lane.node(at), state.history.end(at)) {
                self.tokens.set(node, end);
            }
        }
    }

    /// Adapts the path to the recorded read; returns the cause of a shortfall.
    pub fn explain(&mut self, ask: &Ask<'a>, prompt: &mut SessionPrompt) -> Option<Attribution> {
        let lane = &self.lanes[ask.agent];
        let ends = lane.ends();
        let marked = markers(&ends, prompt);
        let request = sent(&self.arena.prefixes, &self.tokens, &ends, ask, prompt, &marked);
        let read = prompt.usage.cache_read_input_tokens;
        let left = prompt.left.and_then(|at| lane.node(at));
        self.engine.deliver_until(request.prefixes, ask.times.at);
        let plain = request.peek(self.engine.cache()).read_tokens;
        let entry = left.map(|node| self.engine.cache().state(request.prefixes, node, ask.times.at));
        if read + FRAME_TOKENS < plain {
            self.break_path(ask.agent, prompt, read);
        } else if let Some(landing) = prompt.decision.and_then(|decision| changed_unseen(&decision, read)) {
            self.break_path(ask.agent, prompt, landing.max(self.agents[ask.agent].conversation.head()));
        }
        self.reach(ask, prompt, left);
        if read >= prompt.known {
            return None;
        }
        let last = self.agents[ask.agent].last.as_ref();
        let shortfall = Shortfall {
            line: ask.line,
            decision: prompt.decision,
            diagnosis: ask.answer.diagnosis,
            model_changed: last.is_some_and(|(model, _)| *model != ask.answer.model),
            entry,
            read,
            unready: self.agents[ask.agent].lacks_last_write(read) && LATE_DAYS.contains(&day_of(ask.times.at)),
            left: last.map_or(0, |(_, usage)| usage.cached_input_tokens()),
            known: prompt.known,
            head: self.agents[ask.agent].conversation.head(),
            total: prompt.usage.total_input_tokens(),
            unstripped: last.map_or(0, |(_, usage)| usage.total_input_tokens() + usage.output_tokens),
        };
        Some(shortfall.cause())
    }

    /// If more was read than the cache would give, an unseen request wrote it; if the look-back does not find it even then, the
    /// client had set a breakpoint there.
    fn reach(&mut self, ask: &Ask<'a>, prompt: &mut SessionPrompt, left: Option<NodeId>) {
        let ends = self.lanes[ask.agent].ends();
        let marked = markers(&ends, prompt);
        let request = sent(&self.arena.prefixes, &self.tokens, &ends, ask, prompt, &marked);
        let found = request.peek(self.engine.cache());
        let read = prompt.usage.cache_read_input_tokens;
        if read <= found.read_tokens + FRAME_TOKENS {
            return;
        }
        let written = read.saturating_sub(prompt.known);
        if prompt.known > 0 && written > FRAME_TOKENS {
            let (five_minutes, one_hour) = match prompt.ttl {
                Ttl::FiveMinutes => (written, 0),
                Ttl::OneHour => (0, written),
            };
            prompt.hidden = Some(Usage {
                cache_read_input_tokens: prompt.known,
                ephemeral_5m_input_tokens: five_minutes,
                ephemeral_1h_input_tokens: one_hour,
                ..Usage::default()
            });
        }
        let reached = self.reached(ask.agent, prompt);
        request.warm(&mut self.engine, reached);
        let depth = |node| request.prefixes.depth(node);
        let floor = found.hit.filter(|hit| left.is_some_and(|left| depth(*hit) >= depth(left)));
        self.hypotheticals.warm(&request, reached, floor);
        if request.peek(self.engine.cache()).read_tokens + FRAME_TOKENS < read {
            prompt.marked = Some(reached);
        }
    }

    /// Something changed after `read` tokens: from there on the path is different.
    fn break_path(&mut self, agent: usize, prompt: &SessionPrompt, read: u64) {
        let state = &mut self.agents[agent].conversation;
        let mut from = state.history.len_within(read + FRAME_TOKENS);
        if read + FRAME_TOKENS < state.head() / 2 {
            self.next_system += 1;
            self.systems[agent] = self.next_system;
            from = 0;
        } else if from == 0 {
            state.head_tokens = Some(read);
        }
        let head = head(&mut self.arena, self.systems[agent], prompt);
        let (entries, lane) = (self.agents[agent].conversation.history.entries(), &mut self.lanes[agent]);
        lane.set_head(&mut self.arena, head, entries);
        lane.rewrite(&mut self.arena, from, entries);
        self.tell_sizes(agent, from);
    }

    /// Lets the request act on the cache. A copy was billed elsewhere.
    pub fn commit(
        &mut self,
        ask: &Ask<'a>,
        prompt: &SessionPrompt,
        shown: Option<Attribution>,
        recorded: &RecordedUsage,
    ) {
        let is_billed = !ask.answer.copied;
        let line = is_billed.then(|| self.engine.next_line());
        let quote = if is_billed { self.quote(ask, &recorded.usage) } else { Quote::default() };
        let ends = self.lanes[ask.agent].ends();
        let marked = markers(&ends, prompt);
        let written = self.written(ask.agent, prompt);
        let sent = Dispatch { quote: &quote, ..sent(&self.arena.prefixes, &self.tokens, &ends, ask, prompt, &marked) };
        let breakpoints = sent.breakpoints();
        let asked = SizedRequest {
            recorded: Some(prompt.usage),
            movement: Some(Movement { read: Some(self.reached(ask.agent, prompt)), written: &written }),
            ..SizedRequest::new(sent.prompt(&breakpoints), ask.times.at)
        };
        if let Some(ticket) = self.engine.serve(&asked, line).ticket {
            self.engine.expect(ticket, &ask.times);
        }
        // What several passes would have cost elsewhere is unknown: they count as billed.
        self.hypotheticals.serve(&sent, line.filter(|_| recorded.passes.is_none()));
        if is_billed {
            let entry = self.served(ask, prompt, shown, &quote);
            self.engine.bill(entry, &recorded.usage, &quote);
        }
    }

    /// The prefix that was read.
    fn reached(&self, agent: usize, prompt: &SessionPrompt) -> NodeId {
        let (lane, state) = (&self.lanes[agent], &self.agents[agent].conversation);
        let reached = state.history.len_within(prompt.usage.cache_read_input_tokens + FRAME_TOKENS).checked_sub(1);
        reached.and_then(|at| lane.node(at)).unwrap_or(lane.system_end())
    }

    /// Tokens written up to each breakpoint that the client sets itself.
    fn written(&self, agent: usize, prompt: &SessionPrompt) -> Vec<(Marker, u64)> {
        let (read, written) = (prompt.usage.cache_read_input_tokens, prompt.usage.cache_creation_input_tokens());
        let head = self.agents[agent].conversation.head().saturating_sub(read).min(written);
        let marked = markers(&self.lanes[agent].ends(), &SessionPrompt { marked: None, ..*prompt });
        marked.into_iter().map(|sent| sent.marker).zip([head, written - head]).collect()
    }

    /// Takes from the usage what it says of sizes, for the requests to come.
    pub fn learn(&mut self, ask: &Ask<'a>, prompt: &SessionPrompt, left: Usage) {
        let usage = prompt.usage;
        let read = usage.cache_read_input_tokens;
        let cached = read + usage.cache_creation_input_tokens();
        let state = &mut self.agents[ask.agent].conversation;
        let last = state.history.len().saturating_sub(1);
        if cached > 0 {
            state.history.correct_last(cached);
        }
        let landed = !prompt.first && read > 0 && read + FRAME_TOKENS < prompt.known;
        if landed && state.history.len_within(read + FRAME_TOKENS) == 0 {
            state.head_tokens = Some(read);
        }
        let progress = &mut self.agents[ask.agent];
        progress.left_earlier = progress.last.as_ref().map(|(_, before)| before.cached_input_tokens());
        progress.last = Some((ask.answer.model.clone(), left));
        self.tell_sizes(ask.agent, last);
        self.fold(ask.agent);
    }

    /// Makes one block of everything sent, if a conversation was rebuilt so often that its length would matter. Positions within
    /// that block are lost, which only affects what-ifs of such sessions.
    fn fold(&mut self, agent: usize) {
        let (state, lane) = (&mut self.agents[agent], &mut self.lanes[agent]);
        let most = if state.folded { REBUILT_AGAIN_MAX } else { REBUILT_MAX };
        if lane.rebuilt() <= most {
            return;
        }
        state.conversation.history.fold();
        state.conversation.sent_entries = state.conversation.history.len();
        state.folded = true;
        lane.forget();
    }
}

/// The prefix of a conversation.
fn head(arena: &mut Arena, system: u64, prompt: &SessionPrompt) -> Head {
    let root = arena.prefixes.root("session", prompt.resolved.id.row().id);
    Head { root, system: arena.system(system), state: arena.state(0) }
}

/// The read after a change of content that is visible in the transcript but not in the usage, because the lifetime was over too:
/// a longer lifetime must not be credited with tokens that the change would have missed anyway.
fn changed_unseen(decision: &Decision, read: u64) -> Option<u64> {
    let content = decision.rule.cause().filter(|cause| !matches!(cause, Cause::Expired | Cause::BeyondLookback));
    content.filter(|_| read <= decision.read_tokens + FRAME_TOKENS).map(|_| decision.read_tokens)
}

/// Breakpoints as Claude Code sets them: after the system prompt, and on the last block (`clients.md` 1, 2.1.197 to 2.1.330;
/// captures of 2026-07 and 2026-08). The one on the identity line is earlier and never the longest.
fn markers(ends: &Ends, prompt: &SessionPrompt) -> SmallVec<[DispatchMarker; 3]> {
    let at = |node, role| DispatchMarker::new(node, prompt.ttl, role);
    let other = prompt.marked.map(|node| at(node, MarkerRole::Other));
    let own = [Some(at(ends.system_end, MarkerRole::System)), other, Some(at(ends.end, MarkerRole::Tail))];
    own.into_iter().flatten().collect()
}

/// A request as it reaches the cache.
fn sent<'s>(
    prefixes: &'s Prefixes,
    sizes: &'s Tokens,
    ends: &Ends,
    ask: &Ask<'s>,
    prompt: &SessionPrompt,
    markers: &'s [DispatchMarker],
) -> Dispatch<'s> {
    Dispatch {
        prefixes,
        sizes,
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
        compacts: prompt.compacts,
        is_last: ask.is_last,
        quote: &UNPRICED,
    }
}
