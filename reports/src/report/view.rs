//! What of a replay is reported, and how: names, groups, a stretch of time, limits.

use super::{By, Limits, Window};
use crate::names::Names;

/// The view of a replay. It does not change what is replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// How names are shown.
    pub names: Names,
    /// What requests are grouped by.
    pub by: Option<By>,
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
