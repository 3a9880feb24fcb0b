//! What happened to prompts unseen by the agents, as the forecast of `replay` has it: the client rebuilt a part, a hidden
//! request extended the prefix, other sessions kept it in the cache. The runtime's own cache does the rest.

use std::collections::BTreeMap;

use forkcast_replay::formats::Format;
use forkcast_replay::rebuild::forecast::Decision;
use forkcast_replay::rebuild::profile::RuleName;
use forkcast_replay::replay::{Options, foresee};
use forkcast_replay::transcript::{Agent, Answer, Session};
use forkcast_sim::model::Unseen;
use forkcast_sim::service::FRAME_TOKENS;
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Ttl;

use super::otherwise::Otherwise;
use super::rules::{CastRule, LeftOut};

/// What is foreseen of a session's requests.
#[derive(Debug, Default)]
pub(super) struct Forecasts {
    /// By index of agent and item; `None` for the first request of a conversation.
    decisions: BTreeMap<(usize, usize), Option<Decision>>,
    /// The bodies of requests are recorded: nothing of what the client did to its prompts is unseen.
    shows_prompts: bool,
    /// Agents could be built otherwise: what another build would change is not taken from the recording.
    is_compared: bool,
    /// Another lifetime of cache entries.
    ttl: Option<Ttl>,
    /// Rules that are left out.
    left_out: LeftOut,
    /// How long each agent sent nothing before a request.
    pauses: BTreeMap<(usize, usize), Duration>,
}

impl Forecasts {
    /// The forecasts of a session.
    pub fn of(session: &Session, otherwise: &Otherwise) -> Self {
        let foreseen = foresee(session, &Options::default());
        Self {
            decisions: foreseen.into_iter().map(|of| ((of.agent, of.item), of.decision)).collect(),
            shows_prompts: session.format == Format::ExchangeLog,
            is_compared: otherwise.is_compared,
            ttl: otherwise.ttl(),
            left_out: otherwise.left_out.clone(),
            pauses: session.agents.iter().enumerate().flat_map(|(at, agent)| pauses(at, agent)).collect(),
        }
    }

    /// How a request's read was foreseen; `None` for the first one of a conversation.
    pub fn decision(&self, agent: usize, item: usize) -> Option<&Decision> {
        self.decisions.get(&(agent, item))?.as_ref()
    }

    /// What happened before the request of `answer`, whose prompt lacks `dropped` tokens of its parts.
    pub fn unseen(&self, agent: usize, item: usize, answer: &Answer, dropped: Option<u64>) -> Unseen {
        let dropped = dropped.filter(|_| !self.left_out.contains(&CastRule::Dropped));
        let unseen = match self.decisions.get(&(agent, item)) {
            None => Unseen::default(),
            Some(None) => self.first(answer, agent > 0),
            Some(Some(decision)) => self.later(decision, self.pauses.get(&(agent, item)).copied(), dropped),
        };
        match self.shows_prompts {
            true => Unseen { kept_tokens: unseen.kept_tokens, ..Unseen::default() },
            false => unseen,
        }
    }

    /// The first read of a conversation is taken as given: a transcript does not show what kept it. In a comparison it is
    /// foreseen, and only what others kept is given.
    fn first(&self, answer: &Answer, is_sub_agent: bool) -> Unseen {
        let Some(usage) = answer.usage.map(|recorded| recorded.usage) else { return Unseen::default() };
        let (read, tail) = (usage.cache_read_input_tokens, usage.input_tokens);
        let is_cached = read + usage.cache_creation_input_tokens() > 0;
        let has_tail = !self.left_out.contains(&CastRule::FirstTail);
        Unseen {
            changed_after_tokens: (is_sub_agent && !self.is_compared).then_some(read),
            dropped_tokens: None,
            tail_tokens: Some(tail).filter(|tail| *tail > FRAME_TOKENS && is_cached && has_tail),
            kept_tokens: Some(read).filter(|read| *read > 0),
        }
    }

    fn later(&self, decision: &Decision, pause: Option<Duration>, dropped: Option<u64>) -> Unseen {
        let is_kept = decision.read_tokens > 0;
        let changes = match decision.rule {
            RuleName::Full | RuleName::BeyondReach => return Unseen::default(),
            _ if self.left_out.contains(&CastRule::Forecast) => return Unseen::default(),
            RuleName::Expired => (is_kept && !self.is_compared) || dropped.is_some(),
            rule => rule.cause().is_some(),
        };
        let read = decision.read_tokens;
        // A hidden request that extended the prefix came soon after the answer: its entry is over with the others.
        let is_over = self.ttl.zip(pause).is_some_and(|(ttl, pause)| pause > ttl.duration());
        let kept = is_kept && (changes || !is_over);
        Unseen {
            changed_after_tokens: changes.then_some(read),
            dropped_tokens: dropped.filter(|_| changes),
            tail_tokens: None,
            kept_tokens: kept.then_some(read),
        }
    }
}

/// How long an agent sent nothing before each of its requests.
fn pauses(number: usize, agent: &Agent) -> Vec<((usize, usize), Duration)> {
    let mut ended = None;
    let mut pauses = Vec::new();
    for (at, item) in agent.thread.items.iter().enumerate() {
        let Some(answer) = item.answer() else { continue };
        let sent = answer.sent_at.or(answer.first_at);
        pauses.extend(ended.zip(sent).map(|(ended, sent): (Instant, Instant)| ((number, at), sent.since(ended))));
        ended = answer.ended_at.or(sent).or(ended);
    }
    pauses
}
