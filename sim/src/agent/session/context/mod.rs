//! The state of a running agent: id, depth, directory, abort signal, read files, tools and history (contract
//! CTX-01..18; contexts of agents in one process never mix, CTX-18).

mod memory;
mod scope;
mod servers;
mod sub_agent;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

pub use memory::Memory;
pub use scope::Scope;
pub use sub_agent::{Continued, SubAgent};

use super::fork::Origin;
use super::internal::Helper;
use super::launch::Slot;
use super::servers::Connection;
use super::{Pool, Rewriting, Session};
use crate::agent::abort::Abort;
use crate::agent::conversation::Conversation;
use crate::agent::definition::AgentDefinition;
use crate::agent::entry::{Entry, History, Nature};
use crate::agent::event::Event;
use crate::agent::permission::Mode;
use crate::agent::team::Member;
use crate::agent::transcript::Author;
use crate::agent::world::World;
use crate::wire::Piece;

/// A running agent. Its state is not shared with other agents; shared state is in the session.
pub struct Context {
    /// The session.
    pub session: Rc<Session>,
    /// Id; `main` for the main agent.
    pub agent: Rc<str>,
    /// The spawning agent; `None` for the main agent.
    pub parent: Option<Rc<Context>>,
    /// The definition; `None` for the main agent.
    pub definition: Option<Rc<AgentDefinition>>,
    /// `queryTracking`: the chain id that all descendants share (CTX-06).
    pub chain: Rc<str>,
    /// Depth below the main agent, which has zero.
    pub depth: u32,
    /// Working directory; visible only inside this agent (CTX-17, AGENT-10).
    pub cwd: RefCell<Rc<str>>,
    /// Working directory at the start.
    pub begun_in: Rc<str>,
    /// Stops this agent.
    pub abort: Abort,
    /// The requested model, as spelled.
    pub model: Rc<str>,
    /// Effort, if the definition or the session sets one.
    pub effort: Option<Rc<str>>,
    /// The `thinking` parameter of its requests, if any.
    pub thinking: Option<Rc<str>>,
    /// Whether it runs in the background.
    pub is_async: bool,
    /// How its permission requests are handled.
    pub mode: Cell<Mode>,
    /// Its tools as sent, in order; see [`Context::pool`].
    pool: RefCell<Rc<Pool>>,
    /// Its connections to MCP servers besides its parent's.
    connections: RefCell<Vec<Connection>>,
    /// The revision of the session's servers that its tools are of.
    servers_seen: Cell<u64>,
    /// The rendered system prompt: the blocks of the last request, passed on by value (contract CACHE-25).
    pub system: RefCell<Rc<[Piece]>>,
    /// The inputs of that rendering.
    pub rendered: RefCell<Option<Box<Rendering>>>,
    /// Its memory (CTX-12).
    pub memory: Option<Box<Memory>>,
    /// Turn limit.
    pub max_turns: Option<u32>,
    /// Files that it has read, with the content it saw (CTX-02).
    pub read_files: RefCell<BTreeMap<Rc<str>, Rc<str>>>,
    /// Its conversation.
    pub entries: RefCell<History>,
    /// The conversation as last sent, so that earlier messages stay unchanged.
    pub conversation: RefCell<Conversation>,
    /// Answered requests so far.
    pub turns: Cell<u32>,
    /// Origin of the request, for guards; never sent.
    pub query_source: Cow<'static, str>,
    /// Its position among the agents of its message; `None` for the main agent.
    pub slot: Option<Slot>,
    /// What a fork shares with its siblings; `None` for named agents and the main agent.
    pub fork: Option<Rc<Origin>>,
    /// Who runs it, if it is an internal fork.
    pub helper: Option<Box<Helper>>,
    /// What it is in its team, if it is a teammate.
    pub teammate: Option<Rc<Member>>,
    /// Files and shell of the machine it runs on.
    pub world: Rc<World>,
}

