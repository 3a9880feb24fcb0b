//! Which tools an agent gets, as sent (contract TOOLS-01..06, TOOLS-08, TOOLS-12..14).
//!
//! A named agent's pool is built from the session's tools and those of connected MCP servers (TOOLS-02, TOOLS-03, C16),
//! independently of the parent's pool and of the call (TOOLS-12). Tools of its own servers join it when it starts
//! (TOOLS-07); a fork takes its parent's pool by reference (TOOLS-09).

use std::fmt;
use std::rc::Rc;

use super::Session;
use super::tool::{Effect, Tool};
use crate::agent::definition::AgentDefinition;
use crate::agent::event::Event;
use crate::agent::permission::{Mode, Permissions};
use crate::agent::settings::{PartSizes, shared_out};
use crate::wire::Piece;

/// The tools of one agent, with their bytes as sent; forks share them by reference (contract TOOLS-09).
#[derive(Clone, Default)]
pub struct Pool {
    /// The tools.
    pub tools: Vec<Rc<dyn Tool>>,
    /// Their definitions as sent, in the order of `tools`.
    pub pieces: Rc<[Piece]>,
    /// Tools that the agent did not get, and why (DIAG-03).
    pub dropped: Vec<Dropped>,
}

/// A tool that an agent did not get, and the reason as named in logs.
pub type Dropped = (Rc<str>, &'static str);

/// Reasons why an agent does not have a tool, in the order in which they are checked.
pub mod why {
    /// A rule of the session denies every call of it (PERM-13).
    pub const DENIED: &str = "denied_by_rule";
    /// The definition lists tools, but not this one (TOOLS-04).
    pub const NOT_LISTED: &str = "not_listed";
    /// The definition disallows it (TOOLS-06).
    pub const DISALLOWED: &str = "disallowed";
    /// Background agents do not get it (TOOLS-08).
    pub const BACKGROUND: &str = "background";
    /// The agent's permission mode would refuse every call of it (TOOLS-08).
    pub const MODE: &str = "mode";
    /// The definition names a tool that the session does not have.
    pub const UNKNOWN: &str = "unknown";
}

/// The permission context for a named agent's pool: the session's, with the agent's own mode (TOOLS-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// The definition's mode, or `acceptEdits` (PERM-08, C15); the call cannot set it (PERM-14).
    pub mode: Mode,
    /// Whether the agent runs in the background.
    pub is_async: bool,
}

impl Worker {
    /// The context for an agent of this type.
    pub fn of(permissions: &Permissions, definition: &AgentDefinition, is_async: bool) -> Self {
        let mode = permissions.admitted(definition.permission_mode.unwrap_or(Mode::AcceptEdits));
        Self { mode, is_async }
    }
}

impl Pool {
    /// The pool of a main agent: every tool that no rule denies entirely.
    pub fn main(session: &Session) -> Rc<Self> {
        let mut dropped = Vec::new();
        let tools = available(session, &mut dropped);
        Self::told(session, &"main".into(), session.permissions.mode.get(), tools, dropped, None)
    }

    /// The pool of `agent`, a sub-agent of this type.
    pub fn named(session: &Session, agent: &Rc<str>, definition: &AgentDefinition, is_async: bool) -> Rc<Self> {
        let worker = Worker::of(&session.permissions, definition, is_async);
        let mut dropped = Vec::new();
        let available = available(session, &mut dropped);
        let tools = resolve_agent_tools(&available, definition, worker, &mut dropped);
        Self::told(session, agent, worker.mode, tools, dropped, Some(&definition.agent_type))
    }

    /// A pool of exactly these tools, without an event, for the main agent or a sub-agent of this type.
    pub fn of(session: &Session, tools: Vec<Rc<dyn Tool>>, agent_type: Option<&str>) -> Self {
        let sub_agent = agent_type.is_some();
        let pieces: Vec<Piece> = tools.iter().map(|tool| piece(tool.as_ref(), session)).collect();
        let total = |sizes: PartSizes| sizes.agents.filter(|_| sub_agent).map(|agents| agents.tools).or(sizes.tools);
        let own = agent_type.and_then(|agent_type| session.settings.prefixes.get(agent_type)).map(|own| own.tools);
        let pieces = match own.or_else(|| session.settings.sizes.and_then(total)) {
            Some(total) => declared(pieces, total),
            None => pieces.into(),
        };
        Self { tools, pieces, dropped: Vec::new() }
    }

    /// The same tools and these after them.
    pub fn with(&self, session: &Session, more: Vec<Rc<dyn Tool>>, agent_type: &str) -> Self {
        let tools = self.tools.iter().cloned().chain(more).collect();
        Self { dropped: self.dropped.clone(), ..Self::of(session, tools, Some(agent_type)) }
    }

