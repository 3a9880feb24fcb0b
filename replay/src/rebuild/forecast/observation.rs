//! What sessions of one user share: which hidden prefixes were read when, who was active, whether hidden requests follow.
//! Built in a first pass; consulted only for instants before a request, so that the order of files never matters.

use std::collections::BTreeMap;

use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Ttl;
use xxhash_rust::xxh3::xxh3_64;

/// How a hidden prefix was come upon: its size differs by that, as clients mark two places in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Within its lifetime in this session, after a change of the messages.
    In,
    /// By the first request of a chain.
    First,
    /// Otherwise: after a change in front of the messages, or kept alive by others.
    Out,
}

impl Class {
    const ALL: [Self; 3] = [Self::In, Self::First, Self::Out];
}

/// Whose hidden prefix it is. Names are hashed; zero is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The user.
    pub user: u64,
    /// The client's version.
    pub version: u64,
    /// The model.
    pub model: u64,
    /// The main agent's, not a sub-agent's.
    pub main: bool,
    /// The part of the state that reaches the system level: hashed.
    pub state: u64,
}

impl Owner {
    /// The hash of a name.
    pub fn hashed(name: Option<&str>) -> u64 {
        name.map_or(0, |name| xxh3_64(name.as_bytes()) | 1)
    }

    fn key(&self, with: (bool, bool, bool), class: Class) -> u64 {
        let (user, version, state) = with;
        hash([
            if user { self.user } else { 2 },
            if version { self.version } else { 2 },
            self.model,
            u64::from(self.main),
            if state { self.state } else { 2 },
            class as u64,
        ])
    }

    /// The key of activity.
    fn active_key(&self) -> u64 {
        hash([self.key((true, true, true), Class::In), 7])
    }

    fn follow_key(&self) -> u64 {
        hash([self.user, self.version])
    }

    /// The key of cold starts: of a user with a lifetime, or of everybody with a version and model.
    fn warm_key(&self, ttl: Option<Ttl>) -> u64 {
        match ttl {
            Some(ttl) => hash([self.user, ttl as u64, u64::from(self.main)]),
            None => hash([self.version, self.model, u64::from(self.main), 8]),
        }
    }
}

fn hash<const N: usize>(parts: [u64; N]) -> u64 {
    xxh3_64(parts.map(u64::to_le_bytes).as_flattened())
}

/// With or without user, version and state: from the most to the least particular.
const PARTICULARS: [(bool, bool, bool); 4] =
    [(true, true, true), (false, true, true), (true, false, false), (false, false, false)];

/// One thing that a session showed.
#[derive(Clone, Copy, Debug)]
pub enum Observation {
    /// A hidden prefix of this many tokens was read.
    Landing(Owner, Class, u64),
    /// A request was made, with this lifetime.
    Use(Owner, Ttl),
    /// A hidden request followed an answer, or not.
    FollowUp(Owner, bool),
    /// Something was read although nothing known kept it alive, or not; without a lifetime where everybody shares the first
    /// block.
    Warm(Owner, Option<Ttl>, bool),
}

/// Everything that all sessions showed, by time.
#[derive(Debug, Default)]
pub struct Shared {
    landings: BTreeMap<u64, Vec<(Instant, u64)>>,
    uses: BTreeMap<u64, Uses>,
    follow_ups: BTreeMap<u64, Vec<(Instant, bool)>>,
    warm: BTreeMap<u64, Vec<(Instant, bool)>>,
}

/// Uses of one hidden prefix by sessions.
#[derive(Debug, Default)]
struct Uses {
    /// Instant, session, and until when the prefix lives by it.
    all: Vec<(Instant, u32, Instant)>,
    /// In step with `all`, once sorted: the session by which the prefix lives longest so far and until when, and the same
    /// among the other sessions.
    longest: Vec<[(Instant, u32); 2]>,
}

impl Uses {
    fn sort(&mut self) {
        self.all.sort_unstable();
        let (mut first, mut second) = ((Instant::default(), u32::MAX), (Instant::default(), u32::MAX));
        for &(_, session, until) in &self.all {
            if session == first.1 {
                first.0 = first.0.max(until);
            } else if until > first.0 {
                (first, second) = ((until, session), first);
            } else if until > second.0 {
                second = (until, session);
            }
            self.longest.push([first, second]);
        }
    }

