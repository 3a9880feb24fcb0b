//! Scope and form of a report: names, groups, a stretch of time, limits.

use forkcast_replay::input::Inputs;
use forkcast_replay::what_if::WhatIf;
use forkcast_sim::time::Instant;

use super::{By, LeftOut, Limits, Recorded, Window, Zone};
use crate::names::Names;

/// The view of a replay. It does not change the replay.
///
/// ```
/// use forkcast_replay::input::Inputs;
/// use forkcast_replay::replay::{Options, replay};
/// use forkcast_reports::report::{By, Report, View};
///
/// let (inputs, options) = (Inputs::sample(), Options::default());
/// let replay = replay(&inputs, &options);
/// let report = Report::new(&inputs, &replay, &options, View { by: Some(By::Day), ..View::default() });
/// let days: Vec<&str> = report.groups.iter().map(|group| group.key.as_str()).collect();
/// assert_eq!(days, ["2026-11-02", "2026-11-03"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// How names are shown.
    pub names: Names,
    /// The key by which requests are grouped.
    pub by: Option<By>,
    /// The key by which each of these groups is grouped.
    pub then_by: Option<By>,
    /// The zone of days and times for people.
    pub zone: Zone,
    /// Only requests of projects with this text in their path, ignoring case.
    pub project: Option<String>,
    /// Only requests of sessions whose id begins with this.
    pub session: Option<String>,
    /// Most rows of each list for people; by default as many as fit.
    pub top: Option<usize>,
    /// The current instant: it decides how much of the current block of five hours is left.
    pub now: Option<Instant>,
    /// Requests outside are in no sum and no table.
    pub window: Window,
    /// The allowed values of the sums.
    pub limits: Limits,
    /// Whether people get everything, not only the first screen.
    pub details: bool,
    /// The what-ifs that were asked for, even ones that every replay has.
    pub what_ifs: Vec<WhatIf>,
    /// Whether the requests are those of a run, which was not recorded.
    pub is_of_run: bool,
    /// Whether it only prices what another report may advise, and advises nothing itself.
    pub is_trial: bool,
}

impl From<Names> for View {
    fn from(names: Names) -> Self {
        Self { names, ..Self::default() }
    }
}

impl View {
    /// Removes requests that do not count from `entries`, and counts them.
    pub(super) fn narrow(&self, inputs: &Inputs, entries: &mut Vec<Recorded<'_>>) -> LeftOut {
        let mut left_out = self.window.narrow(entries);
        if let Some(wanted) = self.project.as_deref().map(str::to_lowercase) {
            let before = entries.len();
            let is_wanted = |project: &str| project.to_lowercase().contains(&wanted);
            entries.retain(|entry| entry.project(inputs).is_some_and(is_wanted));
            left_out.other_projects = (before - entries.len()) as u64;
        }
        if let Some(wanted) = &self.session {
            let before = entries.len();
            entries.retain(|entry| entry.session_id().starts_with(wanted.as_str()));
            left_out.other_sessions = (before - entries.len()) as u64;
        }
        left_out
    }

    /// Whether groups are blocks of five hours.
    pub(super) fn has_blocks(&self) -> bool {
        [self.by, self.then_by].contains(&Some(By::Block))
    }
}
