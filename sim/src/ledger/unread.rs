//! Writes that nobody ever read: their premium over plain input bought nothing.

use std::collections::BTreeMap;

use crate::wire::{Index, Marker, NodeId, Prefixes, Ttl};

/// A written stretch of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteId(usize);

#[derive(Clone, Copy, Debug)]
struct Stretch {
    request: usize,
    ttl: Ttl,
    tokens: u64,
    read: bool,
}

/// Follows every written stretch until something reads it.
#[derive(Clone, Debug, Default)]
pub struct UnreadWrites {
    stretches: Vec<Stretch>,
    /// The newest unread write that ends at a prefix.
    waiting: Index<NodeId, WriteId>,
}

impl UnreadWrites {
    /// Request `request` wrote up to `markers`, each with the tokens that its stretch was billed for.
    pub fn wrote(&mut self, request: usize, markers: &[(Marker, u64)]) {
        for (marker, tokens) in markers.iter().filter(|(_, tokens)| *tokens > 0) {
            let id = WriteId(self.stretches.len());
            self.stretches.push(Stretch { request, ttl: marker.ttl, tokens: *tokens, read: false });
            self.waiting.insert(marker.node, id);
        }
    }

    /// The prefix `hit` was read: every write on its path that still waits has paid. The walk ends after as many blocks
    /// as were written since the last read of this path.
    pub fn read(&mut self, prefixes: &Prefixes, hit: NodeId) {
        let mut quiet = 0;
        for node in prefixes.ancestors(hit) {
            match self.waiting.remove(&node) {
                Some(id) => {
                    self.stretches[id.0].read = true;
                    quiet = 0;
                }
                None => quiet += 1,
            }
            if quiet > QUIET_BLOCKS_MAX {
                break;
            }
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

/// Blocks without a waiting write after which a walk gives up: longer than any look-back, so that the walk of a long
/// conversation costs what is new in it.
const QUIET_BLOCKS_MAX: u32 = 4_096;