    /// Until when the prefix lives by what sessions other than `session` did before `at`.
    fn until(&self, session: u32, at: Instant) -> Option<Instant> {
        let before = self.all.partition_point(|(then, _, _)| *then < at);
        let longest = self.longest.get(before.checked_sub(1)?)?;
        longest.iter().find(|(_, of)| *of != session && *of != u32::MAX).map(|(until, _)| *until)
    }
}

impl Shared {
    /// Adds what session `session` showed at an instant.
    pub fn note(&mut self, session: u32, at: Instant, observation: Observation) {
        match observation {
            Observation::Landing(owner, class, tokens) => {
                for with in PARTICULARS {
                    self.landings.entry(owner.key(with, class)).or_default().push((at, tokens));
                }
            }
            Observation::Use(owner, ttl) => {
                self.uses.entry(owner.active_key()).or_default().all.push((at, session, at + ttl.duration()));
            }
            Observation::FollowUp(owner, seen) => {
                self.follow_ups.entry(owner.follow_key()).or_default().push((at, seen));
            }
            Observation::Warm(owner, ttl, seen) => {
                self.warm.entry(owner.warm_key(ttl)).or_default().push((at, seen));
            }
        }
    }

    /// Ready to be asked.
    pub fn sorted(mut self) -> Self {
        self.landings.values_mut().for_each(|list| list.sort_unstable());
        self.uses.values_mut().for_each(Uses::sort);
        self.follow_ups.values_mut().for_each(|list| list.sort_unstable());
        self.warm.values_mut().for_each(|list| list.sort_unstable());
        self
    }

    /// The newest hidden prefix shown before `at`, as particular as can be: by class first for this user and version, then
    /// for others.
    pub fn landing(&self, owner: &Owner, class: Class, level: usize, at: Instant) -> Option<u64> {
        let list = self.landings.get(&owner.key(*PARTICULARS.get(level)?, class))?;
        newest(list, at)
    }

    /// The same over all classes, `class` first.
    pub fn landing_of_any(&self, owner: &Owner, class: Class, level: usize, at: Instant) -> Option<u64> {
        let classes = std::iter::once(class).chain(Class::ALL);
        classes.into_iter().find_map(|class| self.landing(owner, class, level, at))
    }

    /// Another session of the same user, model and version made a request whose lifetime (and `slack`) lasts until `at`.
    pub fn is_used_by_others(&self, owner: &Owner, session: u32, at: Instant, slack: Duration) -> bool {
        let until = self.uses.get(&owner.active_key()).and_then(|uses| uses.until(session, at));
        until.is_some_and(|until| at <= until + slack)
    }

    /// Whether hidden requests followed the newest ends of turns that could show it; `None` where none could.
    pub fn follows_up(&self, owner: &Owner, at: Instant, looked_at: usize) -> Option<bool> {
        let list = self.follow_ups.get(&owner.follow_key())?;
        let before = &list[..list.partition_point(|(then, _)| *then < at)];
        let newest = before.iter().rev().take(looked_at);
        (!before.is_empty()).then(|| newest.into_iter().any(|(_, seen)| *seen))
    }

    /// The newest cold starts of this user all read something: somebody unseen keeps the hidden prefix alive.
    pub fn is_kept_warm(&self, owner: &Owner, ttl: Ttl, at: Instant, needed: usize, looked_at: usize) -> bool {
        let newest: Vec<_> = self.cold_starts(owner, Some(ttl), at).take(looked_at).collect();
        newest.len() >= needed && newest.iter().all(|seen| *seen)
    }

    /// The newest cold start of anybody with this version and model read something, or not.
    pub fn begins_warm(&self, owner: &Owner, at: Instant) -> Option<bool> {
        self.cold_starts(owner, None, at).next()
    }

    /// Whether cold starts read something, the newest first.
    fn cold_starts(&self, owner: &Owner, ttl: Option<Ttl>, at: Instant) -> impl Iterator<Item = bool> {
        let list = self.warm.get(&owner.warm_key(ttl)).map_or(&[][..], Vec::as_slice);
        list[..list.partition_point(|(then, _)| *then < at)].iter().rev().map(|(_, seen)| *seen)
    }
}

fn newest(list: &[(Instant, u64)], at: Instant) -> Option<u64> {
    let before = list.partition_point(|(then, _)| *then < at);
    before.checked_sub(1).and_then(|newest| list.get(newest)).map(|(_, tokens)| *tokens)
}
