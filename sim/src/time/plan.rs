//! The inputs of a run, and how it ends.

use std::fmt;

use thiserror::Error;

use super::{Duration, Instant};

/// Number of tasks that the message of a stopped run names before it only counts them.
const NAMED_MAX: usize = 20;

/// How a run is scheduled and when it is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// With a seed, the next task is drawn from the ready tasks; without one the order is FIFO.
    pub interleave: Option<u64>,
    /// When the run is stopped.
    pub limits: Limits,
}

/// Limits of a run. Reaching one stops it with [`Stopped`]; they are not properties of the simulated system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Total turns of all tasks.
    pub steps: u64,
    /// The latest instant that the clock may reach.
    pub until: Instant,
}

impl Default for Limits {
    /// A billion steps (minutes of real time) and a year.
    fn default() -> Self {
        Self { steps: 1_000_000_000, until: Instant::from_millis(365 * 24 * 3_600_000) }
    }
}

/// A run whose main task has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished<T> {
    /// The value of the main task.
    pub value: T,
    /// When it ended.
    pub at: Instant,
    /// Turns of tasks.
    pub steps: u64,
    /// Timers that fired; cancelled ones do not count.
    pub timer_events: u64,
}

/// Tasks and what they wait for; `None` if a task does not say.
pub type Waits = Vec<(String, Option<String>)>;

/// Why a run stopped before its main task ended.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Stopped {
    /// No task is ready and no timer is set, so nothing can happen any more.
    #[error(
        "stalled at {}: every task waits and no timer is set. {}\
         Look for a message, reply or signal that is never sent, or a lock that is held across a wait",
        Duration(at.0), Listed(waiting)
    )]
    Stalled {
        /// The instant.
        at: Instant,
        /// All unfinished tasks, in spawning order.
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
        /// The instant.
        at: Instant,
        /// The task that ran last.
        running: String,
    },
    /// The next timer is after the time limit.
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
        /// All unfinished tasks, in spawning order.
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
