//! A finished run leaves nothing open.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::agent::{Event, Session};
use crate::service::Entry;
use crate::simulation::Observer;
use crate::time::Instant;

/// At the end of a run no task runs, no call waits, the queue is empty, no permission request is open, and no agent
/// hook is registered (contract CTX-16, SYNC-20, SYNC-22, QUEUE-14).
#[derive(Debug, Default)]
pub struct Leftovers {
    running: BTreeSet<Rc<str>>,
    waiting: BTreeSet<u64>,
}

impl Observer for Leftovers {
    fn name(&self) -> &'static str {
        "leftovers"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        match event {
            Event::TaskState { task, state, .. } if *state == "running" => _ = self.running.insert(task.clone()),
            Event::TaskState { task, .. } => _ = self.running.remove(task),
            Event::Enqueued { item, .. } => _ = self.waiting.insert(*item),
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
        match self.waiting.first() {
            Some(item) => Err(format!("item {item} still waits in the queue")),
            None => Ok(()),
        }
    }
}
