//! What happened to prompts unseen by the agents, as the forecast of `replay` has it: the client rebuilt a part, a hidden
//! request extended the prefix, other sessions kept it in the cache. The runtime's own cache does the rest.

use std::collections::BTreeMap;

use forkcast_replay::formats::Format;
use forkcast_replay::rebuild::forecast::Decision;
use forkcast_replay::rebuild::profile::RuleName;
use forkcast_replay::replay::{Options, foresee};
use forkcast_replay::transcript::{Answer, Session};
use forkcast_sim::model::Unseen;
use forkcast_sim::service::FRAME_TOKENS;

/// What is foreseen of a session's requests.
#[derive(Debug, Default)]
pub(super) struct Forecasts {
    /// By index of agent and item; `None` for the first request of a conversation.
    decisions: BTreeMap<(usize, usize), Option<Decision>>,
    /// The bodies of requests are recorded: nothing of what the client did to its prompts is unseen.
    shows_prompts: bool,
}

impl Forecasts {
    /// The forecasts of a session.
    pub fn of(session: &Session) -> Self {
        let foreseen = foresee(session, &Options::default());
        Self {
            decisions: foreseen.into_iter().map(|of| ((of.agent, of.item), of.decision)).collect(),
            shows_prompts: session.format == Format::ExchangeLog,
        }
    }

    /// The rule by which a request's read was foreseen.
    pub fn rule(&self, agent: usize, item: usize) -> Option<RuleName> {
        self.decisions.get(&(agent, item)).copied().flatten().map(|decision| decision.rule)
    }

    /// What happened before the request of `answer`.
    pub fn unseen(&self, agent: usize, item: usize, answer: &Answer) -> Unseen {
        let unseen = match self.decisions.get(&(agent, item)) {
            None => Unseen::default(),
            Some(None) => first(answer, agent > 0),
            Some(Some(decision)) => later(decision),
        };
        match self.shows_prompts {
            true => Unseen { kept_tokens: unseen.kept_tokens, ..Unseen::default() },
            false => unseen,
        }
    }
}

/// The first read of a conversation is taken as given: a transcript does not show what kept it.
fn first(answer: &Answer, is_sub_agent: bool) -> Unseen {
    let Some(usage) = answer.usage.map(|recorded| recorded.usage) else { return Unseen::default() };
    let (read, tail) = (usage.cache_read_input_tokens, usage.input_tokens);
    let is_cached = read + usage.cache_creation_input_tokens() > 0;
    Unseen {
        changed_after_tokens: is_sub_agent.then_some(read),
        tail_tokens: Some(tail).filter(|tail| *tail > FRAME_TOKENS && is_cached),
        kept_tokens: Some(read).filter(|read| *read > 0),
    }
}

fn later(decision: &Decision) -> Unseen {
    let is_kept = decision.read_tokens > 0;
    let changes = match decision.rule {
        RuleName::Full | RuleName::BeyondReach => return Unseen::default(),
        RuleName::Expired => is_kept,
        rule => rule.cause().is_some(),
    };
    let read = decision.read_tokens;
    Unseen { changed_after_tokens: changes.then_some(read), tail_tokens: None, kept_tokens: is_kept.then_some(read) }
}
