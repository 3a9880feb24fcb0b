//! One agent's requests so far, as positions that a later request may read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forkcast_sim::service::FRAME_TOKENS;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Ttl;

use super::decide::Decision;
use super::observation::{Class, Observation, Owner};
use super::risk::Turn;
use super::signs::{Signs, State};
use super::{AnswerFacts, Outgoing};
use crate::rebuild::profile::{RuleName, RuleSet};
use crate::transcript::Thinking;

/// A look-back visits fewer positions than these, because most are several blocks apart.
const NEWEST_MAX: usize = 64;

/// Rules after which nothing is known to be alive.
const COLD_STARTS: RuleSet = RuleSet::of_all(&[
    RuleName::Expired,
    RuleName::Thinking,
    RuleName::Effort,
    RuleName::Fast,
    RuleName::Restarted,
    RuleName::Unqueued,
    RuleName::Reconnected,
    RuleName::VersionChanged,
    RuleName::ModelChanged,
    RuleName::Compacted,
]);

/// Rules that change messages and not the hidden prefix.
const IN_MESSAGES: RuleSet = RuleSet::of_all(&[
    RuleName::Thinking,
    RuleName::AtOnce,
    RuleName::Compacted,
    RuleName::Cleared,
    RuleName::MicroCompacted,
    RuleName::Stripped,
    RuleName::BeyondReach,
]);

/// A prompt's position that was left in the cache.
#[derive(Clone, Debug)]
pub(super) struct Position {
    /// Tokens up to it.
    pub tokens: u64,
    /// Tokens up to the end of the answer after it, if a hidden request extended it.
    pub extended_tokens: Option<u64>,
    pub state: State,
    pub model: Arc<str>,
    /// How often the conversation had been written anew.
    pub epoch: u32,
    pub at: Instant,
    pub ttl: Ttl,
    /// What its request read.
    pub read_tokens: u64,
    /// Positions of a look-back between the one before and it.
    pub distance: u32,
    /// A prompt came in with its request.
    pub begins_turn: bool,
}

/// The request before, as far as the next one needs it.
#[derive(Clone, Debug)]
pub(super) struct Before {
    pub at: Instant,
    pub answered: AnswerFacts,
    pub ttl: Ttl,
    pub model: Arc<str>,
    pub version: Option<Arc<str>>,
    pub final_output: bool,
}

/// Text that a hook added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hooked {
    /// The line that shows it.
    pub line: u32,
    /// How many positions there were before it.
    pub positions: usize,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Track {
    pub(super) positions: Vec<Position>,
    /// Where all positions and their extensions end.
    ends: BTreeSet<u64>,
    pub(super) turn: Turn,
    /// Bytes of thinking since the newest prompt.
    pub(super) thinking_bytes: u64,
    pub(super) before: Option<Before>,
    pub(super) epoch: u32,
    pub(super) thinking_off: bool,
    pub(super) thinking_line: Option<u32>,
    pub(super) first_total: u64,
    /// The newest request that began with nothing known to be alive read something, or not.
    pub(super) begins_warm: Option<bool>,
    /// Where a hook added text in this turn.
    pub(super) hooked: Option<Hooked>,
    /// The session is a teammate's, and began then.
    pub(super) teammate_since: Option<Instant>,
    /// Tools were loaded once.
    pub(super) loaded_tools: bool,
    /// Where a fall to the hidden prefix would land, as looked up last.
    pub(super) head_tokens: Option<u64>,
    /// Hidden prefixes that this agent showed.
    pub(super) landed: BTreeMap<(Arc<str>, u64, Class), u64>,
    pub(super) owner: Option<Owner>,
    pub(super) state: State,
    pub(super) alive: bool,
    pub(super) others: bool,
}

impl Track {
    pub(super) fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// The state in which the request is sent.
    pub(super) fn state(&mut self, request: &Outgoing<'_>) -> State {
        if let Some((thinking, line)) = request.signs.thinking {
            self.thinking_off = thinking == Thinking::Off;
            self.thinking_line = Some(line);
        }
        let has = |rule| request.profile.has(rule);
        let without_thinking = self.thinking_off && has(RuleName::Thinking) && request.agent == 0;
        let effort = request.effort.filter(|_| has(RuleName::Effort)).cloned();
        let stays = self.state.fast && request.profile.stays_fast && request.signs.compacted.is_none();
        let fast = has(RuleName::Fast) && (request.fast || stays);
        State { without_thinking, effort, at_once: request.at_once && has(RuleName::AtOnce), fast }
    }

    pub(super) fn begin(&mut self, owner: Owner, state: State, alive: bool, others: bool) {
        (self.owner, self.state, self.alive, self.others) = (Some(owner), state, alive, others);
    }

    /// The newest position was extended to `tokens`.
    pub(super) fn extend_last(&mut self, tokens: u64) {
        if let Some(position) = self.positions.last_mut() {
            position.extended_tokens = Some(tokens);
            self.ends.insert(tokens);
        }
    }

    /// The newest positions, newest first, at most `most`.
    pub(super) fn newest(&self, most: usize) -> impl Iterator<Item = &Position> {
        self.positions.iter().rev().take(most)
    }

