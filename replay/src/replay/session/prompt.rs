//! What is sent: the prompt of one request in both readings, its sizes and breakpoints, and what the caches make of it.

use forkcast_sim::cache::{EntryState, Outcome, minimum_tokens};
use forkcast_sim::pricing::Terms;
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::model::Resolved;
use forkcast_sim::wire::{Level, Marker, Place, Prefixes, Ttl, Usage};
use xxhash_rust::xxh3::xxh3_64;

use super::ask::Ask;
use super::explained::{Shortfall, Shown};
use super::run::Run;
use crate::rebuild::habits::{Change, How, Situation, changes};
use crate::rebuild::lane::Ends;
use crate::rebuild::lane::Head;
use crate::rebuild::{MarkerRole, Sent, SentMarker, Tokens};
use crate::transcript::AgentKind;

/// Reads that are off by no more are a frame's difference, as in [`crate::agreement::Verdict`].
const FRAME_TOKENS: u64 = 64;

/// Tokens behind the last breakpoint are a few of frame; more than this is something else and says nothing of the next
/// request (`input_tokens` of recorded requests: 1 to 13, by model).
const TAIL_TOKENS_MAX: u64 = 20;

/// Bytes of JSON for a token where only lengths are known, as for sizes by length alone.
const BYTES_PER_TOKEN: u64 = 3;

/// Slack behind a lifetime within which others keep a hidden prefix alive (observed 2026-01 to 2026-08).
const SLACK: Duration = Duration::from_secs(15);

/// What is known of a request before it is served.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    pub usage: Usage,
    pub ttl: Ttl,
    /// The first of its chain: taken as given.
    pub first: bool,
    pub resolved: Resolved,
    pub situation: Situation,
    pub changes: Vec<Change>,
    /// The model is another than that of the request before.
    pub model_changed: bool,
    /// Tokens up to the last breakpoint.
    pub cached: u64,
    /// Tokens that had been sent before.
    pub known: u64,
    /// The last entry that the request before had sent.
    pub left: Option<usize>,
    /// How many leading entries are what they were.
    pub kept: usize,
}

/// The numbers of an agent's hidden prefix in both readings: agents of one kind share theirs.
pub(super) fn hidden_prefix(kind: &AgentKind) -> (u64, u64) {
    let word = match kind {
        AgentKind::Main | AgentKind::Fork => "main",
        AgentKind::Internal => "internal",
        AgentKind::Named { name, .. } => name.as_deref().unwrap_or("agent"),
    };
    let id = xxh3_64(word.as_bytes());
    (id, id)
}

impl<'a> Run<'a> {
    pub fn prompt(&mut self, ask: &Ask<'a>, usage: Usage, resolved: Resolved, mut situation: Situation) -> Prompt {
        let profile = self.profile(ask.answer, &resolved);
        let state = &mut self.agents[ask.agent];
        let ttl = billed_ttl(&usage).or(state.ttl).unwrap_or(Ttl::FiveMinutes);
        state.ttl = Some(ttl);
        let (first, model_changed) = match &state.last {
            None => (true, false),
            Some(last) => (false, last.model != ask.answer.model),
        };
        let total = usage.total_input_tokens();
        let tail = match &state.last {
            Some(last) if last.usage.input_tokens <= TAIL_TOKENS_MAX => last.usage.input_tokens,
            Some(_) => 0,
            None => usage.input_tokens,
        };
        let cached = total.saturating_sub(tail);
        situation.shrunk_tokens = state.history.sized_tokens(state.head_tokens).saturating_sub(cached);
        let changes = if first { Vec::new() } else { changes(&profile, &situation) };
        Prompt { usage, ttl, first, resolved, situation, changes, model_changed, cached, known: 0, left: None, kept: 0 }
    }

