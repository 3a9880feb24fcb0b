//! Who sent requests. This is known part by part, while a report is still being summed up.

use std::collections::BTreeMap;

use forkcast_replay::input::Inputs;

use super::session::{self, Chain, Session};
use super::{Recorded, Report, group};
use crate::names::Names;

/// The senders of all requests so far.
#[derive(Clone, Copy)]
pub struct Senders<'a> {
    /// The input.
    pub inputs: &'a Inputs,
    /// How names are shown.
    pub names: Names,
    pub(super) sessions: &'a [Session],
    pub(super) chains: &'a BTreeMap<usize, Chain>,
}

impl<'a> From<&'a Report<'_>> for Senders<'a> {
    fn from(report: &'a Report<'_>) -> Self {
        Self { inputs: report.inputs, names: report.names, sessions: &report.sessions, chains: &report.chains }
    }
}

impl<'a> Senders<'a> {
    /// The session that a request belongs to.
    pub fn session_of(&self, entry: &Recorded<'_>) -> Option<&'a Session> {
        session::of(self.sessions, entry.line.session)
    }

    /// The id of the agent that sent a request; `None` if no profile could read it.
    pub fn agent_of(&self, entry: &Recorded<'_>) -> Option<&'a str> {
        match entry.answered {
            Some(answered) => Some(&self.session_of(entry)?.agent(answered.place.agent)?.id),
            None => Some(&self.chains.get(&entry.chain?)?.id),
        }
    }

    /// The kind of the agent that sent a request: `main`, `fork`, or the requested type.
    pub fn kind_of(&self, entry: &Recorded<'_>) -> Option<String> {
        group::kind(entry, self.sessions, self.chains)
    }
}
