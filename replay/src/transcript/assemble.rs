//! Threads of all files, joined into sessions. Nothing here depends on the order in which files were read.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Agent, AgentKind, Item, Session, Sign, Spawn, SpawnMode, Thread, What, doubles};
use crate::formats::Format;

/// The threads of one file.
#[derive(Debug)]
pub struct FileThreads {
    /// Index of the named path among the scopes.
    pub scope: usize,
    /// The file.
    pub file: Arc<str>,
    /// How it was read.
    pub format: Format,
    /// Its threads.
    pub threads: Vec<Thread>,
}

/// Joins threads into sessions, in the order of scopes and of the files of their main agents.
pub fn assemble(mut files: Vec<FileThreads>) -> Vec<Session> {
    files.sort_by(|one, other| (one.scope, &one.file).cmp(&(other.scope, &other.file)));
    let mut found: Vec<Found> = files.into_iter().flat_map(Found::of).collect();
    doubles::fold(&mut found);
    doubles::mark_copies(&mut found);
    let mut groups: BTreeMap<(usize, Arc<str>), Vec<Found>> = BTreeMap::new();
    for found in found {
        groups.entry((found.scope, found.thread.session.clone())).or_default().push(found);
    }
    let mut sessions: Vec<Session> =
        groups.into_iter().filter_map(|((scope, id), threads)| session(scope, id, threads)).collect();
    sessions.sort_by(|one, other| (one.scope, &one.source, &one.id).cmp(&(other.scope, &other.source, &other.id)));
    sessions
}

/// A thread and its file.
pub(super) struct Found {
    pub scope: usize,
    file: Arc<str>,
    format: Format,
    /// The file tells of nobody else.
    pub alone: bool,
    pub thread: Thread,
}

impl Found {
    fn of(read: FileThreads) -> impl Iterator<Item = Self> {
        let FileThreads { scope, file, format, threads } = read;
        let alone = threads.len() == 1;
        threads.into_iter().map(move |thread| Self { scope, file: file.clone(), format, alone, thread })
    }
}

fn session(scope: usize, id: Arc<str>, threads: Vec<Found>) -> Option<Session> {
    let mut kept = doubles::without_history(threads);
    kept.sort_by_cached_key(|found| (found.thread.agent.is_some(), first_instant(&found.thread), found.file.clone()));
    let main = kept.first()?;
    let (source, format, client) = (main.file.to_string(), main.format, main.thread.client);
    let first_known = |of: fn(&Thread) -> Option<&Arc<str>>| kept.iter().find_map(|found| of(&found.thread)).cloned();
    let user = first_known(|thread| thread.user.as_ref());
    let project = first_known(|thread| thread.project.as_ref());
    let started = spawns(&kept);
    let agents = kept.into_iter().map(|found| agent(found, &started)).collect();
    Some(Session { id, source, scope, format, client, user, project, agents })
}

fn first_instant(thread: &Thread) -> Option<forkcast_sim::time::Instant> {
    thread.items.iter().find_map(|item| item.at)
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

fn spawns(threads: &[Found]) -> Spawns {
    let mut found = Spawns { of_agent: BTreeMap::new(), of_call: BTreeMap::new(), index: BTreeMap::new() };
    for (index, entry) in threads.iter().enumerate() {
        let agent = entry.thread.agent.clone().unwrap_or_else(|| Arc::from(""));
        found.index.entry(agent).or_insert(index);
        for item in &entry.thread.items {
            found.note(&entry.thread, item);
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

fn agent(found: Found, spawns: &Spawns) -> Agent {
    let Found { file, thread, .. } = found;
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