/// The last rendering of a system prompt, with all inputs that can change.
#[derive(Clone, Debug)]
pub struct Rendering {
    pub(in crate::agent) flags: u64,
    pub(in crate::agent) servers: u64,
    pub(in crate::agent) cwd: Rc<str>,
    pub(in crate::agent) texts: Vec<String>,
    pub(in crate::agent) sections: Rc<[&'static str]>,
    pub(in crate::agent) warm_flags: Rc<[Rc<str>]>,
}

impl Context {
    /// The main agent of `session`, with `pool`.
    pub fn main(session: &Rc<Session>, pool: Rc<Pool>) -> Rc<Self> {
        let settings = &session.settings;
        let main = Rc::new(Self {
            agent: "main".into(),
            parent: None,
            definition: None,
            chain: session.ids.next("chain"),
            depth: 0,
            cwd: RefCell::new(settings.cwd.clone()),
            begun_in: settings.cwd.clone(),
            abort: Abort::default(),
            model: settings.model.clone(),
            effort: settings.effort.clone(),
            thinking: settings.thinking.clone(),
            is_async: false,
            mode: Cell::new(session.permissions.mode.get()),
            pool: RefCell::new(pool),
            connections: RefCell::default(),
            servers_seen: Cell::new(session.servers.revision()),
            system: RefCell::new(Rc::from([])),
            rendered: RefCell::default(),
            memory: None,
            max_turns: settings.max_turns,
            read_files: RefCell::default(),
            entries: RefCell::default(),
            conversation: RefCell::default(),
            turns: Cell::new(0),
            query_source: "main".into(),
            slot: None,
            fork: None,
            helper: None,
            teammate: None,
            world: session.world.clone(),
            session: session.clone(),
        });
        session.helpers.set_main(&main);
        main
    }

    /// Whether it is the main agent, which the session's user talks to. The only place that decides this.
    pub const fn is_main(&self) -> bool {
        self.parent.is_none()
    }

    /// Whether it may have another turn after an answer: the main agent, and every teammate.
    pub const fn has_turns(&self) -> bool {
        self.is_main() || self.teammate.is_some()
    }

    /// Its id as the owner of tasks and the receiver of items; `None` for the main agent.
    pub fn own_id(&self) -> Option<Rc<str>> {
        (!self.is_main()).then(|| self.agent.clone())
    }

    /// The teammate that it is, or that it works for.
    pub fn member(&self) -> Option<&Rc<Member>> {
        std::iter::successors(Some(self), |context| context.parent.as_deref()).find_map(|one| one.teammate.as_ref())
    }

    /// Its tools as sent, in order.
    pub fn pool(&self) -> Rc<Pool> {
        self.pool.borrow().clone()
    }

    /// The agent's type: `main`, or the name of its definition.
    pub fn agent_type(&self) -> Rc<str> {
        self.definition.as_ref().map_or_else(|| "main".into(), |definition| definition.agent_type.clone())
    }

    /// Sends `event` to the session's sink.
    pub fn emit(&self, event: &Event) {
        self.session.emit(event);
    }

    /// Writes `entry` to the agent's log: the conversation for the main agent (TRANSCRIPT-10), a side chain for a
    /// sub-agent (TRANSCRIPT-05).
    pub fn record(&self, entry: &Rc<Entry>) {
        let author = Author { agent: &self.agent, is_sidechain: !self.is_main(), cwd: self.cwd.borrow().clone() };
        self.session.transcripts.append(&author, entry);
    }

    /// Replaces the conversation, or a part of it. What was sent of it stays in the cache.
    pub(in crate::agent) fn rewrite(&self, rewriting: &Rewriting) {
        let mut entries = self.entries.borrow_mut();
        let before = entries.len();
        match rewriting {
            Rewriting::Whole { text, .. } => {
                entries.replace(vec![Entry::user(self.session.ids.next("entry"), text, Nature::Typed)]);
            }
            Rewriting::From(text) => {
                let is_meant = |entry: &Rc<Entry>| !entry.is_assistant() && entry.text.contains(&**text);
                let kept = entries.iter().rposition(is_meant).unwrap_or(before);
                entries.truncate(kept);
            }
        }
        drop(entries);
        self.emit(&Event::Rewritten { agent: Rc::clone(&self.agent), entries: before });
    }

    /// A message has become part of its conversation (contract MSG-08).
    pub(in crate::agent) fn delivered(&self, message: Option<u64>) {
        if let Some(message) = message {
            self.emit(&Event::MessageDelivered { agent: self.agent.clone(), message });
        }
    }

    /// Marks the message `uuid` in the agent's log as withdrawn.
    pub fn strike(&self, uuid: &Rc<str>) {
        self.session.transcripts.strike(&self.agent, uuid);
    }
}
