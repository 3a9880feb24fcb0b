//! Entries and their lifetimes.
//!
//! A hit refreshes all live entries of shorter prefixes; a long conversation has as many of them as turns. Entries of
//! one line (a path of first children) that were refreshed together therefore form *runs* of depths with one lifetime
//! and one last use. A refresh merges runs, so it costs a few steps however long the conversation is. Every entry, dead
//! or alive, lies in exactly one run. There is no entry between two neighbouring runs, so merging them revives nothing.

use smallvec::SmallVec;

use super::line_marks::{LineMarks, grow};
use super::look_back::Stretch;
use crate::time::{Duration, Instant};
use crate::wire::{NodeId, Prefixes, Ttl};

/// Consecutive entries of a line with equal lifetimes, from `first_depth` to `last_depth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DepthRange {
    first_depth: u32,
    last_depth: u32,
    /// `None` if a refresh found them dead: only a new write can revive them.
    life: Option<Life>,
}

/// The runs of a line, in order of depth. They are few, because a refresh merges them.
type Runs = SmallVec<[DepthRange; 1]>;

/// When an entry was last used and how long it lives from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Start of the request that wrote or read it last.
    pub last_use: Instant,
    /// Its lifetime.
    pub ttl: Ttl,
}

impl Life {
    fn alive(self, at: Instant, slack: Duration) -> bool {
        at.since(self.last_use) <= self.ttl.duration() + slack
    }
}

/// State of an entry's lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShelfState {
    /// No entry was ever written.
    Never,
    /// The entry is alive.
    Alive(Life),
    /// The entry has expired; `None` if a refresh found it dead and its last use is forgotten.
    Dead(Option<Life>),
}

/// All entries of a cache.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// Prefixes with an entry.
    written: LineMarks,
    lines: Vec<Runs>,
    slack: Duration,
}

impl Shelf {
    /// An empty shelf; entries are still found for `slack` after the end of their lifetime.
    pub fn new(slack: Duration) -> Self {
        Self { slack, ..Self::default() }
    }

    /// State of the entry of `node` at `at`.
    pub fn get(&self, prefixes: &Prefixes, node: NodeId, at: Instant) -> ShelfState {
        if !self.written.contains(node) {
            return ShelfState::Never;
        }
        let depth = prefixes.depth(node);
        let runs = &self.lines[prefixes.line(node).index()];
        match position(runs, depth).and_then(|at| runs[at].life) {
            Some(life) if life.alive(at, self.slack) => ShelfState::Alive(life),
            life => ShelfState::Dead(life),
        }
    }

    /// Stores an entry, replacing any earlier one of the same prefix.
    pub fn put(&mut self, prefixes: &Prefixes, node: NodeId, life: Life) {
        let line = prefixes.line(node).index();
        self.written.insert(prefixes, node);
        grow(&mut self.lines, line);
        let runs = &mut self.lines[line];
        let depth = prefixes.depth(node);
        cut_out(runs, depth);
        let at = runs.partition_point(|run| run.first_depth < depth);
        let life = Some(life);
        match at.checked_sub(1).map(|before| &mut runs[before]) {
            Some(before) if before.life == life => before.last_depth = depth,
            _ => runs.insert(at, DepthRange { first_depth: depth, last_depth: depth, life }),
        }
    }

    /// Removes an entry as if it had never been written.
    pub fn remove(&mut self, prefixes: &Prefixes, node: NodeId) {
        if self.written.remove(prefixes, node) {
            cut_out(&mut self.lines[prefixes.line(node).index()], prefixes.depth(node));
        }
    }

    /// The prefixes of a stretch that have an entry, longest first.
    pub fn written_in<'a>(&'a self, prefixes: &'a Prefixes, stretch: Stretch) -> impl Iterator<Item = NodeId> + 'a {
        // Most stretches are one block.
        let is_one = stretch.longest == stretch.shortest;
        let one = Some(stretch.longest).filter(|node| is_one && self.written.contains(*node));
        let more = (!is_one).then(|| self.written.along(prefixes, stretch.longest, prefixes.depth(stretch.shortest)));
        one.into_iter().chain(more.into_iter().flatten())
    }

    /// Sets the last use of `node`'s entry only, if it is alive.
    pub fn touch(&mut self, prefixes: &Prefixes, node: NodeId, at: Instant) {
        if let ShelfState::Alive(life) = self.get(prefixes, node, at) {
            self.put(prefixes, node, Life { last_use: life.last_use.max(at), ..life });
        }
    }

    /// Sets the last use of all live entries of `node` and its shorter prefixes.
    pub fn touch_chain(&mut self, prefixes: &Prefixes, node: NodeId, at: Instant) {
        let mut next = Some(node);
        while let Some(end) = next {
            let line = prefixes.line(end);
            if let Some(runs) = self.lines.get_mut(line.index()) {
                touch_line(runs, prefixes.depth(end), at, self.slack);
            }
            next = prefixes.branch(line);
        }
    }
}

/// The run that contains `depth`.
fn position(runs: &[DepthRange], depth: u32) -> Option<usize> {
    let at = runs.partition_point(|run| run.first_depth <= depth).checked_sub(1)?;
    (depth <= runs[at].last_depth).then_some(at)
}

/// Splits the run around `depth` so that no run contains `depth`.
fn cut_out(runs: &mut Runs, depth: u32) {
    let Some(at) = position(runs, depth) else { return };
    let run = runs.remove(at);
    if depth < run.last_depth {
        runs.insert(at, DepthRange { first_depth: depth + 1, ..run });
    }
    if run.first_depth < depth {
        runs.insert(at, DepthRange { last_depth: depth - 1, ..run });
    }
}

/// Refreshes the live runs of a line up to `depth` and merges those that are equal.
fn touch_line(runs: &mut Runs, depth: u32, at: Instant, slack: Duration) {
    split_behind(runs, depth);
    let refreshed = runs.partition_point(|run| run.first_depth <= depth);
    for run in &mut runs[..refreshed] {
        run.life =
            run.life.filter(|life| life.alive(at, slack)).map(|life| Life { last_use: life.last_use.max(at), ..life });
    }
    runs.dedup_by(|later, earlier| {
        let alike = later.life == earlier.life;
        if alike {
            earlier.last_depth = later.last_depth;
        }
        alike
    });
}

/// Splits the run around `depth` so that one run ends there.
fn split_behind(runs: &mut Runs, depth: u32) {
    let Some(at) = position(runs, depth).filter(|at| runs[*at].last_depth > depth) else { return };
    let run = runs[at];
    runs[at].last_depth = depth;
    runs.insert(at + 1, DepthRange { first_depth: depth + 1, ..run });
}
