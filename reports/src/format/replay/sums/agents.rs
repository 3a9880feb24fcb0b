//! The agents of a session: a tree in a list, parents by their ids.

use serde::Serialize;

use crate::format::number::{Millis, Usd};
use crate::format::usage::UsageObject;
use crate::report::{Agent, Session, Side, Spawned};

/// An agent, or a chain of recorded requests.
#[derive(Serialize)]
pub(super) struct AgentObject {
    id: String,
    parent: Option<String>,
    kind: &'static str,
    name: Option<String>,
    mode: Option<&'static str>,
    spawned: Option<SpawnedObject>,
    notifications: u64,
    resumptions: u64,
    requests: u64,
    usage: UsageObject,
    cost_usd: Option<Usd>,
    with_children: WithChildrenObject,
}

#[derive(Serialize)]
struct SpawnedObject {
    file: String,
    line: usize,
    at_ms: Option<Millis>,
}

#[derive(Serialize)]
struct WithChildrenObject {
    usage: UsageObject,
    cost_usd: Option<Usd>,
}

/// All agents of a session.
pub(super) fn objects(session: &Session) -> Vec<AgentObject> {
    session.agents.iter().map(|agent| object(session, agent)).collect()
}

fn object(session: &Session, agent: &Agent) -> AgentObject {
    let parent = agent.parent.and_then(|parent| session.agents.get(parent));
    AgentObject {
        id: agent.id.clone(),
        parent: parent.map(|parent| parent.id.clone()),
        kind: agent.kind,
        name: agent.name.clone(),
        mode: agent.mode,
        spawned: agent.spawned.as_ref().map(spawned),
        notifications: agent.notifications,
        resumptions: agent.resumptions,
        requests: agent.requests,
        usage: (&agent.billed.usage).into(),
        cost_usd: agent.billed.cost.map(Usd),
        with_children: with_children(&agent.with_children),
    }
}

fn spawned(spawned: &Spawned) -> SpawnedObject {
    SpawnedObject { file: spawned.file.clone(), line: spawned.line, at_ms: spawned.at.map(Millis) }
}

fn with_children(side: &Side) -> WithChildrenObject {
    WithChildrenObject { usage: (&side.usage).into(), cost_usd: side.cost.map(Usd) }
}