    /// Brings both paths up to what is sent now; the forecast with what the client is believed to have changed.
    pub fn change(&mut self, ask: &Ask<'a>, prompt: &mut Prompt) {
        if prompt.changes.iter().any(|change| change.how == How::StripThinking) {
            let state = &mut self.agents[ask.agent];
            let gone = state.history.strip_thinking(state.sent_entries);
            state.sent_entries -= gone;
        }
        if prompt.changes.iter().any(|change| change.how == How::System) {
            self.next_system += 1;
            self.systems[ask.agent].0 = self.next_system;
        }
        prompt.kept = self.agents[ask.agent].history.take_kept();
        let model = prompt.resolved.id.to_string();
        let root = self.arena.prefixes.root("session", &model);
        let (state, systems) = (&self.agents[ask.agent], self.systems[ask.agent]);
        let entries = state.history.entries();
        let readings = [(&mut self.forecast, systems.0, state.state_id()), (&mut self.explained, systems.1, 0)];
        for (world, system, level) in readings {
            let head = Head { root, system: self.arena.system(system), state: self.arena.state(level) };
            let lane = &mut world.lanes[ask.agent];
            lane.truncate(prompt.kept);
            lane.set_head(&mut self.arena, head, entries);
            lane.follow(&mut self.arena, entries);
        }
        if prompt.changes.iter().any(|change| change.how == How::Messages) {
            self.forecast.lanes[ask.agent].rewrite(&mut self.arena, 0, entries);
        }
    }

    /// Gives every prefix its tokens.
    pub fn size(&mut self, ask: &Ask<'a>, prompt: &mut Prompt) {
        if prompt.first {
            let head = self.first_head(ask, prompt);
            self.agents[ask.agent].head_tokens = head;
        }
        let state = &mut self.agents[ask.agent];
        prompt.left = state.sent_entries.checked_sub(1);
        let known = prompt.left.and_then(|left| state.history.end(left));
        prompt.known = known.unwrap_or(if prompt.first { 0 } else { state.head_tokens }).min(prompt.cached);
        let head = state.head_tokens.min(prompt.cached);
        let from = state.history.size_to(head, prompt.cached).min(prompt.kept);
        state.sent_entries = state.history.len();
        self.tell_sizes(ask.agent, from);
    }

    /// The hidden prefix of a chain's first request: what it read, else what others of the user showed, else what the
    /// conversation leaves by its length.
    fn first_head(&self, ask: &Ask<'a>, prompt: &Prompt) -> u64 {
        let read = prompt.usage.cache_read_input_tokens;
        if read > 0 {
            return read;
        }
        let (user, version) = (self.session.user.as_ref(), ask.answer.version.as_ref());
        let shown = self.shared.landing(user, version, &ask.answer.model, ask.at).filter(|_| ask.agent == 0);
        let weight = self.agents[ask.agent].history.unsized_weight() / BYTES_PER_TOKEN;
        shown.filter(|tokens| *tokens < prompt.cached).unwrap_or_else(|| prompt.cached.saturating_sub(weight))
    }

    /// Tells both caches the sizes of the prefixes that end with the entries from `from` on, and of the hidden prefix.
    fn tell_sizes(&mut self, agent: usize, from: usize) {
        let state = &self.agents[agent];
        for world in [&self.forecast, &self.explained] {
            let lane = &world.lanes[agent];
            self.tokens.set(lane.system_end(), state.head_tokens);
            for at in from..lane.len() {
                if let (Some(node), Some(end)) = (lane.node(at), state.history.end(at)) {
                    self.tokens.set(node, end);
                }
            }
        }
    }

    /// What the forecast's cache gives.
    pub fn predict(&mut self, ask: &Ask<'a>, prompt: &Prompt) -> Outcome {
        let shared = self.is_shared(ask, prompt);
        let lane = self.forecast.lanes[ask.agent].ends();
        let markers = markers(&lane, prompt.ttl);
        let sent = sent((&self.arena.prefixes, &self.tokens), &lane, ask, prompt, &markers);
        self.forecast.deliver_until(sent.prefixes, ask.at);
        let predicted = self.forecast.peek(&sent);
        if predicted.read_tokens > 0 || !shared {
            return predicted;
        }
        self.forecast.warm(&sent, lane.system_end);
        self.forecast.peek(&sent)
    }