    fn told(
        session: &Session,
        agent: &Rc<str>,
        mode: Mode,
        tools: Vec<Rc<dyn Tool>>,
        dropped: Vec<Dropped>,
        agent_type: Option<&str>,
    ) -> Rc<Self> {
        session.emit(&Event::ToolsResolved {
            agent: agent.clone(),
            mode: mode.name(),
            tools: tools.iter().map(|tool| tool.name().into()).collect(),
            dropped: dropped.clone(),
        });
        Rc::new(Self { dropped, ..Self::of(session, tools, agent_type) })
    }

    /// The tool called `name`.
    pub fn get(&self, name: &str) -> Option<&Rc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Why the agent lacks the tool called `name`, as a word of [`why`] (DIAG-03); `None` if it has the tool.
    pub fn why_absent(&self, name: &str) -> Option<&'static str> {
        let dropped = self.dropped.iter().find(|(tool, _)| tool.as_ref() == name).map(|(_, why)| *why);
        if self.get(name).is_some() { None } else { dropped.or(Some(why::UNKNOWN)) }
    }
}

/// The session's tools, and those of connected servers after them (TOOLS-02), that no rule denies entirely.
fn available(session: &Session, dropped: &mut Vec<Dropped>) -> Vec<Rc<dyn Tool>> {
    let of_servers = session.servers.ready().flat_map(|server| &server.tools);
    let all = session.tools.all().iter().chain(of_servers).cloned();
    let (kept, denied): (Vec<_>, Vec<_>) = all.partition(|tool| !session.permissions.denies_tool(tool.name()));
    dropped.extend(denied.iter().map(|tool| (tool.name().into(), why::DENIED)));
    kept
}

/// The tools of `available` that an agent of this type gets (TOOLS-04), in the order of its list if it has one,
/// otherwise in theirs. So its tools can have another order than its parent's (TOOLS-08). No list and `*` mean all
/// (TOOLS-05, G26).
pub fn resolve_agent_tools(
    available: &[Rc<dyn Tool>],
    definition: &AgentDefinition,
    worker: Worker,
    dropped: &mut Vec<Dropped>,
) -> Vec<Rc<dyn Tool>> {
    let listed = listed(available, definition, dropped);
    let refused = |tool: &Rc<dyn Tool>| refusal(tool.as_ref(), definition, worker);
    dropped.extend(listed.iter().filter_map(|tool| Some((tool.name().into(), refused(tool)?))));
    listed.into_iter().filter(|tool| refused(tool).is_none()).collect()
}

/// The tools that a definition lists, without duplicates.
fn listed(available: &[Rc<dyn Tool>], definition: &AgentDefinition, dropped: &mut Vec<Dropped>) -> Vec<Rc<dyn Tool>> {
    let Some(names) = definition.tools.as_ref().filter(|names| !names.iter().any(|name| name.as_ref() == "*")) else {
        return available.to_vec();
    };
    let mut kept: Vec<Rc<dyn Tool>> = Vec::new();
    for name in names {
        match available.iter().find(|tool| tool.name() == name.as_ref()) {
            Some(tool) if kept.iter().all(|kept| kept.name() != tool.name()) => kept.push(tool.clone()),
            Some(_) => {}
            // A tool denied by a rule is already recorded with its reason.
            None if dropped.iter().any(|(known, _)| known == name) => {}
            None => dropped.push((name.clone(), why::UNKNOWN)),
        }
    }
    let left = available.iter().filter(|tool| !names.iter().any(|name| name.as_ref() == tool.name()));
    dropped.extend(left.map(|tool| (tool.name().into(), why::NOT_LISTED)));
    kept
}

/// Why a listed tool is withheld.
fn refusal(tool: &dyn Tool, definition: &AgentDefinition, worker: Worker) -> Option<&'static str> {
    if definition.disallowed_tools.iter().any(|name| name.as_ref() == tool.name()) {
        return Some(why::DISALLOWED);
    }
    if worker.is_async && !tool.in_background() {
        return Some(why::BACKGROUND);
    }
    let edits = tool.effect(&serde_json::Value::Null) == Effect::Edit;
    (worker.mode == Mode::Plan && edits).then_some(why::MODE)
}

/// A definition as sent: keys in the order of the client (`clients.md` 1, 2026-11).
fn piece(tool: &dyn Tool, session: &Session) -> Piece {
    let definition = tool.definition(session);
    let name = serde_json::Value::from(tool.name());
    let description = serde_json::Value::from(definition.description);
    let schema = definition.input_schema;
    Piece::new(format!("{{\"name\":{name},\"description\":{description},\"input_schema\":{schema}}}"))
}

/// The same pieces, with the tokens that a scenario declares for all of them together.
fn declared(pieces: Vec<Piece>, total: u64) -> Rc<[Piece]> {
    let lengths: Vec<u64> = pieces.iter().map(|piece| piece.json().len() as u64).collect();
    pieces.into_iter().zip(shared_out(total, &lengths)).map(|(piece, tokens)| piece.sized(tokens)).collect()
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| tool.name())).finish()
    }
}
