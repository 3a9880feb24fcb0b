//! Which change of a request is to blame for a block that was not read.

use std::collections::BTreeMap;

use super::cause::Cause;
use super::difference::Comparison;
use super::shortfall::BilledRequest;
use super::trials::{CacheMoment, Trials};

/// Blocks of the newer prompt that would have been read with the changed bytes put back, each with the change to blame.
#[derive(Debug, Default)]
pub(super) struct Blame(BTreeMap<usize, Cause>);

impl Blame {
    /// Tries the changes of a request that read its first `unread` blocks.
    pub fn of(case: &BilledRequest<'_>, comparison: Option<&Comparison>, unread: usize) -> Self {
        let Some((previous, comparison)) = case.previous.zip(comparison) else { return Self::default() };
        if comparison.differences.is_empty() {
            return Self::default();
        }
        let trials = Trials::new(case.wire, [previous, case.request], comparison, &|_| true);
        let [damage] = trials.damage([CacheMoment { recorded_read: Some(unread), cache: case.cache, at: case.at }]);
        let changes = comparison.differences.iter().zip(damage.changes);
        let blamed = changes.flat_map(|(change, damage)| damage.lost.into_iter().map(|lost| (lost.new, change.cause)));
        Self(blamed.collect())
    }

    /// The first block from `at` on that is blamed on a change.
    pub fn next(&self, at: usize) -> Option<usize> {
        self.0.range(at..).next().map(|(at, _)| *at)
    }

    /// The change to blame for the block at `at`.
    pub fn change(&self, at: usize) -> Option<Cause> {
        self.0.get(&at).copied()
    }
}