    /// Somebody else keeps the hidden prefix alive: another session of the user, or everybody where its first block is
    /// marked as shared.
    fn is_shared(&self, ask: &Ask<'a>, prompt: &Prompt) -> bool {
        let profile = self.profile(ask.answer, &prompt.resolved);
        let span = prompt.ttl.duration() + SLACK;
        let number = u32::try_from(self.place.index).unwrap_or(u32::MAX);
        profile.global_head || self.shared.active(self.session.user.as_ref(), &ask.answer.model, number, ask.at, span)
    }

    /// Makes the explanation's path agree with what was read, and gives the cause where that fell short.
    pub fn explain(&mut self, ask: &Ask<'a>, prompt: &Prompt) -> Option<Shown> {
        let lane = &self.explained.lanes[ask.agent];
        let (ends, state) = (lane.ends(), &self.agents[ask.agent]);
        let marked = markers(&ends, prompt.ttl);
        let request = sent((&self.arena.prefixes, &self.tokens), &ends, ask, prompt, &marked);
        let read = prompt.usage.cache_read_input_tokens;
        let reached = state.history.len_within(read + FRAME_TOKENS).checked_sub(1);
        let reached = reached.and_then(|at| lane.node(at)).unwrap_or(lane.system_end());
        let left = prompt.left.and_then(|at| lane.node(at));
        self.explained.deliver_until(request.prefixes, ask.at);
        let plain = self.explained.peek(&request).read_tokens;
        let entry = left.map(|node| self.explained.state(request.prefixes, node, ask.at));
        if read > plain + FRAME_TOKENS {
            self.explained.warm(&request, reached);
        } else if read + FRAME_TOKENS < plain {
            self.break_path(ask.agent, read);
        }
        if read >= prompt.known {
            return None;
        }
        let out_of_reach = entry == Some(EntryState::Live) && plain + FRAME_TOKENS < prompt.known;
        let shortfall = Shortfall {
            situation: &prompt.situation,
            changes: &prompt.changes,
            diagnosis: ask.answer.diagnosis,
            model_changed: prompt.model_changed,
            entry,
            out_of_reach,
        };
        Some(shortfall.cause())
    }

    /// Something changed behind `read` tokens: from there on the explanation's path is another.
    fn break_path(&mut self, agent: usize, read: u64) {
        let state = &self.agents[agent];
        let entries = state.history.entries();
        let from = if read + FRAME_TOKENS < state.head_tokens / 2 {
            self.next_system += 1;
            self.systems[agent].1 = self.next_system;
            0
        } else {
            state.history.len_within(read + FRAME_TOKENS)
        };
        self.explained.lanes[agent].rewrite(&mut self.arena, from, entries);
        self.tell_sizes(agent, from);
    }

    /// Lets the request act on both caches.
    pub fn commit(&mut self, ask: &Ask<'a>, prompt: &Prompt) {
        for world in [&mut self.forecast, &mut self.explained] {
            let lane = world.lanes[ask.agent].ends();
            let markers = markers(&lane, prompt.ttl);
            let sent = sent((&self.arena.prefixes, &self.tokens), &lane, ask, prompt, &markers);
            world.serve(&sent);
        }
        self.follow_writes(ask, prompt);
    }

    /// Follows what the request read and wrote, until somebody reads it.
    fn follow_writes(&mut self, ask: &Ask<'a>, prompt: &Prompt) {
        let (lane, state) = (&self.explained.lanes[ask.agent], &self.agents[ask.agent]);
        let (read, written) = (prompt.usage.cache_read_input_tokens, prompt.usage.cache_creation_input_tokens());
        let prefixes = &self.arena.prefixes;
        if read > 0 {
            let reached = state.history.len_within(read + FRAME_TOKENS).checked_sub(1);
            self.unread.read(prefixes, reached.and_then(|at| lane.node(at)).unwrap_or(lane.system_end()));
        }
        if written > 0 && !ask.answer.copied {
            let head = state.head_tokens.saturating_sub(read).min(written);
            let stretches = [head, written - head];
            let marked = markers(&lane.ends(), prompt.ttl).into_iter().map(|sent| sent.marker).zip(stretches);
            // The line of this request is the last one.
            let line = self.ledger.lines.len().saturating_sub(1);
            self.unread.wrote(prefixes, line, &marked.collect::<Vec<_>>());
        }
    }

