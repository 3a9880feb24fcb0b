//! Moves a child from foreground to background: a new run continues it from the end of its transcript (contract
//! SYNC-08..11).
//!
//! The foreground run is ended through its return path: its loop, the request in flight and the running tools stop
//! where they are. What was produced is in the transcript, and the background run starts from there, with the same id
//! and the same task. Interrupted work is done again, because it left no trace in the transcript: a request without an
//! answer is sent again, and a call without a result is made again (the loop answers open calls first); both cost
//! again. The contract does not say so explicitly. It follows from "no message is lost" (SYNC-09) and from one result
//! for every call before the next request (LOOP-15): a message that its call was interrupted would reveal the switch to
//! the model. An agent that was awaited inside such a call is stopped with it, and the repeated call launches another
//! one.
//!
//! The background run is a separate run with `isAsync: true` (SYNC-09), so its tools are resolved again as those of a
//! background agent (TOOLS-04, TOOLS-08); the pool is not passed on (G27). A tool that background agents do not get is
//! missing from the next request on, and the child's prefix breaks there (`tools_removed`). An agent whose definition
//! does not list such a tool continues to read its cache entries.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::background;
use super::foreground;
use super::result::Collected;
use super::route::Resolved;
use super::run::{Beginning, run_agent};
use super::waiter::{self, Verdict, Waiter};
use crate::agent::entry::Entry;
use crate::agent::event::Event;
use crate::agent::session::{Call, Outcome, ToolError};
use crate::agent::session::{Context, Continued, SubAgent};

/// Moves the agent of `waiter` to the background; `by` says who requested it. The result of the call is that the agent
/// was launched (SYNC-11).
///
/// # Errors
/// If its transcript cannot be read; the agent has then failed.
pub fn take_over(call: &Call, resolved: &Resolved, waiter: Waiter, by: &'static str) -> Result<Outcome, ToolError> {
    let session = waiter.session.clone();
    let task = waiter.task.clone();
    let mut start = left_to(&waiter, resolved);
    foreground::leave(&waiter);
    let old = waiter.run.context.clone();
    let worktree = waiter.worktree.clone();
    waiter.run.close();
    let mut entries = session.transcripts.replay(&task.id).map_err(|unreadable| {
        session.tasks.end(&task, Verdict::Failed("".into()).state());
        session.tasks.unregister(&task);
        ToolError::Failed(unreadable.to_string().into())
    })?;
    for result in drop_results_without_call(&mut entries) {
        old.strike(&result.uuid);
    }
    let beginning = if is_over(&entries) { Beginning::End } else { Beginning::History };
    let count = entries.len();
    let collected = Collected::of(&entries);
    if let Some(continued) = &mut start.continued {
        continued.entries = entries;
    }
    let context = Context::sub_agent(&call.context, start);
    task.replace_abort(context.abort.clone());
    session.tasks.move_to_background(&task);
    session.emit(&Event::Takeover { agent: task.id.clone(), entries: count, signal: by });
    background::name(resolved, &context);
    let run = run_agent(context, beginning);
    let outcome = waiter::launched(call, &resolved.input.prompt, &task, resolved.definition.one_shot);
    if let Some(worktree) = &worktree {
        worktree.keep(&session, "background");
    }
    background::detach(Waiter { session, task, run, collected, worktree });
    Ok(outcome)
}

/// What the foreground run passes to the background run, taken before the cleanup (contract G27).
fn left_to(waiter: &Waiter, resolved: &Resolved) -> SubAgent {
    let old = &waiter.run.context;
    let mut start = resolved.sub_agent(&waiter.session, true);
    start.cwd = Some(old.cwd.borrow().clone());
    start.mode = old.mode.get();
    start.continued = Some(Continued::of(old));
    start
}

/// Removes results without a call: the tool ended while the message of its call was streaming, and that message is
/// requested again.
pub(super) fn drop_results_without_call(entries: &mut Vec<Rc<Entry>>) -> Vec<Rc<Entry>> {
    let calls: BTreeSet<Rc<str>> =
        entries.iter().flat_map(|entry| &entry.tool_uses).map(|call| call.id.clone()).collect();
    let has_call = |entry: &Rc<Entry>| entry.answers.is_empty() || entry.answers.iter().any(|id| calls.contains(id));
    let (kept, dropped) = std::mem::take(entries).into_iter().partition(has_call);
    *entries = kept;
    dropped
}

/// Whether the last message left nothing to do: the signal came between that message and the end of its loop.
fn is_over(entries: &[Rc<Entry>]) -> bool {
    entries.last().is_some_and(|entry| entry.is_assistant() && entry.tool_uses.is_empty())
}
