//! A session's requests as the forecast sees them.

use std::sync::Arc;

use forkcast_sim::cache::{PositionCount, Rules};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model::{ModelId, Resolved, Vendor, resolve};
use forkcast_sim::wire::{BlockKind, Ttl, Usage};

use crate::exchange::RecordedUsage;
use crate::rebuild::forecast::{AnswerFacts, Decision, Forecast, Observation, Outgoing, Shared, Signs};
use crate::rebuild::profile::{Profile, RuleSet, version};
use crate::replay::Options;
use crate::replay::run::day_of;
use crate::source::transcript::{Ask, asks};
use crate::transcript::{AgentKind, OutputCount, Session};

/// Passes the requests of a session with their decisions to `take`; returns the observations in it, for other sessions.
pub(super) fn observe(
    session: &Session,
    number: u32,
    shared: &Shared,
    options: &Options,
    take: &mut dyn FnMut(&Ask<'_>, Option<Decision>),
) -> Vec<(u32, Instant, Observation)> {
    let rules = rules_for(options.rules, session);
    let mut threads = Threads::new(session, &rules, options.left_out);
    let mut forecast = Forecast::new(shared, rules, number, session.user.as_deref(), session.agents.len());
    for ask in &asks(session) {
        let Some((usage, resolved)) = profiled(ask) else { continue };
        let request = threads.outgoing(ask, &usage.first_pass(), &resolved);
        let decision = forecast.predict(&request);
        take(ask, decision);
        forecast.learn(&request, &threads.answered(ask, usage.last_pass()), decision.as_ref());
    }
    forecast.into_observations()
}

/// The uses of hidden prefixes in a session: the part of what it shows that no forecast is needed for.
pub(super) fn uses(session: &Session, number: u32, options: &Options) -> Vec<(u32, Instant, Observation)> {
    let rules = rules_for(options.rules, session);
    let mut threads = Threads::new(session, &rules, options.left_out);
    let shared = Shared::default();
    let mut forecast = Forecast::new(&shared, rules, number, session.user.as_deref(), session.agents.len());
    let mut uses = Vec::new();
    for ask in &asks(session) {
        let Some((usage, resolved)) = profiled(ask) else { continue };
        let request = threads.outgoing(ask, &usage.first_pass(), &resolved);
        let used = forecast.use_by(&request);
        // The session in which a copy counts shows it.
        if !ask.answer.copied {
            uses.push((number, request.at, used));
        }
    }
    uses
}

/// The rules that fit a session: those asked for, else those of its first day.
pub(super) fn rules_for(asked: Option<Rules>, session: &Session) -> Rules {
    let first = session.agents.iter().flat_map(|agent| &agent.thread.items).find_map(|item| item.at);
    asked.unwrap_or_else(|| Rules::for_recording(first.map(day_of)))
}

/// Usage and model of a request that a cache profile exists for.
pub(super) fn profiled(ask: &Ask<'_>) -> Option<(RecordedUsage, Resolved)> {
    let resolved = resolve(&ask.answer.model).filter(|resolved| resolved.id.row().vendor == Vendor::Anthropic)?;
    Some((ask.recorded()?, resolved))
}

/// Where each agent's thread has been read to.
pub(super) struct Threads<'a> {
    session: &'a Session,
    /// Index of each agent's previous answer.
    previous: Vec<Option<usize>>,
    ttl: Vec<Ttl>,
    count: PositionCount,
    left_out: RuleSet,
    /// The habits of the latest request, for its version and model.
    latest: Option<(Option<Arc<str>>, ModelId, Profile)>,
}

impl<'a> Threads<'a> {
    /// The habits `left_out` are ignored.
    pub fn new(session: &'a Session, rules: &Rules, left_out: RuleSet) -> Self {
        let agents = session.agents.len();
        let count = rules.look_back.count;
        Self {
            session,
            previous: vec![None; agents],
            ttl: vec![Ttl::FiveMinutes; agents],
            count,
            left_out,
            latest: None,
        }
    }

    /// The request, as far as it is known when it goes out; of its usage the total and the lifetime.
    pub fn outgoing(&mut self, ask: &Ask<'a>, usage: &Usage, resolved: &Resolved) -> Outgoing<'a> {
        let profile = self.profile(ask, resolved);
        let items = &self.session.agents[ask.agent].thread.items;
        let previous = self.previous[ask.agent].replace(ask.item);
        let answer = previous.and_then(|at| items[at].answer());
        let from = previous.map_or(0, |at| at + 1);
        if let Some(ttl) = usage.longest_ttl() {
            self.ttl[ask.agent] = ttl;
        }
        Outgoing {
            agent: ask.agent,
            at: ask.times.at,
            line: ask.line,
            model: &ask.answer.model,
            version: ask.answer.version.as_ref(),
            effort: ask.answer.effort.as_ref(),
            at_once: ask.answer.at_once,
            fast: ask.answer.usage.is_some_and(|usage| usage.fast == Some(true)),
            profile,
            ttl: self.ttl[ask.agent],
            total_tokens: usage.total_input_tokens(),
            signs: Signs::of(answer, &items[from..ask.item], self.count),
        }
    }

    fn profile(&mut self, ask: &Ask<'a>, resolved: &Resolved) -> Profile {
        let of = &ask.answer.version;
        match &self.latest {
            Some((version, model, profile)) if version == of && *model == resolved.id => *profile,
            _ => {
                let profile = Profile::of(self.session.format, of.as_deref().map(version), resolved, self.left_out);
                self.latest = Some((of.clone(), resolved.id, profile));
                profile
            }
        }
    }

    /// The answer.
    pub fn answered(&self, ask: &Ask<'a>, usage: Usage) -> AnswerFacts {
        let answer = ask.answer;
        let thinking = answer.parts.iter().filter(|part| part.kind == BlockKind::Thinking);
        AnswerFacts {
            ended_at: ask.times.ended_at,
            usage,
            output_tokens: (answer.output == OutputCount::Final).then_some(usage.output_tokens),
            turn_over: answer.calls.is_empty(),
            thinking_bytes: thinking.map(|part| u64::from(part.bytes)).sum(),
            loads_tools: answer.calls.iter().any(|call| &*call.tool == "ToolSearch"),
            copied: answer.copied,
            compacts: self.session.agents[ask.agent].kind == AgentKind::Internal,
        }
    }
}
