//! Limits of a report's numbers, if the input shows them.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_replay::transcript::{AgentKind, Session, Sign, What};
use forkcast_sim::diagnosis::{Cause, Note};
use forkcast_sim::service::NotComparable;

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
    /// Answers without usage: they are in no sum.
    pub without_usage: u64,
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
        self.not_modelled += u64::from(counts && entry.is_foreign());
    }

    /// Limits shown by the sessions of `entries`, a part's requests.
    pub(super) fn take_sessions(&mut self, entries: &[Recorded<'_>]) {
        let sessions: BTreeMap<usize, &Session> =
            entries.iter().filter_map(|entry| entry.answered.map(|told| (told.place.session, told.session))).collect();
        sessions.into_values().for_each(|session| self.look_into(session));
    }

    fn look_into(&mut self, session: &Session) {
        let known: BTreeSet<&str> = session.agents.iter().map(|agent| &*agent.id).collect();
        let own_files = session.agents.iter().filter(|agent| agent.kind == AgentKind::Internal);
        let mut recorded_compactions = own_files.filter(|agent| agent.id.starts_with("acompact")).count() as u64;
        let mut absent = BTreeSet::new();
        for item in session.agents.iter().flat_map(|agent| &agent.thread.items) {
            match &item.what {
                What::Sign(Sign::Compacted { .. }) if recorded_compactions > 0 => recorded_compactions -= 1,
                What::Sign(Sign::Compacted { .. }) => self.compactions += 1,
                What::Sign(Sign::Spawned(result))
                    if !known.contains(&*result.agent) && absent.insert(&*result.agent) =>
                {
                    self.absent_agents += 1;
                    self.absent_tokens = self.absent_tokens.saturating_add(result.total_tokens.unwrap_or(0));
                }
                _ => {}
            }
        }
    }
}
