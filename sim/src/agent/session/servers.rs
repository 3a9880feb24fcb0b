//! The MCP servers of a session: pending, ready, failed, gone (contract MCP, C10, C11).
//!
//! Shared servers connect when the session starts, and belong to the session. An agent can open connections of its own,
//! which it closes (`Context::open_servers`). What a server offers comes from the
//! scenario; nothing is sent anywhere.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::tool::Tool;
use crate::agent::event::Event;
use crate::agent::ground::Ground;
use crate::outside::words;
use crate::time::Duration;

words! {
    /// The state of a shared connection.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Link {
        /// It is being made.
        Pending = "pending",
        /// It works.
        Ready = "ready",
        /// It could not be made.
        Failed = "failed",
        /// It was there, and is closed.
        Gone = "gone",
    }
}

/// A server.
#[derive(Clone)]
pub struct Server {
    /// Its name.
    pub name: Rc<str>,
    /// Its description, which the main prompt repeats (contract PROMPT-04).
    pub instructions: Rc<str>,
    /// Whether the session connects to it; otherwise only agents of their own do.
    pub is_shared: bool,
    /// How long a connection takes.
    pub takes: Duration,
    /// Whether a connection can be made.
    pub works: bool,
    /// Its tools, called `mcp__server__tool`.
    pub tools: Vec<Rc<dyn Tool>>,
}

impl Server {
    /// A shared server that is connected at once and has no tools.
    pub fn new(name: &str, instructions: &str) -> Self {
        Self {
            name: name.into(),
            instructions: instructions.into(),
            is_shared: true,
            takes: Duration::default(),
            works: true,
            tools: Vec::new(),
        }
    }
}

/// A connection of one agent to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The server.
    pub server: Rc<str>,
    /// Its number.
    pub number: u64,
    /// Whether the agent opened it, and closes it (MCP-08).
    pub is_own: bool,
}

/// A shared connection.
#[derive(Clone, Copy)]
struct Shared {
    number: u64,
    link: Link,
}

/// The servers of a session.
pub struct Servers {
    ground: Rc<Ground>,
    known: BTreeMap<Rc<str>, Server>,
    shared: RefCell<BTreeMap<Rc<str>, Shared>>,
    revision: Cell<u64>,
    changed: Notify,
}

impl Servers {
    /// These servers; the shared ones connect now.
    pub fn new(ground: Rc<Ground>, servers: Vec<Server>) -> Rc<Self> {
        let known: BTreeMap<Rc<str>, Server> =
            servers.into_iter().map(|server| (server.name.clone(), server)).collect();
        let shared = RefCell::default();
        let servers = Rc::new(Self { ground, known, shared, revision: Cell::new(0), changed: Notify::new() });
        for server in servers.known.values().filter(|server| server.is_shared) {
            servers.connect(&server.name);
        }
        servers
    }

    /// Connects the session to a server, again if it is gone; returns whether there is such a server.
    pub fn connect(self: &Rc<Self>, name: &str) -> bool {
        let Some(server) = self.known.get(name) else { return false };
        let (name, takes, works) = (server.name.clone(), server.takes, server.works);
        let number = self.ground.ids.number();
        self.set(&name, number, Link::Pending);
        let end = if works { Link::Ready } else { Link::Failed };
        if takes.0 == 0 {
            self.set(&name, number, end);
            return true;
        }
        let servers = self.clone();
        drop(self.ground.handle.spawn(format!("server {name}"), async move {
            servers.ground.handle.sleep(takes).await;
            let is_awaited = servers.shared.borrow().get(&name).is_some_and(|shared| shared.number == number);
            if is_awaited && servers.link(&name) == Some(Link::Pending) {
                servers.set(&name, number, end);
            }
        }));
        true
    }

    /// Closes the session's connection to a server; returns whether there was one.
    pub fn disconnect(&self, name: &str) -> bool {
        let known = self.shared.borrow().get_key_value(name).map(|(name, shared)| (name.clone(), *shared));
        let open = known.filter(|(_, shared)| matches!(shared.link, Link::Pending | Link::Ready));
        open.inspect(|(name, shared)| self.set(name, shared.number, Link::Gone)).is_some()
    }

    fn set(&self, name: &Rc<str>, number: u64, link: Link) {
        self.shared.borrow_mut().insert(name.clone(), Shared { number, link });
        self.revision.set(self.revision.get() + 1);
        self.ground.emit(&Event::McpServer { server: name.clone(), connection: number, state: link.name() });
        self.changed.notify_waiters();
    }

    /// The state of the session's connection to a server.
    pub fn link(&self, name: &str) -> Option<Link> {
        self.shared.borrow().get(name).map(|shared| shared.link)
    }

    /// It grows with every change of a shared connection.
    pub fn revision(&self) -> u64 {
        self.revision.get()
    }

    /// Ready at the next change after this call.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Shared servers in one of these states.
    pub fn named(&self, links: &[Link]) -> BTreeSet<Rc<str>> {
        let shared = self.shared.borrow();
        shared.iter().filter(|(_, shared)| links.contains(&shared.link)).map(|(name, _)| name.clone()).collect()
    }

    /// Shared servers that are there, or will be: the others are certainly absent (C11).
    pub fn present(&self) -> BTreeSet<Rc<str>> {
        self.named(&[Link::Pending, Link::Ready])
    }

    /// The shared servers that work, ordered by name.
    pub fn ready(&self) -> impl Iterator<Item = &Server> {
        let ready = self.named(&[Link::Ready]);
        self.known.values().filter(move |server| ready.contains(&server.name))
    }

    /// The session's connection to a server that works (MCP-05).
    pub fn look_up(&self, name: &str) -> Option<Connection> {
        let shared = self.shared.borrow();
        let (server, shared) = shared.get_key_value(name).filter(|(_, shared)| shared.link == Link::Ready)?;
        Some(Connection { server: server.clone(), number: shared.number, is_own: false })
    }

    /// Opens a connection for `agent` alone (MCP-06); `None` if it fails.
    pub async fn open(&self, agent: &Rc<str>, name: &Rc<str>) -> Option<Connection> {
        let server = self.known.get(name);
        if let Some(server) = server {
            self.ground.handle.sleep(server.takes).await;
        }
        let is_open = server.is_some_and(|server| server.works);
        let number = self.ground.ids.number();
        let (agent, server) = (agent.clone(), name.clone());
        self.ground.emit(&Event::McpOpened { agent, server: server.clone(), connection: number, is_open });
        is_open.then_some(Connection { server, number, is_own: true })
    }

    /// Closes a connection that `agent` opened.
    pub fn close(&self, agent: &Rc<str>, connection: &Connection) {
        let Connection { server, number, .. } = connection;
        let (agent, server) = (agent.clone(), server.clone());
        self.ground.emit(&Event::McpClosed { agent, server, connection: *number });
    }

    /// Whether the session has such a server, in whatever state.
    pub fn is_known(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// What a server offers.
    pub fn tools_of(&self, name: &str) -> &[Rc<dyn Tool>] {
        self.known.get(name).map_or(&[], |server| &server.tools)
    }
}

/// The server of a tool, by the tool's name.
pub fn server_of(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?.split_once("__").map(|(server, _)| server)
}
