//! The service that runs agents on other machines (contract AGENT-27).

use std::rc::Rc;

use crate::agent::world::pattern::Pattern;
use crate::time::Duration;

/// What the service does with a task. The first one that fits the prompt counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteRun {
    /// The prompts that it is for.
    pub prompt: Pattern,
    /// What the agent reports, or why it failed.
    pub result: Rc<str>,
    /// Whether it fails.
    pub fails: bool,
    /// How long it takes; `None` for a run that never ends by itself.
    pub takes: Option<Duration>,
}
