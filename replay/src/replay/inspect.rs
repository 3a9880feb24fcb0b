//! One request compared with everything in its cache when it was sent.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::cache::{EntryState, Life, Outcome, Rules, look_back};
use forkcast_sim::diagnosis::{Explanation, Subject};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Marker, NodeId, Request, Wire};

use super::run::{Prepared, ServedRequest, StreamReplay};
use super::{Options, Replay};
use crate::input::Inputs;
pub use crate::source::exchange::Unread;
use crate::source::order::streams;

/// A request at the instant before it acted on its cache.
pub struct Inspection {
    /// Blocks and prefixes of everything sent until then.
    pub wire: Wire,
    /// The rules of the cache.
    pub rules: Rules,
    /// When it was sent.
    pub at: Instant,
    /// The request with its sizes.
    pub subject: Rc<Subject>,
    /// Tokens of the whole prompt.
    pub total_tokens: u64,
    /// What the rules predict.
    pub predicted: Outcome,
    /// Where its input tokens went.
    pub explanation: Explanation,
    /// Its breakpoints, in prompt order.
    pub breakpoints: Vec<Breakpoint>,
    /// Every entry that a request of this model and scope ever wrote, in order of first writing.
    pub entries: Vec<HeldEntry>,
    /// The entry that the request came nearest to reading.
    pub nearest: Option<Nearest>,
}

/// A breakpoint of the request and what it found.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// The breakpoint.
    pub marker: Marker,
    /// Index of its block in the request.
    pub index: usize,
    /// Tokens of the prefix that ends there.
    pub tokens: u64,
    /// Its prefix is long enough to be cached.
    pub effective: bool,
    /// What the cache held of its own prefix.
    pub state: EntryState,
    /// Prefixes that a look-back from here visits, itself included.
    pub looked_at: usize,
    /// Index of the last block of the longest readable prefix that the look-back meets.
    pub found: Option<usize>,
}

/// What the cache held of one prefix.
#[derive(Clone, Debug)]
pub struct HeldEntry {
    /// Its size in tokens as its first writer was sized.
    pub tokens: u64,
    /// Ledger lines of the first and of the last request that marked its end.
    pub marked_by: (usize, usize),
    /// What became of it.
    pub state: EntryState,
    /// Last use and lifetime, where known.
    pub life: Option<Life>,
    /// How many of its leading blocks are the request's.
    pub shared_blocks: usize,
    /// How many blocks it has.
    pub blocks: usize,
}

/// The entry that a request came nearest to reading: among those longer than what it reads the one that shares most.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// The entry.
    pub entry: HeldEntry,
    /// The request that last marked its end.
    pub writer: Rc<Subject>,
}

/// Why a request cannot be inspected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotInspected {
    /// There are only so many requests.
    NoSuchLine(usize),
    /// There is no request that a cache could see.
    Unread(Unread),
}

/// Replays the cache of the request at ledger line `line` up to the instant at which it was sent.
///
/// # Errors
/// When there is no such line, or no cache profile can read it.
pub fn inspect(inputs: &Inputs, options: &Options, line: usize) -> Result<Inspection, NotInspected> {
    let mut first_line = 0;
    for stream in streams(inputs) {
        let count = stream.requests.len();
        if line >= first_line + count {
            first_line += count;
            continue;
        }
        let mut scratch = Replay::default();
        let mut run = StreamReplay::new(&stream, options, 0, &mut scratch);
        run.seen = Some(Vec::new());
        let (before, rest) = stream.requests.split_at(line - first_line);
        for arrival in before {
            run.deliver_until(arrival.times.at);
            run.serve(arrival);
        }
        let Some(arrival) = rest.first() else { break };
        run.deliver_until(arrival.times.at);
        let read = run.read(arrival.exchange).map_err(NotInspected::Unread)?;
        let prepared = run.prepare(read, arrival);
        return Ok(Inspection::of(run, prepared, arrival.times.at, first_line));
    }
    Err(NotInspected::NoSuchLine(first_line))
}