    /// Takes from the usage what it says of sizes, for the requests to come.
    pub fn learn(&mut self, ask: &Ask<'a>, prompt: &Prompt) {
        let usage = prompt.usage;
        let (read, cached) =
            (usage.cache_read_input_tokens, usage.cache_read_input_tokens + usage.cache_creation_input_tokens());
        let state = &mut self.agents[ask.agent];
        let last = state.history.len().saturating_sub(1);
        if cached > 0 {
            state.history.correct_last(cached);
        }
        let landed = !prompt.first && read > 0 && read + FRAME_TOKENS < prompt.known;
        if landed && state.history.len_within(read + FRAME_TOKENS) == 0 {
            state.head_tokens = read;
        }
        self.tell_sizes(ask.agent, last);
    }

    /// A hidden request of the client behind an answer: it extends what can be read by the answer.
    pub fn follow_up(&mut self, at: Instant, ask: &Ask<'a>, prompt: &Prompt) {
        let agent = ask.agent;
        let state = &mut self.agents[agent];
        let Some(last) = state.last.clone() else { return };
        let head = state.head_tokens;
        let left = last.usage.cache_read_input_tokens + last.usage.cache_creation_input_tokens();
        let (len, whole) = (state.history.len(), left + last.output_tokens);
        let from = state.history.size_first(len, head, whole);
        let entries = state.history.entries();
        self.forecast.lanes[agent].follow(&mut self.arena, entries);
        self.tell_sizes(agent, from);
        let lane = self.forecast.lanes[agent].ends();
        let markers = markers(&lane, prompt.ttl);
        let sent = Sent {
            at,
            first_byte_at: at,
            ended_at: at,
            total_tokens: whole,
            hidden: true,
            ..sent((&self.arena.prefixes, &self.tokens), &lane, ask, prompt, &markers)
        };
        self.forecast.serve(&sent);
    }
}

/// The lifetime at which a request was billed; `None` where it wrote nothing.
fn billed_ttl(usage: &Usage) -> Option<Ttl> {
    match (usage.ephemeral_1h_input_tokens, usage.ephemeral_5m_input_tokens) {
        (0, 0) => None,
        (0, _) => Some(Ttl::FiveMinutes),
        _ => Some(Ttl::OneHour),
    }
}

/// Breakpoints as Claude Code sets them: behind the system prompt, and on the last block (`clients.md` 1, 2.1.197 to
/// 2.1.330; captures of 2026-07 and 2026-08). The one on the identity line lies below and is never the longest.
fn markers(lane: &Ends, ttl: Ttl) -> Vec<SentMarker> {
    let at = |node, level, role| {
        let place = Place { level, item: 0, part: 0, keys: false };
        SentMarker { marker: Marker { node, ttl, place, automatic: false }, role }
    };
    vec![at(lane.system_end, Level::System, MarkerRole::System), at(lane.end, Level::Messages, MarkerRole::Tail)]
}

/// A request in one reading, as it reaches the cache.
fn sent<'s>(
    (prefixes, tokens): (&'s Prefixes, &'s Tokens),
    lane: &Ends,
    ask: &Ask<'s>,
    prompt: &Prompt,
    markers: &'s [SentMarker],
) -> Sent<'s> {
    Sent {
        prefixes,
        sizes: tokens,
        end: lane.end,
        system_end: lane.system_end,
        markers,
        total_tokens: prompt.usage.total_input_tokens(),
        minimum_tokens: minimum_tokens(Some(prompt.resolved.id)),
        ttl: prompt.ttl,
        agent: ask.agent,
        at: ask.at,
        first_byte_at: ask.first_byte_at,
        ended_at: ask.ended_at,
        model: &ask.answer.model,
        output_tokens: prompt.usage.output_tokens,
        hidden: ask.answer.copied,
        rates: None,
        terms: Terms::default(),
        fees: &[],
    }
}
