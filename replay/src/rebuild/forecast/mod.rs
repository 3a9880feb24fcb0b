//! The forecast: what a request will read, if only its total and its lifetime are known.
//!
//! Everything else comes from the transcript and from earlier requests. Positions of the conversation represent the cache's
//! entries: each request left one at its last breakpoint, in the state in which it was sent. The rules are those of `observed.md`
//! 2 (recordings of Claude Code 2.0.64 to 2.1.219, 2026-01 to 2026-08), as data in [`profile`](super::profile).

mod decide;
mod landing;
mod observation;
mod risk;
mod signs;
mod track;

pub use decide::Decision;
pub use observation::{Class, Observation, Owner, Shared};
pub use risk::{INTERVAL_PER_MILLE, Risk};
pub use signs::{Attached, Signs, State};
pub use track::Track;

use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::cache::Rules;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Ttl, Usage};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::profile::{Profile, RuleName};

/// Facts about a request when it goes out.
#[derive(Clone, Debug)]
pub struct Outgoing<'a> {
    /// Which agent of the session sends it; the first one is the main agent.
    pub agent: usize,
    /// When.
    pub at: Instant,
    /// Its line.
    pub line: u32,
    /// The model as spelled.
    pub model: &'a Arc<str>,
    /// The client's version.
    pub version: Option<&'a Arc<str>>,
    /// Effort, where the client notes it.
    pub effort: Option<&'a Arc<str>>,
    /// The answer came whole and not as a stream.
    pub at_once: bool,
    /// It was served in fast mode.
    pub fast: bool,
    /// The habits of the client.
    pub profile: Profile,
    /// Lifetime at which it is billed.
    pub ttl: Ttl,
    /// Tokens of the whole prompt.
    pub total_tokens: u64,
    /// What the transcript shows since the request before.
    pub signs: Signs,
}

/// Facts about its answer.
#[derive(Clone, Debug)]
pub struct AnswerFacts {
    /// When it ended.
    pub ended_at: Instant,
    /// The billed usage.
    pub usage: Usage,
    /// Tokens of the answer, where they were counted to the end.
    pub output_tokens: Option<u64>,
    /// It calls no tool.
    pub turn_over: bool,
    /// Bytes of its thinking.
    pub thinking_bytes: u64,
    /// Line of a call that loads tools.
    pub loads_tools: bool,
    /// The request is counted elsewhere: it shows nothing to others twice.
    pub copied: bool,
    /// The agent compacts its caller's conversation.
    pub compacts: bool,
}

/// The forecast of one session.
#[derive(Debug)]
pub struct Forecast<'a> {
    shared: &'a Shared,
    rules: Rules,
    session: u32,
    /// The user, hashed.
    user: u64,
    tracks: Vec<Track>,
    /// Last use of each hidden prefix in this session, with its lifetime.
    used: BTreeMap<Owner, (Instant, Ttl)>,
    observations: Vec<(u32, Instant, Observation)>,
}

impl<'a> Forecast<'a> {
    /// Nothing was sent yet.
    pub fn new(shared: &'a Shared, rules: Rules, session: u32, user: Option<&str>, agents: usize) -> Self {
        let tracks = (0..agents).map(|_| Track::default()).collect();
        let user = Owner::hashed(user);
        Self { shared, rules, session, user, tracks, used: BTreeMap::new(), observations: Vec::new() }
    }

    /// What the request will read, and by which rule; `None` for the first of a chain, which is taken as given.
    pub fn predict(&mut self, request: &Outgoing<'_>) -> Option<Decision> {
        let state = self.tracks[request.agent].state(request);
        let owner = self.owner(request, &state);
        let used = self.used.get(&Owner { version: 0, ..owner });
        let slack = self.rules.slack;
        let mut alive = used.is_some_and(|(at, ttl)| request.at.since(*at) <= ttl.duration() + slack);
        // The compaction itself was a request on the same hidden prefix.
        let compacted_at =
            request.signs.compacted_at.filter(|_| used.is_some() && request.profile.has(RuleName::CompactionReadsHead));
        alive |= compacted_at.is_some_and(|at| request.at.since(at) <= request.ttl.duration());
        let others = self.shared.is_used_by_others(&owner, self.session, request.at, slack);
        let track = &mut self.tracks[request.agent];
        track.begin(owner, state, alive, others);
        decide::decide(track, request, self.shared, &self.rules)
    }

    /// Learns from the answer, once the prediction is made.
    pub fn learn(&mut self, request: &Outgoing<'_>, answered: &AnswerFacts, decision: Option<&Decision>) {
        let track = &mut self.tracks[request.agent];
        let mut seen = Vec::new();
        track.observe(request, answered, decision, &mut seen);
        if let Some(owner) = track.owner() {
            seen.push(Observation::Use(owner, request.ttl));
            self.used.insert(Owner { version: 0, ..owner }, (request.at, request.ttl));
        }
        track.remember(request, answered);
        // What a copy shows, the session in which it counts shows to the others.
        if answered.copied {
            return;
        }
        self.observations.extend(seen.into_iter().map(|observation| (self.session, request.at, observation)));
    }

    /// The use of a hidden prefix that the request is, which no other request changes. For requests of one agent in order.
    pub fn use_by(&mut self, request: &Outgoing<'_>) -> Observation {
        let state = self.tracks[request.agent].state(request);
        Observation::Use(self.owner(request, &state), request.ttl)
    }

    /// What the session showed, for others.
    pub fn into_observations(self) -> Vec<(u32, Instant, Observation)> {
        self.observations
    }

    fn owner(&self, request: &Outgoing<'_>, state: &State) -> Owner {
        // Thinking is in the hidden prefix of some models (a difference of 17 tokens on Opus 4.6), effort and speed in that of all.
        let thinking = state.without_thinking && request.profile.thinking_in_head;
        let effort = state.effort.as_deref().unwrap_or_default();
        Owner {
            user: self.user,
            version: Owner::hashed(request.version.map(|version| &**version)),
            model: Owner::hashed(Some(request.model)),
            main: request.agent == 0,
            state: xxh3_64_with_seed(effort.as_bytes(), u64::from(state.fast)) << 1 | u64::from(thinking),
        }
    }
}
