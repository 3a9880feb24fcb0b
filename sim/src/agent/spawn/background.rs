//! Background sub-agents: launched without waiting; a lifecycle task follows each to its notification (contract ASYNC).

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use super::callers;
use super::fork;
use super::result::Collected;
use super::route::Resolved;
use super::run::{Beginning, run_agent};
use super::teammate;
use super::waiter::{self, Verdict, Waiter};
use crate::agent::event::Event;
use crate::agent::notification::Details;
use crate::agent::query::{Ended, Step};
use crate::agent::session::{Call, Context, Outcome, SubAgent};

/// Registers the task, starts its lifecycle, and returns the result at once (ASYNC-03, ASYNC-04).
pub fn launch(call: &Call, resolved: &Resolved) -> Outcome {
    let session = call.context.session.clone();
    let slot = session.launches.join(call, &resolved.definition.agent_type);
    let beginning = match &resolved.fork {
        Some(origin) => Beginning::After(fork::begin(call, resolved, origin, slot.place)),
        None => Beginning::Prompt(resolved.input.prompt.clone()),
    };
    let start = SubAgent { slot: Some(slot), fork: resolved.fork.clone(), ..resolved.sub_agent(&session, true) };
    let context = Context::sub_agent(&call.context, start);
    let task = waiter::register(call, &resolved.input.description, &context, true);
    name(resolved, &context);
    let run = run_agent(context, beginning);
    let outcome = waiter::launched(call, &resolved.input.prompt, &task, resolved.definition.one_shot);
    let worktree = resolved.worktree.clone();
    detach(Waiter { session, task, run, collected: Collected::default(), worktree });
    outcome
}

/// Registers the name that the call gave to a background agent (contract AGENT-26).
pub fn name(resolved: &Resolved, context: &Context) {
    if let Some(name) = &resolved.input.name {
        context.session.tasks.names.register(name, &context.agent);
    }
}

/// Runs the lifecycle as its own task.
pub fn detach(waiter: Waiter) {
    let name: Rc<str> = format!("agent {}", waiter.task.id).into();
    let handle = waiter.session.handle.clone();
    drop(handle.spawn(name, lifecycle(Box::new(waiter))));
}

/// Follows the agent to its end (ASYNC-05). Every kind of end is a value here, so no error reaches the main loop
/// (ASYNC-15).
async fn lifecycle(mut waiter: Box<Waiter>) {
    let mut summaries = callers::summaries(&waiter.run.context);
    let ended = loop {
        let step = poll_fn(|context| {
            if let Poll::Ready(step) = waiter.run.poll_next(context) {
                return Poll::Ready(step);
            }
            if let Some(summaries) = &mut summaries {
                let _never_ends = summaries.as_mut().poll(context);
            }
            Poll::Pending
        });
        match step.await {
            Step::Yielded(produced) => drop(waiter.take(produced)),
            Step::Ended(ended) => break ended,
        }
    };
    // Thousands of agents may run at a time: what only their ends need is made there.
    Box::pin(end(waiter, ended)).await;
}

/// The end of an agent: sets the state, then slow work, then the notification, then cleanup (ASYNC-09, C29).
async fn end(waiter: Box<Waiter>, ended: Ended) {
    let verdict = waiter.judge(&ended);
    let told = told(&waiter, &verdict);
    waiter.end(&verdict);
    if let (Verdict::Done, Some(_), Some(text)) = (&verdict, &waiter.run.context.fork, &told.result) {
        fork::report::tell(&waiter.run.context, text);
    }
    waiter.sdk(verdict.sdk());
    follow_up(&waiter).await;
    let kept = look_at_worktree(&waiter).await;
    let told = Details { worktree: kept.clone(), ..told };
    if waiter.run.context.teammate.is_some() {
        teammate::report(&waiter, &verdict, &told).await;
    } else {
        waiter.session.tasks.read(&waiter.task).await;
        waiter.session.notifications.ended(&waiter.task, &told);
    }
    if let Some(worktree) = waiter.worktree.as_ref().filter(|_| kept.is_none()) {
        worktree.remove(&waiter.session);
    }
    let session = waiter.session.clone();
    let task = waiter.task.clone();
    waiter.run.close();
    session.tasks.settle(&task);
}

/// Decides whether the worktree stays, before the notification; if so, its path (WORKTREE-19, WORKTREE-21, C29).
async fn look_at_worktree(waiter: &Waiter) -> Option<Rc<str>> {
    let worktree = waiter.worktree.as_ref()?;
    let session = &waiter.session;
    session.handle.sleep(session.settings.worktrees.takes).await;
    let why = worktree.why_kept(session)?;
    worktree.keep(session, why);
    Some(worktree.path.clone())
}

/// The content of the notification (ASYNC-06..08).
fn told(waiter: &Waiter, verdict: &Verdict) -> Details {
    let (result, error) = match verdict {
        Verdict::Done => (waiter.collected.last_text(), None),
        Verdict::Stopped => (waiter.collected.partial_text(), None),
        Verdict::Failed(why) => (waiter.collected.partial_text(), Some(why.clone())),
    };
    Details { result: Some(result), error, usage: Some(waiter.totals()), worktree: None }
}

/// The classifier that checks a finished task before it is reported. It is slow, but waiters for the state do not wait
/// for it (ASYNC-09, ASYNC-10).
async fn follow_up(waiter: &Waiter) {
    let span = waiter.session.settings.classifier;
    if span.0 == 0 {
        return;
    }
    let step = |step| {
        waiter.session.emit(&Event::FollowUp { task: waiter.task.id.clone(), work: "classifier", step });
    };
    step("start");
    waiter.session.handle.sleep(span).await;
    step("end");
}
