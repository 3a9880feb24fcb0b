//! What happened to prompts unseen by the agents, as the forecast of `replay` has it: the client rebuilt a part, a hidden
//! request extended the prefix, other sessions kept it in the cache. The runtime's own cache does the rest.

use std::collections::BTreeMap;

use forkcast_replay::formats::Format;
use forkcast_replay::rebuild::forecast::Decision;
use forkcast_replay::rebuild::profile::RuleName;
use forkcast_replay::replay::Foreseen;
use forkcast_replay::transcript::{Agent, AgentKind, Answer, DiagnosisKind, Item, Session};
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
    /// The lifetime of the session's entries.
    session_ttl: Option<Ttl>,
    /// The lifetimes that requests asked for, where they are not those of the session.
    lifetimes: BTreeMap<(usize, usize), Ttl>,
    /// Rules that are left out.
    left_out: LeftOut,
    /// Where the prompts changed of which the provider said which part of them had.
    named: BTreeMap<(usize, usize), u64>,
    /// How long each agent sent nothing before a request.
    pauses: BTreeMap<(usize, usize), Duration>,
}

impl Forecasts {
    /// The forecasts of a session.
    pub fn of(session: &Session, otherwise: &Otherwise, foreseen: Vec<Foreseen>) -> Self {
        Self {
            decisions: foreseen.into_iter().map(|of| ((of.agent, of.item), of.decision)).collect(),
            shows_prompts: session.format == Format::ExchangeLog,
            is_compared: otherwise.is_compared,
            ttl: otherwise.ttl(),
            session_ttl: session_ttl(session),
            lifetimes: lifetimes(session),
            left_out: otherwise.left_out.clone(),
            named: session.agents.iter().enumerate().flat_map(|(at, agent)| named(at, agent)).collect(),
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
            Some(Some(decision)) => {
                let tail_tokens = self.tail(answer, CastRule::LaterTail);
                let pause = self.pauses.get(&(agent, item)).copied();
                let lives = self.lifetime(agent, item).or(self.session_ttl).unwrap_or(Ttl::FiveMinutes).duration();
                // Something unseen kept what is foreseen after its lifetime.
                let outlives = decision.rule == RuleName::Full && pause.is_some_and(|pause| pause > lives);
                match self.named.get(&(agent, item)).filter(|_| decision.rule.cause().is_none()) {
                    Some(read) if !self.left_out.contains(&CastRule::Diagnosed) => {
                        let read = Some(*read);
                        let dropped_tokens = dropped;
                        Unseen { changed_after_tokens: read, dropped_tokens, tail_tokens, kept_tokens: read, ttl: None }
                    }
                    _ => Unseen { tail_tokens, ..self.later(decision, pause, outlives, dropped) },
                }
            }
        };
        match self.shows_prompts {
            true => Unseen { kept_tokens: unseen.kept_tokens, ..Unseen::default() },
            false => Unseen { ttl: self.lifetime(agent, item), ..unseen },
        }
    }

    /// The lifetime that a request asked for, if it is not the session's.
    fn lifetime(&self, agent: usize, item: usize) -> Option<Ttl> {
        let is_recorded = self.ttl.is_none() && !self.left_out.contains(&CastRule::Lifetimes);
        self.lifetimes.get(&(agent, item)).copied().filter(|_| is_recorded)
    }

    /// The first read of a conversation is taken as given: a transcript does not show what kept it. In a comparison it is
    /// foreseen, and only what others kept is given.
    fn first(&self, answer: &Answer, is_sub_agent: bool) -> Unseen {
        let Some(usage) = answer.usage.map(|recorded| recorded.usage) else { return Unseen::default() };
        let read = usage.cache_read_input_tokens;
        Unseen {
            changed_after_tokens: (is_sub_agent && !self.is_compared).then_some(read),
            dropped_tokens: None,
            tail_tokens: self.tail(answer, CastRule::FirstTail),
            kept_tokens: Some(read).filter(|read| *read > 0),
            ttl: None,
        }
    }

    /// The plain input of a request: what follows its breakpoint, if `rule` holds.
    fn tail(&self, answer: &Answer, rule: CastRule) -> Option<u64> {
        let usage = answer.usage?.usage;
        let is_cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens() > 0;
        let has_tail = usage.input_tokens > FRAME_TOKENS && is_cached && !self.left_out.contains(&rule);
        has_tail.then_some(usage.input_tokens)
    }

    fn later(&self, decision: &Decision, pause: Option<Duration>, outlives: bool, dropped: Option<u64>) -> Unseen {
        let is_kept = decision.read_tokens > 0;
        let changes = match decision.rule {
            RuleName::Full | RuleName::BeyondReach if !outlives => return Unseen::default(),
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
            ttl: None,
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

/// Where an agent's prompts changed of which the provider said that a part of them had (all 34 such requests of 2.1.119 to
/// 2.1.217 in the open recordings, whose request before is known, missed): where they changed last, else what its first request
/// read.
fn named(number: usize, agent: &Agent) -> Vec<((usize, usize), u64)> {
    let (mut landing, mut left) = (None, 0);
    let mut named = Vec::new();
    for (at, item) in agent.thread.items.iter().enumerate() {
        let Some((answer, usage)) = item.answer().and_then(|answer| Some((answer, answer.usage?.usage))) else {
            continue;
        };
        let read = usage.cache_read_input_tokens;
        let names_a_part = answer.diagnosis.is_some_and(|diagnosis| {
            use DiagnosisKind::{MessagesChanged, SystemChanged, ToolsChanged};
            matches!(diagnosis.kind, SystemChanged | ToolsChanged | MessagesChanged)
        });
        named.extend(landing.filter(|_| names_a_part).map(|landing| ((number, at), landing)));
        if landing.is_none() || read * 10 < left * 9 {
            landing = Some(read);
        }
        left = read + usage.cache_creation_input_tokens();
    }
    named
}

/// The lifetime of a session's cache entries: the first that its main agent was billed for.
pub(super) fn session_ttl(session: &Session) -> Option<Ttl> {
    let main = session.agents.iter().find(|agent| agent.kind == AgentKind::Main)?;
    main.thread.items.iter().find_map(billed_ttl)
}

fn billed_ttl(item: &Item) -> Option<Ttl> {
    item.answer()?.usage?.usage.longest_ttl()
}

/// The lifetimes of requests that are not the session's. One that wrote nothing has that of its agent's request before it.
fn lifetimes(session: &Session) -> BTreeMap<(usize, usize), Ttl> {
    let common = session_ttl(session);
    let mut lifetimes = BTreeMap::new();
    for (number, agent) in session.agents.iter().enumerate() {
        let mut newest = None;
        for (at, item) in agent.thread.items.iter().enumerate().filter(|(_, item)| item.answer().is_some()) {
            newest = billed_ttl(item).or(newest);
            let other = newest.filter(|ttl| Some(*ttl) != common);
            lifetimes.extend(other.map(|ttl| ((number, at), ttl)));
        }
    }
    lifetimes
}
