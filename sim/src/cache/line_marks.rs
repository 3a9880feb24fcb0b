//! A set of prefixes, organised by line, so that those along a path are found without walking it.

use std::iter::successors;

use smallvec::SmallVec;

use crate::wire::{NodeId, Prefixes};

/// A set of prefixes. Prefixes and lines are numbered from zero, so plain vectors find them without hashing.
#[derive(Clone, Debug, Default)]
pub struct LineMarks {
    /// By number of the prefix.
    is_in: Vec<bool>,
    /// By number of the line. Longer prefixes of a line have higher numbers, so these are in order of depth too. Most
    /// lines are those of forks, and short.
    lines: Vec<SmallVec<[NodeId; 4]>>,
}

impl LineMarks {
    /// Whether a prefix is in the set.
    pub fn contains(&self, node: NodeId) -> bool {
        self.is_in.get(node.index()).is_some_and(|is_in| *is_in)
    }

    /// Adds a prefix.
    pub fn insert(&mut self, prefixes: &Prefixes, node: NodeId) {
        if self.contains(node) {
            return;
        }
        let line = prefixes.line(node).index();
        grow(&mut self.is_in, node.index());
        grow(&mut self.lines, line);
        self.is_in[node.index()] = true;
        let line = &mut self.lines[line];
        // Mostly the longest so far.
        let at = line.iter().rposition(|other| *other < node).map_or(0, |last| last + 1);
        line.insert(at, node);
    }

    /// Removes a prefix; returns whether it was there.
    pub fn remove(&mut self, prefixes: &Prefixes, node: NodeId) -> bool {
        let Some(is_in) = self.is_in.get_mut(node.index()).filter(|is_in| **is_in) else { return false };
        *is_in = false;
        let line = &mut self.lines[prefixes.line(node).index()];
        if let Ok(at) = line.binary_search(&node) {
            line.remove(at);
        }
        true
    }

    /// Those among `end` and its shorter prefixes down to `first_depth`, longest first. Costs a few steps for each of
    /// them and for each line that they may lie on, regardless of the length of the path.
    pub fn along<'a>(
        &'a self,
        prefixes: &'a Prefixes,
        end: NodeId,
        first_depth: u32,
    ) -> impl Iterator<Item = NodeId> + 'a {
        let is_along = move |node: &NodeId| prefixes.depth(*node) >= first_depth;
        let branch = move |end: &NodeId| prefixes.branch(prefixes.line(*end)).filter(is_along);
        successors(Some(end).filter(is_along), branch).flat_map(move |end| {
            let line = self.lines.get(prefixes.line(end).index());
            let found = line.map_or(&[][..], SmallVec::as_slice);
            let up_to_end = found.partition_point(|node| *node <= end);
            found[..up_to_end].iter().rev().copied().take_while(is_along)
        })
    }
}

/// Grows a list until index `at` exists.
pub(super) fn grow<T: Clone + Default>(list: &mut Vec<T>, at: usize) {
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
}
