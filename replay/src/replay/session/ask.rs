//! The requests of a session in order of time.

use forkcast_sim::time::{Duration, Instant};

use crate::transcript::{Answer, Session, What};

/// A request of one of the agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    /// Which agent.
    pub agent: usize,
    /// Index of the answer among the agent's items.
    pub item: usize,
    /// Its line.
    pub line: u32,
    /// The answer.
    pub answer: &'a Answer,
    /// When it was sent.
    pub at: Instant,
    /// When the answer began.
    pub first_byte_at: Instant,
    /// When it ended.
    pub ended_at: Instant,
    /// The agent sends nothing after it.
    pub is_last: bool,
}

/// Where the first byte is not recorded (no transcript has it) it is taken to come so long after the request, or when the
/// first part was written down if that is earlier.
const FIRST_BYTE_AFTER: Duration = Duration::from_secs(2);

/// Distance of requests without instants.
const STEP: Duration = Duration::from_secs(1);

/// All requests, by time, then agent, then order. An agent's requests never overtake each other, whatever its clock says.
pub(crate) fn asks(session: &Session) -> Vec<Ask<'_>> {
    let mut all = Vec::new();
    for (agent, found) in session.agents.iter().enumerate() {
        let mut latest = Instant::default();
        for (item, entry) in found.thread.items.iter().enumerate() {
            let What::Answer(answer) = &entry.what else { continue };
            let ask = timed(agent, item, entry.line, answer, latest);
            latest = ask.at;
            all.push(ask);
        }
        if let Some(ask) = all.last_mut().filter(|ask: &&mut Ask<'_>| ask.agent == agent) {
            ask.is_last = true;
        }
    }
    all.sort_by_key(|ask| (ask.at, ask.agent, ask.item));
    all
}

fn timed(agent: usize, item: usize, line: u32, answer: &Answer, latest: Instant) -> Ask<'_> {
    let known = answer.sent_at.or(answer.first_at);
    let at = known.unwrap_or(latest + STEP).max(latest);
    let guess = at + FIRST_BYTE_AFTER;
    let ended_at = answer.ended_at.unwrap_or(guess).max(at);
    let first_byte_at = answer.first_at.unwrap_or(guess).min(guess).clamp(at, ended_at);
    Ask { agent, item, line, answer, at, first_byte_at, ended_at, is_last: false }
}
