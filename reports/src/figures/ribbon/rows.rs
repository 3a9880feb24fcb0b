//! The positions of bars: sections of stacks of requests, children under the request that they continue.

use std::collections::BTreeMap;

use forkcast_scenarios::run::{Run, Sums};

use crate::document::{count, money};

/// Requests up to which each has a bar with its numbers.
pub const NAMED_MAX: usize = 64;

/// Height of such a bar.
const NAMED: i32 = 14;

/// Pixels that all bars together take at most, where they lie close together; the least height of a stack.
const CLOSE_MAX: i32 = 1_600;
const STACK_MIN: i32 = 16;

/// An agent, or the forks of one message.
pub struct Section {
    pub label: String,
    /// Lines under the label.
    pub about: Vec<String>,
    pub depth: u32,
    pub stacks: Vec<Stack>,
}

/// Bars that lie close together, often one alone.
pub struct Stack {
    /// What they are, in a few letters.
    pub note: String,
    /// Indices into the run's requests, from top to bottom.
    pub requests: Vec<usize>,
}

/// How high bars are.
pub struct Heights {
    bar: i32,
    /// One of this many requests is drawn.
    pub each: usize,
}

impl Heights {
    pub fn of(sections: &[Section]) -> Self {
        let stacks = || sections.iter().flat_map(|section| &section.stacks);
        if stacks().all(|stack| stack.requests.len() == 1) {
            return Self { bar: NAMED, each: 1 };
        }
        let most = stacks().map(|stack| stack.requests.len()).sum::<usize>().max(1);
        let most = i32::try_from(most).unwrap_or(i32::MAX);
        let each = most.unsigned_abs().div_ceil(CLOSE_MAX.unsigned_abs()).max(1);
        Self { bar: (CLOSE_MAX / most).clamp(1, NAMED), each: each as usize }
    }

    /// Height of a stack.
    pub fn stack(&self, stack: &Stack) -> i32 {
        let bars = i32::try_from(stack.requests.len().div_ceil(self.each)).unwrap_or(i32::MAX);
        let least = if self.bar == NAMED { NAMED } else { STACK_MIN };
        bars.saturating_mul(self.bar).max(least)
    }
}

/// All sections from top to bottom.
pub fn sections(run: &Run) -> Vec<Section> {
    let mut tree = Tree::of(run);
    for root in 0..run.agents.len() {
        if run.agents[root].parent.is_none() {
            tree.agent(root);
        }
    }
    tree.sections
}

struct Tree<'a> {
    run: &'a Run,
    is_close: bool,
    requests: Vec<Vec<usize>>,
    /// Agents by the request under which they are drawn, in their order.
    children: BTreeMap<usize, Vec<usize>>,
    sections: Vec<Section>,
}

impl<'a> Tree<'a> {
    fn of(run: &'a Run) -> Self {
        let mut requests = vec![Vec::new(); run.agents.len()];
        for (at, request) in run.requests.iter().enumerate() {
            requests[request.agent].push(at);
        }
        let mut tree = Self {
            run,
            is_close: run.requests.len() > NAMED_MAX,
            requests,
            children: BTreeMap::new(),
            sections: Vec::new(),
        };
        let places: BTreeMap<&str, usize> = run.agents.iter().enumerate().map(|(at, agent)| (&*agent.id, at)).collect();
        for (at, agent) in run.agents.iter().enumerate() {
            let parent = agent.parent.as_deref().and_then(|parent| places.get(parent));
            if let Some(behind) = parent.and_then(|parent| tree.behind(at, *parent)) {
                tree.children.entry(behind).or_default().push(at);
            }
        }
        tree
    }

    /// The request of `parent` under which `child` is drawn: the one that a fork continues, else the last one before
    /// the child's first request.
    fn behind(&self, child: usize, parent: usize) -> Option<usize> {
        let first = *self.requests[child].first()?;
        let of_parent = &self.requests[parent];
        let continues = self.run.requests[first].layout.continues.filter(|at| of_parent.binary_search(at).is_ok());
        let before = of_parent.partition_point(|at| *at < first).checked_sub(1);
        continues.or_else(|| of_parent.get(before.unwrap_or(0)).copied())
    }

    fn agent(&mut self, agent: usize) {
        let mut together = Vec::new();
        for at in self.requests[agent].clone() {
            together.push(at);
            if let Some(children) = self.children.remove(&at) {
                self.one(agent, std::mem::take(&mut together));
                self.under(children);
            }
        }
        self.one(agent, together);
    }

    fn under(&mut self, children: Vec<usize>) {
        let is_fork = |child: &usize| self.run.agents[*child].fork.is_some();
        let (forks, others): (Vec<usize>, Vec<usize>) = children.into_iter().partition(is_fork);
        let turns = forks.iter().map(|fork| self.requests[*fork].len()).max().unwrap_or(0);
        if self.is_close && forks.len() > turns {
            self.fan(&forks, turns);
        } else {
            forks.into_iter().for_each(|fork| self.agent(fork));
        }
        others.into_iter().for_each(|other| self.agent(other));
    }

    /// Forks by their turns, then the agents that they called.
    fn fan(&mut self, forks: &[usize], turns: usize) {
        let stack = |turn: usize| Stack {
            note: format!("turn {}", turn + 1),
            requests: forks.iter().filter_map(|fork| self.requests[*fork].get(turn)).copied().collect(),
        };
        let depth = forks.first().map_or(0, |fork| self.run.agents[*fork].depth);
        let stacks: Vec<Stack> = (0..turns).map(stack).collect();
        let inner: Vec<usize> = stacks.iter().flat_map(|stack| &stack.requests).copied().collect();
        let sums = Sums::of(inner.iter().filter_map(|at| self.run.requests.get(*at)));
        let about = [Some(format!("{} requests", count(sums.requests))), sums.cost.map(money)];
        let label = format!("{} forks", count(forks.len() as u64));
        self.sections.push(Section { label, about: about.into_iter().flatten().collect(), depth, stacks });
        for at in inner {
            if let Some(children) = self.children.remove(&at) {
                self.under(children);
            }
        }
    }

    fn one(&mut self, agent: usize, requests: Vec<usize>) {
        if requests.is_empty() {
            return;
        }
        let agent = &self.run.agents[agent];
        let name = agent.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let turn = |at: usize| format!("{}", self.run.requests[at].turn + 1);
        let stacks = if self.is_close {
            let note = match requests[..] {
                [one] => turn(one),
                [first, .., last] => format!("{}–{}", turn(first), turn(last)),
                [] => String::new(),
            };
            vec![Stack { note, requests }]
        } else {
            requests.into_iter().map(|at| Stack { note: turn(at), requests: vec![at] }).collect()
        };
        self.sections.push(Section {
            label: format!("{}{name}", agent.label),
            about: Vec::new(),
            depth: agent.depth,
            stacks,
        });
    }
}