impl Inspection {
    fn of(mut run: StreamReplay<'_>, prepared: Prepared, at: Instant, first_line: usize) -> Self {
        let Prepared { sized, recorded, .. } = prepared;
        let sizes = sized.sizes(&run.wire.prefixes);
        let asked = sized.asked(&run.wire, &sizes, recorded, at);
        let predicted = run.engine.foresee(&asked);
        let explanation = run.engine.explain(&asked, &predicted).unwrap_or_default();
        let effective = sized.subject.effective();
        let mut seen = run.seen.take().unwrap_or_default();
        seen.iter_mut().for_each(|seen| seen.line += first_line);
        let look = Look { run: &run, request: &sized.subject.request, cumulative: &sized.subject.cumulative, at };
        let breakpoints = look.breakpoints(&effective);
        let entries = look.entries(&seen);
        let read = predicted.blocks_read(&run.wire.prefixes);
        let nearest = nearest(&entries, &seen, read);
        Self {
            rules: run.rules,
            at,
            subject: Rc::clone(&sized.subject),
            total_tokens: sized.total_tokens,
            predicted,
            explanation,
            breakpoints,
            entries,
            nearest,
            wire: run.wire,
        }
    }

    /// How many leading blocks an earlier request of this model and scope had sent as the same prefix.
    pub fn sent_before(&self) -> usize {
        self.subject.request.known
    }
}

struct Look<'a, 'r> {
    run: &'a StreamReplay<'r>,
    request: &'a Request,
    cumulative: &'a [u64],
    at: Instant,
}

impl Look<'_, '_> {
    fn breakpoints(&self, effective: &[Marker]) -> Vec<Breakpoint> {
        self.request.markers.iter().filter_map(|marker| self.breakpoint(marker, effective)).collect()
    }

    fn breakpoint(&self, marker: &Marker, effective: &[Marker]) -> Option<Breakpoint> {
        let index = self.index_of(marker.node)?;
        let prefixes = &self.run.wire.prefixes;
        let visited: Vec<NodeId> = look_back(prefixes, marker.node, self.run.rules.look_back).collect();
        let counts = effective.iter().any(|known| known.node == marker.node);
        let readable = |node: &&NodeId| self.state(**node) == EntryState::Live;
        Some(Breakpoint {
            marker: *marker,
            index,
            tokens: self.cumulative[index],
            effective: counts,
            state: self.state(marker.node),
            looked_at: visited.len(),
            found: visited.iter().find(readable).filter(|_| counts).and_then(|node| self.index_of(*node)),
        })
    }

    fn entries(&self, seen: &[ServedRequest]) -> Vec<HeldEntry> {
        let mut entries: Vec<HeldEntry> = Vec::new();
        let mut known: BTreeMap<NodeId, usize> = BTreeMap::new();
        for seen in seen.iter().filter(|seen| seen.subject.request.root == self.request.root) {
            for marker in seen.subject.effective() {
                if let Some(at) = known.get(&marker.node) {
                    entries[*at].marked_by.1 = seen.line;
                } else if let Some(last) = seen.subject.request.index_of(&marker) {
                    known.insert(marker.node, entries.len());
                    entries.push(self.entry(marker.node, last, seen));
                }
            }
        }
        entries
    }

    /// The entry at `node`, which ends with block `last` of its first writer.
    fn entry(&self, node: NodeId, last: usize, seen: &ServedRequest) -> HeldEntry {
        let prefixes = &self.run.wire.prefixes;
        let alike =
            seen.subject.request.nodes.iter().zip(&self.request.nodes).take_while(|(one, other)| one == other).count();
        HeldEntry {
            tokens: seen.subject.cumulative[last],
            marked_by: (seen.line, seen.line),
            state: self.state(node),
            life: self.run.engine.cache().life(prefixes, node, self.at),
            shared_blocks: alike.min(last + 1),
            blocks: last + 1,
        }
    }

    fn state(&self, node: NodeId) -> EntryState {
        self.run.engine.cache().state(&self.run.wire.prefixes, node, self.at)
    }

    fn index_of(&self, node: NodeId) -> Option<usize> {
        self.request.nodes.iter().rposition(|known| *known == node)
    }
}

/// Among entries longer than the read prefix the one that shares most blocks, then one that can be read, then the newest;
/// without such an entry the read prefix itself.
fn nearest(entries: &[HeldEntry], seen: &[ServedRequest], read_blocks: usize) -> Option<Nearest> {
    let rank = |entry: &&HeldEntry| (entry.shared_blocks, entry.state == EntryState::Live, entry.marked_by.1);
    let sharing = || entries.iter().filter(|entry| entry.shared_blocks > 0);
    let longer = sharing().filter(|entry| entry.blocks > read_blocks).max_by_key(rank);
    let entry = longer.or_else(|| sharing().max_by_key(rank))?;
    let writer = seen.iter().find(|seen| seen.line == entry.marked_by.1)?;
    Some(Nearest { entry: entry.clone(), writer: Rc::clone(&writer.subject) })
}
