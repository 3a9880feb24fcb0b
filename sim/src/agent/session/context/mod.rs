//! What a running agent has: its own id, depth, directory, abort signal, read files, tools and history
//! (contract CTX-01..18; contexts of agents in one process never mix, CTX-18).

mod memory;
mod scope;
mod sub_agent;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

pub use memory::Memory;
pub use scope::Scope;
pub use sub_agent::{Continued, SubAgent};

use super::fork::Child;
use super::{Pool, Session};
use crate::agent::abort::Abort;
use crate::agent::conversation::Conversation;
use crate::agent::definition::AgentDefinition;
use crate::agent::entry::Entry;
use crate::agent::event::Event;
use crate::agent::permission::Mode;
use crate::agent::transcript::Author;
use crate::wire::Piece;

/// A running agent. Everything in it is its own; what agents share is the session.
pub struct Context {
    /// The session.
    pub session: Rc<Session>,
    /// Id; `main` for the main agent.
    pub agent: Rc<str>,
    /// The spawning agent; `None` for the main agent.
    pub parent: Option<Rc<Context>>,
    /// The definition; `None` for the main agent.
    pub definition: Option<Rc<AgentDefinition>>,
    /// `queryTracking`: the chain that all descendants share, and how deep this agent stands (CTX-06).
    pub chain: Rc<str>,
    /// Zero for the main agent.
    pub depth: u32,
    /// Working directory; visible inside this agent alone (CTX-17, AGENT-10).
    pub cwd: RefCell<Rc<str>>,
    /// Where it began.
    pub begun_in: Rc<str>,
    /// Ends this agent.
    pub abort: Abort,
    /// The model it asks, as spelled.
    pub model: Rc<str>,
    /// Effort, where the definition or the session sets one.
    pub effort: Option<Rc<str>>,
    /// The `thinking` parameter of its requests, where one is sent.
    pub thinking: Option<Rc<str>>,
    /// Nobody waits for it.
    pub is_async: bool,
    /// How its permission requests are handled.
    pub mode: Cell<Mode>,
    /// Its tools as they stand on the wire, in order.
    pub pool: Rc<Pool>,
    /// The rendered system prompt: the blocks of the last request, threaded by value (contract CACHE-25).
    pub system: RefCell<Rc<[Piece]>>,
    /// What the system prompt was rendered from.
    pub rendered: RefCell<Option<Rendering>>,
    /// Its memory (CTX-12).
    pub memory: Option<Memory>,
    /// Turns that it may take.
    pub max_turns: Option<u32>,
    /// Files that it has read, with the content that it saw (CTX-02).
    pub read_files: RefCell<BTreeMap<Rc<str>, Rc<str>>>,
    /// Its conversation.
    pub entries: RefCell<Vec<Rc<Entry>>>,
    /// The conversation as it was sent last, so that what was sent before stays the same messages.
    pub conversation: RefCell<Conversation>,
    /// Answered requests so far.
    pub turns: Cell<u32>,
    /// Where the request came from, for guards; never sent.
    pub query_source: Rc<str>,
    /// What makes it a fork; nothing of a named agent or the main agent.
    pub fork: Option<Child>,
}

/// A system prompt as it was rendered last, with everything that it depends on and that can change.
#[derive(Clone, Debug)]
pub struct Rendering {
    pub(in crate::agent) flags: u64,
    pub(in crate::agent) cwd: Rc<str>,
    pub(in crate::agent) texts: Vec<String>,
    pub(in crate::agent) sections: Rc<[&'static str]>,
    pub(in crate::agent) warm_flags: Rc<[Rc<str>]>,
}

impl Context {
    /// The main agent of `session`, with `pool`.
    pub fn main(session: &Rc<Session>, pool: Rc<Pool>) -> Rc<Self> {
        let settings = &session.settings;
        Rc::new(Self {
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
            pool,
            system: RefCell::new(Rc::from([])),
            rendered: RefCell::default(),
            memory: None,
            max_turns: settings.max_turns,
            read_files: RefCell::default(),
            entries: RefCell::default(),
            conversation: RefCell::default(),
            turns: Cell::new(0),
            query_source: "main".into(),
            fork: None,
            session: session.clone(),
        })
    }

    /// The agent's type: `main`, or the name of its definition.
    pub fn agent_type(&self) -> Rc<str> {
        self.definition.as_ref().map_or_else(|| "main".into(), |definition| definition.agent_type.clone())
    }

    /// Tells the session's watcher of `event`.
    pub fn emit(&self, event: &Event) {
        self.session.emit(event);
    }

    /// Writes `entry` to the agent's log: of the main agent the conversation (TRANSCRIPT-10), of a sub-agent its own side
    /// chain (TRANSCRIPT-05).
    pub fn record(&self, entry: &Rc<Entry>) {
        let author = Author { agent: &self.agent, is_sidechain: self.parent.is_some(), cwd: self.cwd.borrow().clone() };
        self.session.transcripts.append(&author, entry);
    }

    /// Notes in the agent's log that the message `uuid` counts no more.
    pub fn strike(&self, uuid: &Rc<str>) {
        self.session.transcripts.strike(&self.agent, uuid);
    }
}
