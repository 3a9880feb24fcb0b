//! Threads of all files, joined into sessions. Nothing here depends on the order in which files were read.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::packed::Packed;
use super::spill::Spill;
use super::{Agent, AgentKind, Client, Item, Session, Sign, Spawn, SpawnMode, Thread, What, doubles};
use crate::formats::Format;

/// A thread that was put away, and its file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Index of the named path among the scopes.
    pub scope: usize,
    pub file: Arc<str>,
    pub format: Format,
    /// The file tells of nobody else.
    pub alone: bool,
    pub thread: Packed,
    /// Items that are copies of answers which count elsewhere, ascending.
    pub copied: Vec<u32>,
}

/// A session whose threads are put away.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub id: Arc<str>,
    pub source: String,
    pub scope: usize,
    pub format: Format,
    pub client: Client,
    pub user: Option<Arc<str>>,
    pub project: Option<Arc<str>>,
    /// In the order of its agents.
    pub threads: Vec<Found>,
}

/// Joins threads into sessions, in the order of scopes and of the files of their main agents.
pub(super) fn assemble(mut found: Vec<Found>, spill: &Spill) -> Vec<Plan> {
    found.sort_by(|one, other| (one.scope, &one.file).cmp(&(other.scope, &other.file)));
    doubles::fold(&mut found, spill);
    doubles::mark_copies(&mut found);
    let mut groups: BTreeMap<(usize, Arc<str>), Vec<Found>> = BTreeMap::new();
    for found in found {
        groups.entry((found.scope, found.thread.session.clone())).or_default().push(found);
    }
    let mut plans: Vec<Plan> =
        groups.into_iter().filter_map(|((scope, id), threads)| plan(scope, id, threads)).collect();
    plans.sort_by(|one, other| (one.scope, &one.source, &one.id).cmp(&(other.scope, &other.source, &other.id)));
    plans
}

fn plan(scope: usize, id: Arc<str>, threads: Vec<Found>) -> Option<Plan> {
    let mut kept = doubles::without_history(threads);
    kept.sort_by_cached_key(|found| (found.thread.agent.is_some(), found.thread.first_at, found.file.clone()));
    for found in &mut kept {
        found.thread.answers = Vec::new();
        found.copied.shrink_to_fit();
    }
    kept.shrink_to_fit();
    let main = kept.first()?;
    let (source, format, client) = (main.file.to_string(), main.format, main.thread.client);
    let first_known = |of: fn(&Packed) -> Option<&Arc<str>>| kept.iter().find_map(|found| of(&found.thread)).cloned();
    let user = first_known(|thread| thread.user.as_ref());
    let project = first_known(|thread| thread.project.as_ref());
    Some(Plan { id, source, scope, format, client, user, project, threads: kept })
}

impl Plan {
    /// Takes the session out of where its threads were put; they also stay there.
    pub fn session(&self, spill: &Spill) -> io::Result<Session> {
        let unpacked = self.threads.iter().map(|found| found.unpacked(spill)).collect::<io::Result<Vec<_>>>()?;
        let started = spawns(&unpacked);
        let threads = self.threads.iter().zip(unpacked);
        let agents = threads.map(|(found, thread)| agent(found.file.clone(), thread, &started)).collect();
        Ok(Session {
            id: self.id.clone(),
            source: self.source.clone(),
            scope: self.scope,
            format: self.format,
            client: self.client,
            user: self.user.clone(),
            project: self.project.clone(),
            agents,
        })
    }
}

impl Found {
    fn unpacked(&self, spill: &Spill) -> io::Result<Thread> {
        let mut thread = self.thread.unpacked(spill)?;
        for item in &self.copied {
            if let Some(What::Answer(answer)) = thread.items.get_mut(*item as usize).map(|item| &mut item.what) {
                answer.copied = true;
            }
        }
        Ok(thread)
    }
}

/// A spawn as its caller recorded it.
struct Started {
    caller: Option<Arc<str>>,
    mode: SpawnMode,
    call: u64,
}

/// What started each agent: by its id.
struct Spawns {
    of_agent: BTreeMap<Arc<str>, Started>,
    of_call: BTreeMap<u64, Spawn>,
    /// Index of each agent by id; the main agent's is the empty id.
    index: BTreeMap<Arc<str>, usize>,
}

fn spawns(threads: &[Thread]) -> Spawns {
    let mut found = Spawns { of_agent: BTreeMap::new(), of_call: BTreeMap::new(), index: BTreeMap::new() };
    for (index, thread) in threads.iter().enumerate() {
        let agent = thread.agent.clone().unwrap_or_else(|| Arc::from(""));
        found.index.entry(agent).or_insert(index);
        for item in &thread.items {
            found.note(thread, item);
        }
    }
    found
}

impl Spawns {
    fn note(&mut self, thread: &Thread, item: &Item) {
        match &item.what {
            What::Sign(Sign::Spawned(result)) => {
                let started = Started { caller: thread.agent.clone(), mode: result.mode, call: result.call };
                self.of_agent.entry(result.agent.clone()).or_insert(started);
            }
            What::Answer(answer) => {
                let spawning = answer.calls.iter().filter_map(|call| Some((call.id, call.spawn.as_deref()?.clone())));
                self.of_call.extend(spawning);
            }
            _ => {}
        }
    }
}

/// Agents that Claude Code starts for itself have names like `acompact-1f2e` (observed in 2.1.38 and 2.1.39).
const INTERNAL: [&str; 3] = ["acompact", "aprompt_suggestion", "asession_memory"];

fn agent(file: Arc<str>, thread: Thread, spawns: &Spawns) -> Agent {
    let Some(id) = thread.agent.clone() else {
        return Agent { id: Arc::from("main"), parent: None, kind: AgentKind::Main, file, thread };
    };
    let started = spawns.of_agent.get(&id);
    let spawn = started.and_then(|started| spawns.of_call.get(&started.call));
    let name = spawn.and_then(|spawn| spawn.kind.clone());
    let kind = match &name {
        _ if INTERNAL.iter().any(|word| id.starts_with(word)) => AgentKind::Internal,
        Some(name) if &**name == "fork" => AgentKind::Fork,
        _ => AgentKind::Named { name, mode: started.map(|started| started.mode) },
    };
    let caller = started.map(|started| started.caller.clone().unwrap_or_else(|| Arc::from("")));
    let parent = caller.or_else(|| Some(Arc::from(""))).and_then(|caller| spawns.index.get(&caller)).copied();
    Agent { id, parent, kind, file, thread }
}
