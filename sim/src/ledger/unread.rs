//! Writes that were never read: their premium over plain input bought nothing.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::wire::{Index, LineId, Marker, NodeId, Prefixes, Ttl};

/// A written stretch of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteId(usize);

#[derive(Clone, Copy, Debug)]
struct Stretch {
    request: usize,
    node: NodeId,
    ttl: Ttl,
    tokens: u64,
    read: bool,
}

/// Follows every written stretch until something reads it.
#[derive(Clone, Debug, Default)]
pub struct UnreadWrites {
    stretches: Vec<Stretch>,
    /// Unread writes by prefix line, in order of depth. A read of a long conversation then costs only the writes since
    /// the last read, plus the forks on its path. Most lines are those of forks, and have one.
    waiting: Index<LineId, SmallVec<[Waiting; 1]>>,
}

/// The unread write of the prefix at a depth.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    depth: u32,
    id: WriteId,
}

impl UnreadWrites {
    /// Request `request` wrote up to `markers`, each with the tokens billed for its stretch.
    pub fn wrote(&mut self, prefixes: &Prefixes, request: usize, markers: &[(Marker, u64)]) {
        for (marker, tokens) in markers.iter().filter(|(_, tokens)| *tokens > 0) {
            let id = WriteId(self.stretches.len());
            self.stretches.push(Stretch { request, node: marker.node, ttl: marker.ttl, tokens: *tokens, read: false });
            let line = self.waiting.get_or_insert_with(prefixes.line(marker.node), SmallVec::new);
            let depth = prefixes.depth(marker.node);
            let at = line.partition_point(|waiting| waiting.depth < depth);
            match line.get_mut(at).filter(|waiting| waiting.depth == depth) {
                Some(waiting) => waiting.id = id,
                None => line.insert(at, Waiting { depth, id }),
            }
        }
    }

    /// A prompt that ends at `end` was sent, and `hit` of it was read. A pending write after that which `is_lost` is written
    /// again, and a read of the new write does not read the lost one.
    pub fn lose(&mut self, prefixes: &Prefixes, end: NodeId, hit: Option<NodeId>, is_lost: impl Fn(NodeId) -> bool) {
        let read_depth = hit.map_or(0, |hit| prefixes.depth(hit));
        let mut next = Some(end).filter(|end| prefixes.depth(*end) > read_depth);
        while let Some(end) = next {
            let line = prefixes.line(end);
            if let Some(waiting) = self.waiting.get_mut(&line) {
                let behind = read_depth + 1..=prefixes.depth(end);
                let stretches = &self.stretches;
                waiting.retain(|one| !behind.contains(&one.depth) || !is_lost(stretches[one.id.0].node));
            }
            next = prefixes.branch(line).filter(|branch| prefixes.depth(*branch) > read_depth);
        }
    }

    /// The prefix `hit` was read, so every waiting write on its path has been used.
    pub fn read(&mut self, prefixes: &Prefixes, hit: NodeId) {
        let mut next = Some(hit);
        while let Some(end) = next {
            let line = prefixes.line(end);
            if let Some(waiting) = self.waiting.get_mut(&line) {
                let depth = prefixes.depth(end);
                let read = waiting.partition_point(|one| one.depth <= depth);
                for one in waiting.drain(..read) {
                    self.stretches[one.id.0].read = true;
                }
            }
            next = prefixes.branch(line);
        }
    }

    /// Tokens that were written and never read, by request: five-minute writes and one-hour writes.
    pub fn unread(&self) -> BTreeMap<usize, (u64, u64)> {
        let mut unread: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for stretch in self.stretches.iter().filter(|stretch| !stretch.read) {
            let sums = unread.entry(stretch.request).or_default();
            match stretch.ttl {
                Ttl::FiveMinutes => sums.0 += stretch.tokens,
                Ttl::OneHour => sums.1 += stretch.tokens,
            }
        }
        unread
    }
}
