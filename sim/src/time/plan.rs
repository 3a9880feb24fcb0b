//! What a run is given and how it ends.

use std::fmt;

use thiserror::Error;

use super::{Duration, Instant};

/// Tasks that the message of a run that stopped names before it only counts.
const NAMED_MAX: usize = 20;

/// How a run is to be scheduled and when it is too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// With a seed, the next task is drawn from those that are ready; without one they run first come, first served.
    pub interleave: Option<u64>,
    /// When the run is stopped.
    pub limits: Limits,
}

/// Limits of a run. Reaching one stops it with [`Stopped`]; neither is a property of what is simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Turns of tasks, all together.
    pub steps: u64,
    /// The last instant that the clock may show.
    pub until: Instant,
}

impl Default for Limits {
    /// A billion steps (minutes of real time) and a year.
    fn default() -> Self {
        Self { steps: 1_000_000_000, until: Instant::from_millis(365 * 24 * 3_600_000) }
    }
}

/// A run whose main task came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished<T> {
    /// What the main task gave.
    pub value: T,
    /// When it ended.
    pub at: Instant,
    /// Turns of tasks.
    pub steps: u64,
    /// Timers that fired; cancelled ones do not count.
    pub timer_events: u64,
}

/// A task and what it says that it waits for; `None` where it does not say.
pub type Waits = Vec<(String, Option<String>)>;

/// Why a run stopped before its main task ended.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Stopped {
    /// No task is ready and no timer is set: nothing can happen any more.
    #[error(
        "stalled at {}: every task waits and no timer is set, so nothing can happen any more. {}\
         Look for a message, a reply or a signal that nobody gives any more, or a lock that is held across a wait",
        Duration(at.0), Listed(waiting)
    )]
    Stalled {
        /// When.
        at: Instant,
        /// Every task that is not over, in the order of spawning.
        waiting: Waits,
    },
    /// The limit of steps was reached.
    #[error(
        "stopped at {} after {limit} steps; `{running}` had the last one. Look for a loop that never waits for time to \
         pass, or raise the limit of steps",
        Duration(at.0)
    )]
    Steps {
        /// The limit.
        limit: u64,
        /// When.
        at: Instant,
        /// The task that ran last.
        running: String,
    },
    /// The next timer lies behind the limit of time.
    #[error(
        "stopped at the limit of time, {}: the next timer is set for {}. {}Look for a loop without an end or a wait \
         that is too long, or raise the limit",
        Duration(until.0), Duration(next.0), Listed(waiting)
    )]
    Time {
        /// The limit.
        until: Instant,
        /// The instant of the next timer.
        next: Instant,
        /// Every task that is not over, in the order of spawning.
        waiting: Waits,
    },
}

/// The waits as sentences.
struct Listed<'a>(&'a Waits);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, what) in self.0.iter().take(NAMED_MAX) {
            match what {
                Some(what) => write!(f, "`{name}` waits for {what}. ")?,
                None => write!(f, "`{name}` waits and does not say what for. ")?,
            }
        }
        match self.0.len().saturating_sub(NAMED_MAX) {
            0 => Ok(()),
            1 => write!(f, "So does 1 more task. "),
            more => write!(f, "So do {more} more tasks. "),
        }
    }
}
