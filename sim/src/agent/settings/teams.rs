//! Options for teams of agents (contract SWARM).

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::outside::words;
use crate::time::Duration;

words! {
    /// Where a teammate runs (SWARM-01, AGENT-35).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Place {
        /// In the leader's process: it begins with the leader's state, and can use the leader's terminal.
        #[default]
        InProcess = "in_process",
        /// In a process of its own on the same machine: it shares only the files.
        Local = "local",
        /// On another machine: it shares nothing, and works on a copy of the files.
        Remote = "remote",
    }
}

/// Options for teams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Teams {
    /// The current team (`teamContext.teamName`), which calls without `team_name` mean (contract AGENT-07).
    pub current: Option<Rc<str>>,
    /// Where teammates run, by name; others run in the leader's process.
    pub places: BTreeMap<Rc<str>, Place>,
    /// How many unread messages a mailbox holds before its senders wait (contract G12).
    pub capacity: usize,
    /// How often a mailbox is read (contract G12).
    pub poll: Duration,
    /// Whether teammates in the leader's process can ask at its terminal (SWARM-07).
    pub bridge: bool,
}

impl Default for Teams {
    fn default() -> Self {
        Self { current: None, places: BTreeMap::new(), capacity: 64, poll: Duration::from_millis(500), bridge: true }
    }
}
