//! What sessions of one user share: which hidden prefixes were read when, and who was active. Built in a first pass;
//! consulted only for instants before a request, so that the order of files never matters.

use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::time::{Duration, Instant};

use crate::transcript::{Session, What};

/// Whose, which version, which model.
type Key = (Option<Arc<str>>, Option<Arc<str>>, Arc<str>);

/// See the module.
#[derive(Debug, Default)]
pub struct Shared {
    /// Reads of chains' first requests: hidden prefixes, by time.
    landings: BTreeMap<Key, Vec<(Instant, u64)>>,
    /// Requests by user and model: instant and session.
    activity: BTreeMap<(Option<Arc<str>>, Arc<str>), Vec<(Instant, u32)>>,
}

impl Shared {
    /// The first pass.
    pub fn of(sessions: &[Session]) -> Self {
        let mut shared = Self::default();
        for (at, session) in sessions.iter().enumerate() {
            shared.session(u32::try_from(at).unwrap_or(u32::MAX), session);
        }
        for landings in shared.landings.values_mut() {
            landings.sort_unstable();
        }
        for instants in shared.activity.values_mut() {
            instants.sort_unstable();
        }
        shared
    }

    fn session(&mut self, number: u32, session: &Session) {
        for agent in &session.agents {
            let mut first = true;
            for item in &agent.thread.items {
                let What::Answer(answer) = &item.what else { continue };
                let (Some(at), Some(recorded)) = (answer.sent_at, answer.usage) else { continue };
                let read = recorded.usage.cache_read_input_tokens;
                if first && read > 0 && agent.parent.is_none() {
                    let key = (session.user.clone(), answer.version.clone(), answer.model.clone());
                    self.landings.entry(key).or_default().push((at, read));
                }
                first = false;
                let key = (session.user.clone(), answer.model.clone());
                self.activity.entry(key).or_default().push((at, number));
            }
        }
    }

    /// The newest hidden prefix that another session of this user, version and model showed before `at`.
    pub fn landing(
        &self,
        user: Option<&Arc<str>>,
        version: Option<&Arc<str>>,
        model: &Arc<str>,
        at: Instant,
    ) -> Option<u64> {
        let landings = self.landings.get(&(user.cloned(), version.cloned(), model.clone()))?;
        let before = landings.partition_point(|(then, _)| *then < at);
        before.checked_sub(1).and_then(|newest| landings.get(newest)).map(|(_, tokens)| *tokens)
    }

    /// Another session than `session` of this user and model sent a request within `span` before `at`.
    pub fn active(&self, user: Option<&Arc<str>>, model: &Arc<str>, session: u32, at: Instant, span: Duration) -> bool {
        let Some(instants) = self.activity.get(&(user.cloned(), model.clone())) else { return false };
        let before = instants.partition_point(|(then, _)| *then < at);
        instants[..before].iter().rev().take_while(|(then, _)| at.since(*then) <= span).any(|(_, who)| *who != session)
    }
}
