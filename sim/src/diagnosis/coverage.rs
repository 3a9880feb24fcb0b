//! How far breakpoints reach, and what the cache holds after each block.

use std::ops::Range;

use super::cause::Cause;
use super::shortfall::BilledRequest;
use super::subject::Subject;
use crate::cache::EntryState;
use crate::wire::NodeId;

/// How far a request's own breakpoints reach, and what the cache holds of the repeated blocks.
pub(super) struct Coverage {
    /// How many leading blocks its breakpoints cover, of any length.
    pub marked: usize,
    /// The same, counting only breakpoints on prefixes that are long enough.
    pub effective: usize,
    /// How many leading blocks an own breakpoint covers that is too short, though earlier requests could have written
    /// them.
    pub too_short: usize,
    /// The causes of the entries at each unread block or after it.
    held: EntryCauses,
    /// What the chain's previous request covered.
    pub before: PreviousCoverage,
}

/// What the breakpoints of the chain's previous request covered.
#[derive(Default)]
pub(super) struct PreviousCoverage {
    /// How many leading blocks, of any length.
    pub marked: usize,
    /// The same, counting only breakpoints on prefixes that are long enough.
    pub covered: usize,
    /// Why each of these was not read though it was written, if the request differs from this one.
    held: EntryCauses,
}

impl Coverage {
    /// What the cache holds for a request that read its first `unread` blocks. Entries of the previous request are
    /// included if the request `differs` from it.
    pub fn of(case: &BilledRequest<'_>, unread: usize, differs: bool) -> Self {
        let Subject { request, cumulative, minimum_tokens, .. } = case.request;
        let (mut marked, mut effective, mut too_short) = (0, 0, 0);
        for (at, _) in case.request.marked() {
            marked = marked.max(at + 1);
            if cumulative[at] >= *minimum_tokens {
                effective = effective.max(at + 1);
            } else if at < request.known {
                too_short = too_short.max(at + 1);
            }
        }
        let hit = case.predicted.blocks_read(&case.wire.prefixes);
        let live = |at: usize| if at + 1 > hit { Cause::BeyondLookback } else { Cause::Unexplained };
        // Entries after the last breakpoint cannot be read, prefixes that were never sent have none, and blocks that
        // were read need no cause.
        let held = EntryCauses::of(case, &request.nodes, unread..effective.min(request.known), live);
        Self { marked, effective, too_short, held, before: PreviousCoverage::of(case, differs) }
    }

    /// The cause that entries at or after the block at `at` support.
    pub fn own(&self, at: usize) -> Option<Cause> {
        self.held.at(at)
    }

    /// The same; without such entries, the cause from the previous request's entries at or after its block `partner`.
    pub fn held(&self, at: usize, partner: Option<usize>) -> Option<Cause> {
        let before = || partner.and_then(|partner| self.before.held.at(partner));
        self.own(at).or_else(before)
    }
}

impl Coverage {
    /// The first block after `at` with different breakpoints or entries.
    pub fn edge_behind(&self, at: usize) -> Option<usize> {
        let edges = [Some(self.marked), Some(self.effective), Some(self.too_short), self.held.edge_behind(at)];
        edges.into_iter().flatten().filter(|edge| *edge > at).min()
    }
}

impl PreviousCoverage {
    fn of(case: &BilledRequest<'_>, differs: bool) -> Self {
        let Some(previous) = case.previous else { return Self::default() };
        let covered = previous.covered();
        let looked_at = if differs { covered } else { 0 };
        let held = EntryCauses::of(case, &previous.request.nodes, 0..looked_at, |_| Cause::BeyondLookback);
        Self { marked: previous.covered_at_any_length(), covered, held }
    }
}

/// Causes that the entries of a path support.
#[derive(Default)]
struct EntryCauses {
    /// The first block that was examined.
    from: usize,
    /// By number of leading blocks that an entry covers: the first cause, in order of precedence, of this entry and the
    /// longer ones.
    causes: Vec<(usize, Cause)>,
}

impl EntryCauses {
    /// Examines the entries of the nodes in this range; `live` is the cause for an entry that is alive.
    fn of(case: &BilledRequest<'_>, nodes: &[NodeId], range: Range<usize>, live: impl Fn(usize) -> Cause) -> Self {
        let prefixes = &case.wire.prefixes;
        let path = nodes.get(range.clone()).unwrap_or(&[]);
        let first_depth = path.first().map_or(0, |first| prefixes.depth(*first));
        let marked = path.last().map(|last| case.cache.marked(prefixes, *last, first_depth));
        let mut causes = Vec::new();
        let mut first: Option<Cause> = None;
        for node in marked.into_iter().flatten() {
            let at = range.start + (prefixes.depth(node) - first_depth) as usize;
            let speaks = match case.cache.state(prefixes, node, case.at) {
                EntryState::Expired => Cause::Expired,
                EntryState::InFlight => Cause::InFlight,
                EntryState::Evicted => Cause::Evicted,
                EntryState::Live => live(at),
                EntryState::Absent => continue,
            };
            let cause = first.map_or(speaks, |first| first.min(speaks));
            first = Some(cause);
            causes.push((at + 1, cause));
        }
        causes.reverse();
        Self { from: range.start, causes }
    }

    /// The cause from the entries at or after a block; `None` without entries.
    fn at(&self, at: usize) -> Option<Cause> {
        let behind = self.causes.partition_point(|(end, _)| *end <= at);
        self.causes.get(behind).filter(|_| at >= self.from).map(|(_, cause)| *cause)
    }

    /// How many leading blocks the shortest entry after `at` covers.
    fn edge_behind(&self, at: usize) -> Option<usize> {
        self.causes.get(self.causes.partition_point(|(end, _)| *end <= at)).map(|(end, _)| *end)
    }
}
