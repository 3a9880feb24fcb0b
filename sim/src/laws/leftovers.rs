//! A finished run leaves nothing open.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::agent::{Event, Session};
use crate::service::Entry;
use crate::simulation::Observer;
use crate::time::Instant;

/// At the end of a run no task runs, no call waits, the queue is empty, no permission request is open, and no agent
/// hook is registered (contract CTX-16, SYNC-20, SYNC-22, QUEUE-14). Every agent of a command ends, and what nothing waits
/// for enters the queue once (contract SLASH-07). Agents close the connections that they opened, and no others (contract
/// MCP-08). Worktrees are removed, or kept for a reason (contract DIAG-07).
#[derive(Debug, Default)]
pub struct Leftovers {
    running: BTreeSet<Rc<str>>,
    /// Agents of commands that nothing waits for, until they end.
    detached: BTreeSet<Rc<str>>,
    /// Those that ended and whose text has not entered the queue.
    unreported: u32,
    waiting: BTreeSet<u64>,
    /// Worktrees that were made, and neither removed nor kept for a reason.
    worktrees: BTreeSet<Rc<str>>,
    /// Connections that agents opened, with the agent.
    connections: BTreeMap<u64, Rc<str>>,
}

impl Observer for Leftovers {
    fn name(&self) -> &'static str {
        "leftovers"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        match event {
            Event::TaskState { task, state, .. } if *state == "running" => _ = self.running.insert(task.clone()),
            Event::TaskState { task, .. } => _ = self.running.remove(task),
            Event::SlashStarted { agent, detached, .. } => {
                self.running.insert(agent.clone());
                if *detached {
                    self.detached.insert(agent.clone());
                }
            }
            Event::SlashEnded { agent, .. } => {
                self.running.remove(agent);
                self.unreported += u32::from(self.detached.remove(agent));
            }
            Event::Enqueued { source: "slash", .. } if self.unreported == 0 => {
                return Err("a command has a result in the queue without having ended".into());
            }
            Event::Enqueued { item, source, .. } => {
                self.unreported -= u32::from(*source == "slash");
                self.waiting.insert(*item);
            }
            Event::WorktreeOp { op: "create", path, outcome: "ok", .. } => _ = self.worktrees.insert(path.clone()),
            Event::WorktreeOp { op: "remove", path, outcome: "ok", .. }
            | Event::WorktreeLeft { path, why: "changes" | "hook", .. } => _ = self.worktrees.remove(path),
            Event::McpOpened { agent, connection, is_open: true, .. } => {
                self.connections.insert(*connection, agent.clone());
            }
            Event::McpClosed { agent, connection, .. }
                if self.connections.remove(connection).as_ref() != Some(agent) =>
            {
                return Err(format!("`{agent}` closed connection {connection}, which it had not opened"));
            }
            Event::Dequeued { item, .. } if !self.waiting.remove(item) => {
                return Err(format!("item {item} left the queue without having been in it"));
            }
            _ => {}
        }
        Ok(())
    }

    fn closed(&mut self, session: &Session) -> Result<(), String> {
        if let Some(task) = session.tasks.in_foreground().first() {
            return Err(format!("`{}` is still registered as a foreground task", task.id));
        }
        if let Some(asked) = session.permissions.open_requests().first() {
            return Err(format!("permission request {} of `{}` is still open", asked.request, asked.agent));
        }
        match session.hooks.of_agents() {
            0 => Ok(()),
            hooks => Err(format!("{hooks} hooks of ended agents are still registered")),
        }
    }

    fn end(&mut self, _at: Instant, _entries: &[Entry]) -> Result<(), String> {
        if let Some(task) = self.running.first() {
            return Err(format!("`{task}` still runs"));
        }
        if let Some(path) = self.worktrees.first() {
            return Err(format!("the worktree {path} was left behind"));
        }
        if let Some((connection, agent)) = self.connections.first_key_value() {
            return Err(format!("`{agent}` never closed its connection {connection}"));
        }
        match self.waiting.first() {
            _ if self.unreported > 0 => Err(format!("{} commands have no result", self.unreported)),
            Some(item) => Err(format!("item {item} still waits in the queue")),
            None => Ok(()),
        }
    }
}
