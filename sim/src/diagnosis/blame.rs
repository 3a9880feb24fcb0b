//! Which change of a request is to blame for a block that was not read.

use std::collections::BTreeMap;

use super::cause::Cause;
use super::difference::Comparison;
use super::shortfall::BilledRequest;
use super::subject::Subject;
use super::trials::{CacheMoment, LossTally, Trials};

/// Blocks of the newer prompt that would have been read with the changed bytes put back.
#[derive(Debug, Default)]
pub(super) struct Blame {
    causes: BTreeMap<usize, Cause>,
    /// The first change, and how many leading blocks of the older prompt would be read without any change.
    first: Option<(Cause, usize)>,
}

impl Blame {
    /// Tries the changes of a request that read its first `unread` blocks.
    pub fn of(case: &BilledRequest<'_>, comparison: Option<&Comparison>, unread: usize) -> Self {
        let Some((previous, comparison)) = case.previous.zip(comparison) else { return Self::default() };
        let Some(first) = comparison.differences.first() else { return Self::default() };
        let newer = Subject {
            number: previous.number + 1,
            request: case.request.clone(),
            cumulative: case.cumulative.to_vec(),
            minimum_tokens: case.minimum_tokens,
            refusal: case.refusal.cloned(),
        };
        let moment = CacheMoment { cache: case.cache, at: case.at };
        let trials = Trials::new(case.wire, moment, [previous, &newer], comparison, &|_| true);
        let (mut causes, mut tally) = (BTreeMap::new(), LossTally::default());
        for (at, change) in comparison.differences.iter().enumerate() {
            let lost = trials.damage(at, unread, &mut tally).lost;
            causes.extend(lost.into_iter().map(|carried| (carried.new, change.cause)));
        }
        Self { causes, first: Some((first.cause, trials.kept())) }
    }

    /// The first block from `at` on that is blamed on a change of its own.
    pub fn next(&self, at: usize) -> Option<usize> {
        self.causes.range(at..).next().map(|(at, _)| *at)
    }

    /// The change to blame for the block at `at`, which was at `partner` in the older prompt. If several changes lose
    /// it together and none alone, the first one is to blame.
    pub fn change(&self, at: usize, partner: Option<usize>) -> Option<Cause> {
        let together = || self.first.filter(|(_, kept)| partner.is_some_and(|partner| partner < *kept));
        self.causes.get(&at).copied().or_else(|| together().map(|(cause, _)| cause))
    }
}
