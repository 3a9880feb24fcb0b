//! Limits of a report's numbers, if the input shows them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forkcast_replay::transcript::{Agent, AgentKind, Item, Session, Sign, What};
use forkcast_sim::diagnosis::{Cause, Note};
use forkcast_sim::service::NotComparable;
use forkcast_sim::time::Instant;

use super::{Counted, Recorded};

/// Counts of things outside the numbers; zero if nothing shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Requests before which another request, missing in the input, changed the cache: seen by a miss, or by a read of
    /// tokens that no request in the input had sent.
    pub hidden: u64,
    /// Compactions whose own request is in no file.
    pub compactions: u64,
    /// Started sub-agents without a file.
    pub absent_agents: u64,
    /// Their tokens, if the client itself reports them.
    pub absent_tokens: u64,
    /// Requests whose prefix is hidden (system prompt and tools of a transcript) and taken as given at its first request.
    pub first_requests: u64,
    /// Requests to providers without a cache profile.
    pub not_modelled: u64,
    /// Requests without usage: they are in no sum.
    pub without_usage: u64,
    /// Those of them that were refused: nothing was billed.
    pub refused: u64,
}

/// What sessions show of other sessions; copies may repeat it.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    /// Agents with a file.
    agents: BTreeSet<Arc<str>>,
    /// Started agents with their tokens, if the client reports them.
    started: BTreeMap<Arc<str>, Option<u64>>,
    /// Compactions with their own requests in files.
    recorded_compactions: u64,
    /// Compactions, by instant; without one, by file and line.
    compactions: BTreeSet<(Option<Instant>, Arc<str>, u32)>,
}

impl Unseen {
    pub(super) fn take(&mut self, entry: &Recorded<'_>, counted: Counted) {
        let first = entry.answered.is_some() && entry.comparison == Err(NotComparable::FirstOfChain);
        self.first_requests += u64::from(first);
        let ahead = entry.line.explanation.as_ref().is_some_and(|why| why.notes.contains(&Note::ReadAhead));
        let hidden = entry.line.charge.causes.iter().any(|part| part.cause == Cause::HiddenRequest);
        self.hidden += u64::from(ahead || hidden);
        let counts = counted.counts(entry);
        self.without_usage += u64::from(!counts);
        self.refused += u64::from(!counts && entry.failed());
        self.not_modelled += u64::from(counts && entry.is_foreign());
    }

    /// Limits shown by all sessions together.
    pub(super) fn settle(&mut self, seen: &Sightings) {
        let absent = seen.started.iter().filter(|(agent, _)| !seen.agents.contains(*agent));
        for (_, tokens) in absent {
            self.absent_agents += 1;
            self.absent_tokens = self.absent_tokens.saturating_add(tokens.unwrap_or(0));
        }
        self.compactions = (seen.compactions.len() as u64).saturating_sub(seen.recorded_compactions);
    }
}

impl Sightings {
    /// Takes the sessions of `entries`, a part's requests.
    pub fn take(&mut self, entries: &[Recorded<'_>]) {
        let sessions: BTreeMap<usize, &Session> =
            entries.iter().filter_map(|entry| entry.answered.map(|told| (told.place.session, told.session))).collect();
        sessions.into_values().for_each(|session| self.look_into(session));
    }

    fn look_into(&mut self, session: &Session) {
        for agent in &session.agents {
            let is_new = self.agents.insert(agent.id.clone());
            let is_compaction = agent.kind == AgentKind::Internal && agent.id.starts_with("acompact");
            self.recorded_compactions += u64::from(is_new && is_compaction);
            agent.thread.items.iter().for_each(|item| self.item(agent, item));
        }
    }

    fn item(&mut self, agent: &Agent, item: &Item) {
        match &item.what {
            What::Sign(Sign::Compacted { .. }) => {
                let place = if item.at.is_some() { (Arc::from(""), 0) } else { (agent.file.clone(), item.line) };
                self.compactions.insert((item.at, place.0, place.1));
            }
            What::Sign(Sign::Spawned(result)) => {
                let tokens = self.started.entry(result.agent.clone()).or_default();
                *tokens = result.total_tokens.max(*tokens);
            }
            _ => {}
        }
    }
}
