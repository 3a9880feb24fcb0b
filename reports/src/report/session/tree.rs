//! The agents of a transcript's session as a tree: which agent started which, how it ran, and its cost with all its
//! descendants.

use std::collections::BTreeMap;

use forkcast_replay::transcript::{self, AgentKind, Sign, What};
use forkcast_sim::time::Instant;

use super::{Agent, named, unique};
use crate::names::Names;
use crate::report::{Counted, Recorded, Side};

/// Start of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawned {
    /// The caller's file.
    pub file: String,
    /// Line of the call.
    pub line: usize,
    /// The instant.
    pub at: Option<Instant>,
}

/// The agents with requests among `entries` and their parents, in the session's order; and the position of each of the
/// session's agents among them.
pub(super) fn agents(
    session: &transcript::Session,
    entries: &[&Recorded<'_>],
    names: Names,
    counted: Counted,
) -> (Vec<Agent>, Vec<Option<usize>>) {
    let first = firsts(session);
    let mut own = vec![(0_u64, Side::default()); session.agents.len()];
    for (entry, answered) in entries.iter().filter_map(|entry| entry.answered.map(|answered| (entry, answered))) {
        if let Some(sum) = first.get(answered.place.agent).and_then(|at| own.get_mut(*at)) {
            sum.0 += 1;
            sum.1.count(entry, counted);
        }
    }
    let mut with_children = vec![None; session.agents.len()];
    for (at, (requests, side)) in own.iter().enumerate().filter(|(_, (requests, _))| *requests > 0) {
        for above in line_of(session, &first, at) {
            let sum: &mut (u64, Side) = with_children[above].get_or_insert_default();
            sum.0 += requests;
            sum.1.add(side);
        }
    }
    let mut places = vec![None; session.agents.len()];
    let kept = with_children.iter().enumerate().filter(|(_, sum)| sum.is_some()).map(|(at, _)| at);
    kept.enumerate().for_each(|(place, at)| places[at] = Some(place));
    (0..places.len()).for_each(|at| places[at] = places[first[at]]);
    let events = Events::of(session);
    let mut taken = BTreeMap::new();
    let found = session.agents.iter().enumerate().filter(|(at, _)| places[*at].is_some() && first[*at] == *at).map(
        |(at, agent)| {
            let (requests, billed) = own[at];
            Agent {
                id: unique(&id(agent, names), &mut taken),
                parent: agent
                    .parent
                    .filter(|parent| first.get(*parent) != Some(&at))
                    .and_then(|parent| *places.get(parent)?),
                kind: named(&agent.kind, names),
                spawned: events.spawned.get(&*agent.id).map(|spawned| spawned.named(names)),
                notifications: events.notified.get(&*agent.id).copied().unwrap_or(0),
                resumptions: resumptions(agent) + events.resumed.get(&*agent.id).copied().unwrap_or(0),
                requests,
                billed,
                with_children: with_children[at].unwrap_or_default().1,
            }
        },
    );
    (found.collect(), places)
}

/// For each id the first agent: several files may each have a part of one agent.
fn firsts(session: &transcript::Session) -> Vec<usize> {
    let mut known = BTreeMap::new();
    session.agents.iter().enumerate().map(|(at, agent)| *known.entry(&*agent.id).or_insert(at)).collect()
}

/// An agent and its ancestors; a cycle, which only damage can make, is followed once.
fn line_of(session: &transcript::Session, first: &[usize], from: usize) -> Vec<usize> {
    let mut line = vec![from];
    while let Some(parent) = line.last().and_then(|last| first.get(session.agents.get(*last)?.parent?)).copied() {
        if line.contains(&parent) {
            break;
        }
        line.push(parent);
    }
    line
}

fn id(agent: &transcript::Agent, names: Names) -> String {
    match agent.kind {
        // The word is ours and has no information.
        AgentKind::Main => agent.id.to_string(),
        _ => names.agent(&agent.id),
    }
}

/// How often a process resumed the conversation.
fn resumptions(agent: &transcript::Agent) -> u64 {
    let signs = agent.thread.items.iter().filter(|item| matches!(item.what, What::Sign(Sign::Restarted)));
    signs.count() as u64
}

/// What the threads of a session contain about other agents, by their ids.
#[derive(Default)]
struct Events<'a> {
    spawned: BTreeMap<&'a str, Spawned>,
    notified: BTreeMap<&'a str, u64>,
    resumed: BTreeMap<&'a str, u64>,
}

impl<'a> Events<'a> {
    /// Nothing for a lone agent, so that long sessions are not searched in vain.
    fn of(session: &'a transcript::Session) -> Self {
        let mut events = Self::default();
        if session.agents.len() < 2 {
            return events;
        }
        for agent in &session.agents {
            for item in &agent.thread.items {
                events.note(agent, item);
            }
        }
        events
    }

    fn note(&mut self, agent: &transcript::Agent, item: &'a transcript::Item) {
        match &item.what {
            What::Sign(Sign::Spawned(result)) => {
                let found = || Spawned { file: agent.file.to_string(), line: item.line as usize, at: item.at };
                self.spawned.entry(&result.agent).or_insert_with(found);
            }
            What::Sign(Sign::Notified { task, .. }) => *self.notified.entry(task).or_default() += 1,
            What::Answer(answer) => {
                let spawns = answer.calls.iter().filter_map(|call| call.spawn.as_deref());
                for resumed in spawns.filter_map(|spawn| spawn.resumes.as_deref()) {
                    *self.resumed.entry(resumed).or_default() += 1;
                }
            }
            _ => {}
        }
    }
}

impl Spawned {
    fn named(&self, names: Names) -> Self {
        Self { file: names.file(&self.file), ..self.clone() }
    }
}
