//! How a sub-agent's context is derived from its parent's (contract CTX-01..06, CTX-15; `createSubagentContext`).

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Context, Memory};
use crate::agent::Abort;
use crate::agent::definition::AgentDefinition;
use crate::agent::entry::{Entry, History};
use crate::agent::event::Event;
use crate::agent::permission::Mode;
use crate::agent::session::fork::Origin;
use crate::agent::session::launch::Slot;
use crate::agent::session::{Helper, Pool};
use crate::agent::settings::Place;
use crate::agent::settings::forks::{Ablation, QUERY_SOURCE};
use crate::agent::team::Member;

/// The decisions about a sub-agent before it starts (AGENT-29).
#[derive(Default)]
pub struct SubAgent {
    /// Its id: a new one from `session.ids.next("agent")` (CTX-05, G22), or that of the run it continues.
    pub agent: Rc<str>,
    /// Its definition.
    pub definition: Rc<AgentDefinition>,
    /// The requested model, as spelled (AGENT-16).
    pub model: Rc<str>,
    /// Its tools (CTX-04).
    pub pool: Rc<Pool>,
    /// How its permission requests are handled.
    pub mode: Mode,
    /// Whether it runs in the background; then it does not share the parent's abort signal (ASYNC-11).
    pub is_async: bool,
    /// A directory instead of the parent's (AGENT-10); it must be absolute.
    pub cwd: Option<Rc<str>>,
    /// State of an earlier run of the same agent (SYNC-09).
    pub continued: Option<Continued>,
    /// Its position among the agents of its message; none for the continuation of a run.
    pub slot: Option<Slot>,
    /// What a fork shares with its siblings (FORK-15..19).
    pub fork: Option<Rc<Origin>>,
    /// Who runs it, if it is an internal fork.
    pub helper: Option<Helper>,
    /// What it is in its team, if it is a teammate.
    pub teammate: Option<Rc<Member>>,
}

/// The state that a run passes to its successor.
#[derive(Clone, Default)]
pub struct Continued {
    /// The conversation so far.
    pub entries: Vec<Rc<Entry>>,
    /// The files that it has read, with the content it saw.
    pub read_files: BTreeMap<Rc<str>, Rc<str>>,
    /// Requests that were answered.
    pub turns: u32,
    /// Those of earlier runs, which the turn limit does not count (contract LIFE-09).
    pub earlier_turns: u32,
    /// The working directory at the start, which the user context depends on.
    pub begun_in: Option<Rc<str>>,
}

impl Continued {
    /// The state of the run of `context` without its messages; to be taken before its cleanup.
    pub fn of(context: &Context) -> Self {
        let read_files = context.read_files.borrow().clone();
        let begun_in = Some(context.begun_in.clone());
        Self { read_files, turns: context.turns.get(), begun_in, ..Self::default() }
    }
}

impl Context {
    /// The context of a sub-agent: the parent's with the fields of CTX-02..06 replaced. Its history is empty until
    /// [`Context::begin`], or that of the run it continues.
    pub fn sub_agent(parent: &Rc<Self>, start: SubAgent) -> Rc<Self> {
        let query_source = query_source(parent, &start);
        let is_continued = start.continued.is_some();
        let continued = start.continued.unwrap_or_default();
        let place = start.teammate.as_ref().map_or(Place::InProcess, |member| member.place);
        let read_files = if is_continued || place != Place::InProcess {
            continued.read_files
        } else {
            parent.read_files.borrow().clone()
        };
        let cwd = start.cwd.unwrap_or_else(|| parent.cwd.borrow().clone());
        let origin = start.fork.clone();
        let context = Rc::new(Self {
            session: parent.session.clone(),
            query_source,
            parent: Some(parent.clone()),
            chain: parent.chain.clone(),
            depth: parent.depth + 1,
            // A fork's requests begin like its parent's.
            begun_in: continued
                .begun_in
                .unwrap_or_else(|| if origin.is_some() { parent.begun_in.clone() } else { cwd.clone() }),
            cwd: RefCell::new(cwd),
            abort: if start.is_async { Abort::default() } else { parent.abort.child() },
            model: start.model,
            effort: start.definition.effort.clone().or_else(|| parent.effort.clone()),
            thinking: match &origin {
                Some(origin) => origin.thinking.clone(),
                None => parent.session.settings.thinking.clone(),
            },
            max_turns: start.definition.max_turns.map(|max| max.saturating_add(continued.earlier_turns)),
            agent: start.agent,
            is_async: start.is_async,
            mode: Cell::new(start.mode),
            pool: RefCell::new(start.pool),
            connections: RefCell::default(),
            servers_seen: Cell::default(),
            system: RefCell::new(origin.as_ref().map_or_else(|| Rc::from([]), |origin| origin.system.clone())),
            rendered: RefCell::default(),
            memory: Memory::of(&parent.session, &start.definition).map(Box::new),
            definition: Some(start.definition),
            read_files: RefCell::new(read_files),
            entries: RefCell::new(History::from(match &origin {
                Some(origin) => origin.begin(continued.entries),
                None => continued.entries,
            })),
            conversation: RefCell::new(origin.map(|origin| origin.conversation.clone()).unwrap_or_default()),
            slot: start.slot,
            fork: start.fork,
            helper: start.helper.map(Box::new),
            teammate: start.teammate,
            world: if place == Place::Remote { Rc::new(parent.world.copy()) } else { parent.world.clone() },
            turns: Cell::new(continued.turns),
        });
        context.emit(&created(parent, &context));
        context
    }
}

/// The origin of the agent's requests (FORK-43), which the first guard checks for forks.
fn query_source(parent: &Context, start: &SubAgent) -> Cow<'static, str> {
    let forks = &parent.session.settings.forks;
    if let Some(helper) = &start.helper {
        return format!("internal:{}", helper.caller.name()).into();
    }
    match start.fork {
        Some(_) if !forks.ablations.contains(&Ablation::LoseQuerySource) => QUERY_SOURCE.into(),
        _ => format!("agent:{}", start.definition.agent_type).into(),
    }
}

fn created(parent: &Context, context: &Context) -> Event {
    Event::ContextCreated {
        agent: context.agent.clone(),
        parent: parent.agent.clone(),
        chain: context.chain.clone(),
        depth: context.depth,
        cwd: context.cwd.borrow().clone(),
        read_files: context.read_files.borrow().len(),
        max_turns: context.max_turns,
        effort: context.effort.clone(),
        is_async: context.is_async,
    }
}
