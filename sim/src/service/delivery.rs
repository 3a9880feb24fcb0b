//! A cache, and the answers that have not been reported to it yet.
//!
//! A caller that serves requests in order of time knows when their answers begin before the cache may know: a write can
//! be read from the answer's first byte on, and requests that come earlier must not see it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cache::{Outcome, Prompt, PromptCache, Rules, Ticket};
use crate::time::{Duration, Instant};
use crate::wire::{Moved, Prefixes};

/// Assumed time from request to first byte if that is not recorded, limited by the end of the answer: about what large
/// prompts take (captured Claude Code requests of 2026-08 end after 0.8 to 60 s).
pub const FIRST_BYTE_AFTER: Duration = Duration::from_secs(2);

/// Distance of requests without instants.
pub const STEP: Duration = Duration::from_secs(1);

/// The remark on a request that was given up before the first byte of its answer.
pub const GIVEN_UP: &str = "cancelled before its first byte: nothing was billed";

/// How the remark of a request begins that the provider would refuse; its words follow.
pub const REFUSED: &str = "HTTP 400: ";

/// When a request was sent, and when its answer came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// When it was sent.
    pub at: Instant,
    /// When its answer began.
    pub first_byte_at: Instant,
    /// When its answer ended.
    pub ended_at: Instant,
}

impl Times {
    /// A request sent at `at`, with the recorded instants of its answer.
    pub fn of(at: Instant, first_byte_at: Option<Instant>, ended_at: Option<Instant>) -> Self {
        let guess = at + FIRST_BYTE_AFTER;
        let ended_at = ended_at.unwrap_or(guess).max(at);
        Self { at, first_byte_at: first_byte_at.unwrap_or(guess).clamp(at, ended_at), ended_at }
    }

    /// A request that is answered the instant it is sent.
    pub const fn at_once(at: Instant) -> Self {
        Self { at, first_byte_at: at, ended_at: at }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Delivery {
    cache: Box<dyn PromptCache>,
    /// The answers that have not been reported, the one that begins first on top.
    answers: BinaryHeap<Reverse<Answer>>,
}

/// When the answer to a request begins and ends, in the order of beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    began_at: Instant,
    ticket: Ticket,
    /// `None` for a request that is given up when its answer would begin.
    ended_at: Option<Instant>,
}

impl Delivery {
    /// An empty cache under `rules`. `seed` matters only if they lose writes by chance.
    pub fn new(rules: &Rules, seed: u64) -> Self {
        Self { cache: rules.open(seed), answers: BinaryHeap::new() }
    }

    /// The cache, with the answers reported so far.
    pub fn cache(&self) -> &dyn PromptCache {
        &*self.cache
    }

    /// Reports every answer that began by `at` to the cache. The end of an answer changes nothing under the existing
    /// rules, and is reported together with its beginning.
    pub fn deliver_until(&mut self, prefixes: &Prefixes, at: Instant) {
        while self.answers.peek().is_some_and(|Reverse(answer)| answer.began_at <= at) {
            let Some(Reverse(Answer { began_at, ticket, ended_at })) = self.answers.pop() else { return };
            let Some(ended_at) = ended_at else {
                self.cache.given_up(prefixes, ticket);
                continue;
            };
            self.cache.first_byte(prefixes, ticket, began_at);
            self.cache.ended(prefixes, ticket, ended_at);
        }
    }

    /// The cache, for callers that report answers themselves.
    pub(super) fn cache_mut(&mut self) -> &mut dyn PromptCache {
        &mut *self.cache
    }

    /// Lets a request act on the cache; its answer is reported later.
    pub fn look_up(&mut self, prompt: &Prompt<'_>, at: Instant) -> (Ticket, Outcome) {
        self.deliver_until(prompt.prefixes, at);
        self.cache.look_up(prompt, at)
    }

    /// When the answer to a request begins and ends.
    pub fn expect(&mut self, ticket: Ticket, times: &Times) {
        self.answers.push(Reverse(Answer { began_at: times.first_byte_at, ticket, ended_at: Some(times.ended_at) }));
    }

    /// A request that is given up at `at`, before the first byte of its answer.
    pub fn expect_nothing(&mut self, ticket: Ticket, at: Instant) {
        self.answers.push(Reverse(Answer { began_at: at, ticket, ended_at: None }));
    }

    /// Continues over an arena to which these prefixes moved; others are dropped.
    pub fn renew(&mut self, old: &Prefixes, new: &Prefixes, moved: &Moved) {
        self.cache = self.cache.moved(old, new, moved);
    }

    /// Lets a request act on the cache, after every answer that began before it was reported.
    pub fn serve(&mut self, prompt: &Prompt<'_>, times: &Times) -> Outcome {
        let (ticket, outcome) = self.look_up(prompt, times.at);
        self.expect(ticket, times);
        outcome
    }

    /// Serves a request that is answered the instant it is sent.
    pub fn serve_at_once(&mut self, prompt: &Prompt<'_>, at: Instant) -> Outcome {
        self.cache.serve_at_once(prompt, at)
    }
}
