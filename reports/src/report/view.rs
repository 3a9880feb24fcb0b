//! What of a replay is reported, and how: names, groups, a stretch of time, limits.

use forkcast_replay::input::Inputs;
use forkcast_sim::time::Instant;

use super::{By, LeftOut, Limits, Recorded, Window, Zone};
use crate::names::Names;

/// The view of a replay. It does not change what is replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// How names are shown.
    pub names: Names,
    /// What requests are grouped by.
    pub by: Option<By>,
    /// What each of these groups is grouped by.
    pub then_by: Option<By>,
    /// The zone of days and times that people read.
    pub zone: Zone,
    /// Only requests of projects whose path holds this text, in any case.
    pub project: Option<String>,
    /// Rows of each list that people see; as many as fit without it.
    pub top: Option<usize>,
    /// When it is looked at: a block of five hours that has not ended says what is left of it.
    pub now: Option<Instant>,
    /// Requests outside are in no sum and no table.
    pub window: Window,
    /// The allowed values of the sums.
    pub limits: Limits,
    /// People see everything, not only the first screen.
    pub details: bool,
    /// The requests are those of a run, which was not recorded.
    pub is_of_run: bool,
}

impl From<Names> for View {
    fn from(names: Names) -> Self {
        Self { names, ..Self::default() }
    }
}

impl View {
    /// Takes out of `entries` what does not count, and counts it.
    pub(super) fn narrow(&self, inputs: &Inputs, entries: &mut Vec<Recorded<'_>>) -> LeftOut {
        let mut left_out = self.window.narrow(entries);
        let Some(wanted) = self.project.as_deref().map(str::to_lowercase) else { return left_out };
        let before = entries.len();
        let is_wanted = |project: &str| project.to_lowercase().contains(&wanted);
        entries.retain(|entry| entry.project(inputs).is_some_and(is_wanted));
        left_out.other_projects = (before - entries.len()) as u64;
        left_out
    }

    /// Groups are blocks of five hours.
    pub(super) fn has_blocks(&self) -> bool {
        [self.by, self.then_by].contains(&Some(By::Block))
    }
}
