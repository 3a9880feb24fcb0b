//! How far breakpoints reach, and what the cache holds behind each block.

use std::ops::Range;

use super::cause::Cause;
use super::shortfall::BilledRequest;
use crate::cache::EntryState;
use crate::wire::NodeId;

/// How far a request's own breakpoints reach, and what the cache holds of what it repeats.
pub(super) struct Coverage {
    /// How many leading blocks its breakpoints cover, whatever their length.
    pub marked: usize,
    /// How many, counting those that are long enough.
    pub effective: usize,
    /// How many leading blocks an own breakpoint covers that earlier requests could have written, were it not too short.
    pub too_short: usize,
    /// For each unread block the causes that the entries at or behind it speak for; `None` where there is no entry.
    held: Vec<Option<Cause>>,
    /// What the chain's previous request covered.
    pub before: PreviousCoverage,
}

/// What the breakpoints of the chain's previous request covered.
#[derive(Default)]
pub(super) struct PreviousCoverage {
    /// How many leading blocks, whatever their length.
    pub marked: usize,
    /// How many, counting those that are long enough.
    pub covered: usize,
    /// For each of these why it is not read though it was written, if the request differs from this one.
    held: Vec<Option<Cause>>,
}

impl Coverage {
    /// What the cache holds, of which the first `unread` blocks were read. Entries of the previous request are looked at
    /// where the request `differs` from it.
    pub fn of(case: &BilledRequest<'_>, unread: usize, differs: bool) -> Self {
        let (mut marked, mut effective, mut too_short) = (0, 0, 0);
        for at in case.request.markers.iter().filter_map(|marker| case.request.index_of(marker)) {
            marked = marked.max(at + 1);
            if case.cumulative[at] >= case.minimum_tokens {
                effective = effective.max(at + 1);
            } else if at < case.request.known {
                too_short = too_short.max(at + 1);
            }
        }
        let hit = case.predicted.hit.map_or(0, |hit| case.wire.prefixes.depth(hit) as usize);
        let live = |at: usize| if at + 1 > hit { Cause::BeyondLookback } else { Cause::Unexplained };
        // Entries behind the last breakpoint cannot be read, prefixes nobody sent before hold none, and of what was read
        // nobody asks why it was not.
        let held = held(case, &case.request.nodes, unread..effective.min(case.request.known), live);
        Self { marked, effective, too_short, held, before: PreviousCoverage::of(case, differs) }
    }

    /// The cause that entries at or behind the block at `at` speak for.
    pub fn own(&self, at: usize) -> Option<Cause> {
        self.held[at]
    }

    /// The same, and if there are none that of the previous request's entries at or behind its block `partner`.
    pub fn held(&self, at: usize, partner: Option<usize>) -> Option<Cause> {
        let before = || partner.and_then(|partner| self.before.held.get(partner).copied().flatten());
        self.own(at).or_else(before)
    }
}

impl PreviousCoverage {
    fn of(case: &BilledRequest<'_>, differs: bool) -> Self {
        let Some(previous) = case.previous else { return Self::default() };
        let covered = previous.covered();
        let looked_at = if differs { covered } else { 0 };
        let held = held(case, &previous.request.nodes[..looked_at], 0..looked_at, |_| Cause::BeyondLookback);
        Self { marked: previous.covered_at_any_length(), covered, held }
    }
}

/// For each of the nodes in this range the first cause, in order of precedence, that the entries at or behind it speak for;
/// `live` is that of an entry that lives.
fn held(
    case: &BilledRequest<'_>,
    nodes: &[NodeId],
    range: Range<usize>,
    live: impl Fn(usize) -> Cause,
) -> Vec<Option<Cause>> {
    let mut held = vec![None; nodes.len()];
    let mut first: Option<Cause> = None;
    for at in range.rev() {
        let speaks = match case.cache.state(&case.wire.prefixes, nodes[at], case.at) {
            EntryState::Expired => Some(Cause::Expired),
            EntryState::InFlight => Some(Cause::InFlight),
            EntryState::Evicted => Some(Cause::Evicted),
            EntryState::Live => Some(live(at)),
            EntryState::Absent => None,
        };
        first = first.into_iter().chain(speaks).min();
        held[at] = first;
    }
    held
}