    /// The newest positions and how far back a look-back finds each.
    pub(super) fn newest_first<'t>(&'t self, signs: &Signs) -> impl Iterator<Item = (u32, &'t Position)> {
        let mut passed = signs.positions;
        self.newest(NEWEST_MAX).map(move |position| {
            let distance = passed;
            passed = passed.saturating_add(position.distance);
            (distance, position)
        })
    }

    /// When the position was used last: by its own request, or by a later one of the same conversation that read it.
    pub(super) fn last_use(&self, position: &Position) -> Instant {
        let same = |other: &&Position| {
            other.model == position.model && other.state == position.state && other.epoch == position.epoch
        };
        let newest_first = self.newest(NEWEST_MAX).take_while(|other| other.at >= position.at);
        let reader = newest_first.filter(same).find(|other| other.read_tokens + FRAME_TOKENS >= position.tokens);
        reader.map_or(position.at, |reader| reader.at.max(position.at))
    }

    /// What the answer shows to others and to the requests to come.
    pub(super) fn observe(
        &mut self,
        request: &Outgoing<'_>,
        answered: &AnswerFacts,
        decision: Option<&Decision>,
        seen: &mut Vec<Observation>,
    ) {
        let Some(owner) = self.owner else { return };
        if self.positions.is_empty() {
            self.first_total = request.total_tokens;
        }
        let read = answered.usage.cache_read_input_tokens;
        let expected = self.before.as_ref().map(|before| cached(&before.answered));
        let missed = expected.is_none_or(|expected| {
            let margin = FRAME_TOKENS.max(expected / 50);
            read + margin < expected.min(request.total_tokens)
        });
        let cold = !self.alive && !self.others;
        if cold && decision.is_none_or(|decision| COLD_STARTS.contains(decision.rule)) {
            self.begins_warm = Some(read > 0);
            let ttl = (!request.profile.shares_head).then_some(request.ttl);
            seen.push(Observation::Warm(owner, ttl, read > 0));
        }
        if missed && read > 0 && !answered.compacts && self.is_head(read) {
            let class = match decision {
                Some(decision) if self.alive && decision.in_head && IN_MESSAGES.contains(decision.rule) => Class::In,
                None if !cold => Class::First,
                _ => Class::Out,
            };
            let own = if class == Class::In { Class::In } else { Class::Out };
            self.landed.insert((request.model.clone(), owner.state, own), read);
            seen.push(Observation::Landing(owner, class, read));
        }
        if !missed && let Some(extended) = decision.and_then(|decision| decision.answer_end) {
            let expected = expected.unwrap_or(0);
            let grown = extended.saturating_sub(expected);
            if grown > FRAME_TOKENS {
                seen.push(Observation::FollowUp(owner, read.saturating_sub(expected) * 2 > grown));
            }
        }
    }

    /// A read of this many tokens ends in the hidden prefix, not at an earlier position of the conversation.
    fn is_head(&self, read: u64) -> bool {
        const NEAR_TOKENS: u64 = 150;
        let near = read.saturating_sub(NEAR_TOKENS)..=read + NEAR_TOKENS;
        read * 10 < self.first_total.max(1) * 9 && self.ends.range(near).next().is_none()
    }

    /// Adds the request's position.
    pub(super) fn remember(&mut self, request: &Outgoing<'_>, answered: &AnswerFacts) {
        if self.positions.is_empty() {
            self.first_total = request.total_tokens;
        }
        self.loaded_tools |= self.before.as_ref().is_some_and(|before| before.answered.loads_tools);
        let speaks = request.signs.prompt.is_some();
        let answered_before = self.before.as_ref().is_some_and(|before| before.answered.turn_over);
        if answered_before && speaks || self.before.is_some() && speaks && request.signs.interrupted.is_some() {
            self.turn = Turn { number: self.turn.number.saturating_add(1), requests: 0 };
            self.hooked = None;
        }
        if let Some(line) = request.signs.hook_context {
            self.hooked.get_or_insert(Hooked { line, positions: self.positions.len() });
        }
        if request.signs.teammate.is_some() {
            self.teammate_since.get_or_insert(request.at);
        }
        self.turn.requests = self.turn.requests.saturating_add(1);
        self.thinking_bytes = if speaks { 0 } else { self.thinking_bytes } + answered.thinking_bytes;
        self.positions.push(Position {
            tokens: cached(answered),
            extended_tokens: None,
            state: self.state.clone(),
            model: request.model.clone(),
            epoch: self.epoch,
            at: request.at,
            ttl: request.ttl,
            read_tokens: answered.usage.cache_read_input_tokens,
            distance: request.signs.positions,
            begins_turn: speaks,
        });
        self.ends.insert(cached(answered));
        self.before = Some(Before {
            at: request.at,
            answered: answered.clone(),
            ttl: request.ttl,
            model: request.model.clone(),
            version: request.version.cloned(),
            final_output: answered.output_tokens.is_some(),
        });
    }
}

/// What a request left in the cache, in tokens.
pub(super) fn cached(answered: &AnswerFacts) -> u64 {
    answered.usage.cached_input_tokens()
}
