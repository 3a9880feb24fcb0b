//! Entries and their lifetimes.
//!
//! A hit refreshes all live entries of shorter prefixes, which in a long conversation are as many as it has turns.
//! Entries of one line (a path of first children) that were refreshed together therefore form *runs* of depths with
//! one lifetime and one last use; a refresh merges runs, so that it costs a few steps however long the conversation.
//! Every entry lies in exactly one run, the dead ones too: between two neighbouring runs there is none, so joining
//! them revives nothing.

use std::collections::BTreeMap;

use crate::time::{Duration, Instant};
use crate::wire::{Index, LineId, NodeId, Prefixes, Ttl};

/// Consecutive entries of a line with equal lifetimes, the deepest at `last_depth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    last_depth: u32,
    /// `None` once a refresh found them dead, from which nothing brings them back but a new write.
    life: Option<Life>,
}

/// When an entry was last used and for how long it lives from there.
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

/// What became of an entry's lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelved {
    /// No entry was ever put there.
    Never,
    /// There is one and it lives.
    Alive(Life),
    /// It outlived its lifetime.
    Dead,
}

/// All entries of a cache.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    written: Index<NodeId, ()>,
    lines: Index<LineId, BTreeMap<u32, Run>>,
    slack: Duration,
}

impl Shelf {
    /// An empty shelf on which entries are found for `slack` after their lifetime.
    pub fn new(slack: Duration) -> Self {
        Self { slack, ..Self::default() }
    }

    /// The entry of `node` at `at`.
    pub fn get(&self, prefixes: &Prefixes, node: NodeId, at: Instant) -> Shelved {
        if !self.written.contains(&node) {
            return Shelved::Never;
        }
        match self.run(prefixes, node).and_then(|(_, run)| run.life) {
            Some(life) if life.alive(at, self.slack) => Shelved::Alive(life),
            _ => Shelved::Dead,
        }
    }

    /// Puts an entry, in place of any that stood there.
    pub fn put(&mut self, prefixes: &Prefixes, node: NodeId, life: Life) {
        self.written.insert(node, ());
        self.cut_out(prefixes, node);
        let depth = prefixes.depth(node);
        let line = self.lines.get_or_insert_with(prefixes.line(node), BTreeMap::new);
        line.insert(depth, Run { last_depth: depth, life: Some(life) });
        join(line, depth);
    }

    /// Takes an entry away as if it had never been written.
    pub fn remove(&mut self, prefixes: &Prefixes, node: NodeId) {
        self.cut_out(prefixes, node);
        self.written.remove(&node);
    }

    /// Sets the last use of `node`'s entry alone, where it lives.
    pub fn touch(&mut self, prefixes: &Prefixes, node: NodeId, at: Instant) {
        if let Shelved::Alive(life) = self.get(prefixes, node, at) {
            self.put(prefixes, node, Life { last_use: life.last_use.max(at), ..life });
        }
    }

    /// Sets the last use of all live entries of `node` and its shorter prefixes.
    pub fn touch_chain(&mut self, prefixes: &Prefixes, node: NodeId, at: Instant) {
        let mut next = Some(node);
        while let Some(end) = next {
            let line = prefixes.line(end);
            if let Some(runs) = self.lines.get_mut(&line) {
                touch_line(runs, prefixes.depth(end), at, self.slack);
            }
            next = prefixes.branch(line);
        }
    }

    fn run(&self, prefixes: &Prefixes, node: NodeId) -> Option<(u32, Run)> {
        let depth = prefixes.depth(node);
        let runs = self.lines.get(&prefixes.line(node))?;
        let (first, run) = runs.range(..=depth).next_back()?;
        (depth <= run.last_depth).then_some((*first, *run))
    }

    /// Splits the run around `node` so that `node` lies in none.
    fn cut_out(&mut self, prefixes: &Prefixes, node: NodeId) {
        let depth = prefixes.depth(node);
        let Some((first, run)) = self.run(prefixes, node) else { return };
        let Some(runs) = self.lines.get_mut(&prefixes.line(node)) else { return };
        runs.remove(&first);
        if first < depth {
            runs.insert(first, Run { last_depth: depth - 1, ..run });
        }
        if depth < run.last_depth {
            runs.insert(depth + 1, run);
        }
    }
}

/// Refreshes the live runs of a line up to `depth`.
fn touch_line(runs: &mut BTreeMap<u32, Run>, depth: u32, at: Instant, slack: Duration) {
    let deeper = runs.split_off(&(depth + 1));
    let shallow = std::mem::replace(runs, deeper);
    let mut last: Option<u32> = None;
    for (first, run) in shallow {
        if run.last_depth > depth {
            runs.insert(depth + 1, run);
        }
        let alive = run.life.filter(|life| life.alive(at, slack));
        let life = alive.map(|life| Life { last_use: life.last_use.max(at), ..life });
        last = Some(append(runs, last, first, Run { last_depth: run.last_depth.min(depth), life }));
    }
}

/// Puts `run` behind the run that begins at `before`, as one run where their lives are equal. Gives the start.
fn append(runs: &mut BTreeMap<u32, Run>, before: Option<u32>, first: u32, run: Run) -> u32 {
    if let Some(before) = before
        && let Some(earlier) = runs.get_mut(&before)
        && earlier.life == run.life
    {
        earlier.last_depth = run.last_depth;
        return before;
    }
    runs.insert(first, run);
    first
}

/// Joins the run that begins at `first` with the one before it where their lives are equal.
fn join(runs: &mut BTreeMap<u32, Run>, first: u32) {
    let Some(run) = runs.get(&first).copied() else { return };
    let Some((&before, &earlier)) = runs.range(..first).next_back() else { return };
    if earlier.life == run.life {
        runs.remove(&first);
        runs.insert(before, run);
    }
}
