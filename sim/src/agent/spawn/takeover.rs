//! From front to back: a new run continues a child where the transcript ends (contract SYNC-08..11).
//!
//! The run in front is ended through its return path: its loop, the request on its way and the tools at work stop where
//! they are. What was produced stands in the transcript, and the run behind begins from there, under the same id and the
//! same task. A request without an answer is sent again; a call without a result gets one that says so, because running
//! it twice could do twice what it does.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::background;
use super::foreground;
use super::result::Collected;
use super::route::Resolved;
use super::run::{Beginning, run_agent};
use super::waiter::{self, Verdict, Waiter};
use crate::agent::context::{Context, Continued, SubAgent};
use crate::agent::entry::Entry;
use crate::agent::event::Event;
use crate::agent::tool::{Call, Outcome, ToolError};
use crate::wire::Piece;

/// What a model reads in the place of a result that never came.
const CUT_OFF: &str = "This call was cut off when the agent moved to the background, and has no result. Part of what it \
                       does may be done. Make the call again if you still need it.";

/// Sends the agent of `waiter` into the background; `by` says who wished it. The call's result is that it was launched
/// (SYNC-11).
///
/// # Errors
/// When its transcript cannot be read; the agent has failed then.
pub fn take_over(call: &Call, resolved: &Resolved, waiter: Waiter, by: &'static str) -> Result<Outcome, ToolError> {
    let (session, task) = (waiter.session.clone(), waiter.task.clone());
    let mut start = left_to(&waiter, resolved);
    foreground::leave(&waiter);
    let old = waiter.run.context.clone();
    waiter.run.close();
    let mut entries = session.transcripts.replay(&session, &task.id).map_err(|unreadable| {
        session.tasks.end(&session, &task, Verdict::Failed("".into()).state());
        session.tasks.unregister(&task);
        ToolError::Failed(unreadable.to_string().into())
    })?;
    if let Some(results) = answer_open_calls(&entries, session.ids.next("entry")) {
        session.transcripts.append(&old, &results);
        entries.push(results);
    }
    let beginning = if is_over(&entries) { Beginning::End } else { Beginning::History };
    let (count, collected) = (entries.len(), Collected::of(&entries));
    if let Some(continued) = &mut start.continued {
        continued.entries = entries;
    }
    let context = Context::sub_agent(&call.context, start);
    task.replace_abort(context.abort.clone());
    session.tasks.move_to_background(&session, &task);
    session.emit(&Event::Takeover { agent: task.id.clone(), entries: count, signal: by });
    background::name(resolved, &context);
    let run = run_agent(context, beginning);
    let outcome = waiter::launched(call, resolved, &task);
    background::detach(Waiter { session, task, run, collected });
    Ok(outcome)
}

/// What the run in front leaves to the one behind, taken before it is tidied up (contract G27).
fn left_to(waiter: &Waiter, resolved: &Resolved) -> SubAgent {
    let old = &waiter.run.context;
    let mut start = resolved.sub_agent(&waiter.session, true);
    start.cwd = Some(old.cwd.borrow().clone());
    start.mode = old.mode.get();
    let read_files = old.read_files.borrow().clone();
    start.continued = Some(Continued { entries: Vec::new(), read_files, turns: old.turns.get() });
    start
}

/// Results for the calls that have none, in their order; `None` when all have one.
fn answer_open_calls(entries: &[Rc<Entry>], uuid: Rc<str>) -> Option<Rc<Entry>> {
    let answered: BTreeSet<&Rc<str>> = entries.iter().flat_map(|entry| &entry.answers).collect();
    let calls = entries.iter().flat_map(|entry| &entry.tool_uses);
    let open: Vec<(Rc<str>, Piece)> = calls
        .filter(|call| !answered.contains(&call.id))
        .map(|call| (call.id.clone(), Piece::tool_result(&call.id, CUT_OFF, true)))
        .collect();
    (!open.is_empty()).then(|| Entry::results(uuid, open))
}

/// Whether the last message left nothing to do: the signal came between it and the end of its loop.
fn is_over(entries: &[Rc<Entry>]) -> bool {
    entries.last().is_some_and(|entry| entry.is_assistant() && entry.tool_uses.is_empty())
}
