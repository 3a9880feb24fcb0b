//! Threads of all files, joined into sessions. Only content decides which threads are joined and counted; names of files and the order
//! in which they were named or read decide only the names and the order of sessions.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::packed::Packed;
use super::spill::Spill;
use super::{Agent, AgentKind, Item, Session, Sign, Spawn, SpawnMode, Thread, What, doubles, file_stem};
use crate::formats::Format;
use crate::names::Names;

/// A packed thread and its file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Index of the named path among the scopes.
    pub scope: usize,
    pub file: Arc<str>,
    pub format: Format,
    /// The file has no other thread.
    pub alone: bool,
    pub thread: Packed,
    /// Items that are copies of answers that count elsewhere, ascending.
    pub copied: Vec<u32>,
}

/// Threads with equal groups are one session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    scope: usize,
    session: SessionKey,
}

/// The identity of a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SessionKey {
    /// The id in its files.
    Id(Arc<str>),
    /// A file without an id.
    File(Arc<str>),
}

/// A session with packed threads.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The session, still without agents.
    pub session: Session,
    /// Its file has no session id: its id is the file's stem.
    is_file: bool,
    /// In the order of its agents.
    pub threads: Vec<Found>,
}

/// Joins threads into sessions, in the order of scopes and of the files of their main agents.
pub(super) fn assemble(mut found: Vec<Found>, spill: &Spill) -> Vec<Plan> {
    sort_by_content(&mut found);
    doubles::fold(&mut found, spill);
    sort_by_content(&mut found);
    doubles::mark_copies(&mut found);
    let mut groups: BTreeMap<Group, Vec<Found>> = BTreeMap::new();
    for found in found {
        groups.entry(found.group()).or_default().push(found);
    }
    let mut plans: Vec<Plan> = groups.into_iter().filter_map(|(group, threads)| plan(&group, threads)).collect();
    let place = |plan: &Plan| (plan.session.scope, plan.session.source.clone(), plan.session.id.clone());
    plans.sort_by_cached_key(place);
    number_equal_stems(&mut plans);
    plans
}

/// Sessions named by their files get unique names.
fn number_equal_stems(plans: &mut [Plan]) {
    let (stems, ids): (Vec<&mut Plan>, Vec<&mut Plan>) = plans.iter_mut().partition(|plan| plan.is_file);
    let mut names = Names::reserved(ids.into_iter().map(|plan| plan.session.id.to_string()).collect());
    for plan in stems {
        plan.session.id = Arc::from(names.unique(&plan.session.id));
    }
}

/// The conversation that ended first comes first, because a copy of it continues it. Equal threads are in the order of their
/// sessions, so that the order of paths decides only between sessions that are equal in everything.
fn sort_by_content(found: &mut [Found]) {
    let mut groups: BTreeMap<Group, Extent> = BTreeMap::new();
    for entry in found.iter() {
        groups.entry(entry.group()).or_default().add(&entry.thread);
    }
    found.sort_by_cached_key(|entry| {
        let thread = &entry.thread;
        let own = (thread.last_at, thread.first_at, thread.digest, thread.agent.is_some());
        let whose = (thread.user.clone(), thread.project.clone(), thread.session.clone());
        (own, groups.get(&entry.group()).copied(), whose, entry.scope, entry.file.clone())
    });
}

/// The size of a session, to compare its threads; the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    requests: Reverse<usize>,
    /// Sum of the digests of its threads, which has no order.
    digest: u128,
}

impl Extent {
    fn add(&mut self, thread: &Packed) {
        self.requests.0 += thread.requests;
        self.digest = self.digest.wrapping_add(thread.digest);
    }
}

fn plan(group: &Group, threads: Vec<Found>) -> Option<Plan> {
    let mut kept = doubles::without_history(threads);
    // Threads that began at the same instant stay in the order of content.
    kept.sort_by_key(|found| (found.thread.agent.is_some(), found.thread.first_at));
    for found in &mut kept {
        found.thread.answers = Vec::new();
        found.copied.shrink_to_fit();
    }
    kept.shrink_to_fit();
    let main = kept.first()?;
    let source = main.file.to_string();
    let format = main.format;
    let first_known = |of: fn(&Packed) -> Option<&Arc<str>>| kept.iter().find_map(|found| of(&found.thread)).cloned();
    let user = first_known(|thread| thread.user.as_ref());
    let project = first_known(|thread| thread.project.as_ref());
    let (id, is_file) = match &group.session {
        SessionKey::Id(id) => (id.clone(), false),
        SessionKey::File(file) => (Arc::from(file_stem(file)), true),
    };
    let session = Session { id, source, scope: group.scope, format, user, project, agents: Vec::new() };
    Some(Plan { session, is_file, threads: kept })
}

impl Plan {
    /// Unpacks the session; its packed threads are kept.
    pub fn session(&self, spill: &Spill) -> io::Result<Session> {
        let unpacked = self.threads.iter().map(|found| found.unpacked(spill)).collect::<io::Result<Vec<_>>>()?;
        let started = spawns(&unpacked);
        let threads = self.threads.iter().zip(unpacked);
        let agents = threads.map(|(found, thread)| agent(found.file.clone(), thread, &started)).collect();
        Ok(Session { agents, ..self.session.clone() })
    }
}

impl Found {
    /// The session that it belongs to.
    pub fn group(&self) -> Group {
        let by_file = || SessionKey::File(self.file.clone());
        let session = self.thread.session.clone().map_or_else(by_file, SessionKey::Id);
        Group { scope: self.scope, session }
    }

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

/// Calls and results that started agents.
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
