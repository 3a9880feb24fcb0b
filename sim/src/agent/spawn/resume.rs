//! Continues an agent that has ended: a second background run under its id, from its transcript (contract MSG-09..12,
//! G08).

use std::rc::Rc;

use super::background;
use super::result::Collected;
use super::run::{Beginning, run_agent};
use super::takeover::drop_results_without_call;
use super::waiter::{self, Waiter};
use super::worktree;
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::agent::session::{Call, Context, Outcome, Remains, ToolError};

/// Starts a second run of `agent` in the background, for the call that sends it `text` (`resumeAgentBackground`).
///
/// # Errors
/// If its transcript cannot be read: its context is never invented (MSG-11).
pub async fn resume(call: &Call, agent: &Rc<str>, remains: &Remains, text: &Rc<str>) -> Result<Outcome, ToolError> {
    let session = call.context.session.clone();
    let from = if session.tasks.get(agent).is_some() { "task" } else { "transcript" };
    let replayed = session.transcripts.replay(agent);
    let mut entries = replayed.map_err(|unreadable| ToolError::Failed(unreadable.to_string().into()))?;
    drop_results_without_call(&mut entries);
    // Its worktree may be gone, or may have been kept (WORKTREE-11).
    let worktree = match remains.has_worktree {
        true => Some(worktree::create(&session, agent).await.map_err(ToolError::Failed)?),
        false => None,
    };
    session.emit(&Event::Resumed { agent: agent.clone(), entries: entries.len(), from });
    // An agent whose parent is gone goes on below the agent that writes to it.
    let parent = remains.parent.upgrade().unwrap_or_else(|| call.context.clone());
    let context = Context::sub_agent(&parent, remains.sub_agent(&parent, agent, entries));
    let task = waiter::register(call, &remains.description, &context, true);
    let message = Entry::user(session.ids.next("msg"), text, Nature::Inserted);
    let run = run_agent(context, Beginning::After(vec![message]));
    let outcome = waiter::launched(call, text, &task, false);
    background::detach(Waiter { session, task, run, collected: Collected::default(), worktree });
    Ok(outcome)
}
