//! The requests of a session in order of time.

use forkcast_sim::service::{FIRST_BYTE_AFTER, STEP, Times};
use forkcast_sim::time::Instant;

use crate::exchange::RecordedUsage;
use crate::transcript::{Answer, Session};

/// A request of one of the agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    /// Index of the agent.
    pub agent: usize,
    /// Index of the answer among the agent's items.
    pub item: usize,
    /// Its line.
    pub line: u32,
    /// The answer.
    pub answer: &'a Answer,
    /// When it was sent, and when the answer came.
    pub times: Times,
    /// The agent sends nothing after it.
    pub is_last: bool,
}

impl Ask<'_> {
    /// The recorded usage of its prompt.
    pub fn recorded(&self) -> Option<RecordedUsage> {
        self.answer.usage.filter(|recorded| recorded.usage.total_input_tokens() > 0)
    }
}

/// All requests, by time, then agent, then order. An agent's requests keep their order even if its clock does not.
pub(crate) fn asks(session: &Session) -> Vec<Ask<'_>> {
    let mut all = Vec::new();
    for (agent, found) in session.agents.iter().enumerate() {
        let mut latest = Instant::default();
        for (item, entry) in found.thread.items.iter().enumerate() {
            let Some(answer) = entry.answer() else { continue };
            let ask = timed(agent, item, entry.line, answer, latest);
            latest = ask.times.at;
            all.push(ask);
        }
        if let Some(ask) = all.last_mut().filter(|ask: &&mut Ask<'_>| ask.agent == agent) {
            ask.is_last = true;
        }
    }
    all.sort_by_key(|ask| (ask.times.at, ask.agent, ask.item));
    all
}

fn timed(agent: usize, item: usize, line: u32, answer: &Answer, latest: Instant) -> Ask<'_> {
    let known = answer.sent_at.or(answer.first_at);
    let at = known.unwrap_or(latest + STEP).max(latest);
    // No transcript has the first byte: it is assumed at the record of the first part, if that is earlier.
    let first_byte_at = answer.first_at.map(|first| first.min(at + FIRST_BYTE_AFTER));
    let times = Times::of(at, first_byte_at, answer.ended_at);
    Ask { agent, item, line, answer, times, is_last: false }
}
