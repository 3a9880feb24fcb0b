//! Synchronous sub-agents: the call waits, and the child may be moved to the background meanwhile (contract SYNC).

use std::pin::{Pin, pin};
use std::rc::Rc;

use super::result::{Completed, Data};
use super::route::Resolved;
use super::run::{AgentRun, Beginning, Produced, run_agent};
use super::takeover;
use super::waiter::{self, Verdict, Waiter};
use crate::agent::event::Event;
use crate::agent::query::{Ended, Step};
use crate::agent::session::{Call, Context, Outcome, Session, SubAgent, ToolError};
use crate::agent::task::Task;
use crate::time::{Duration, Handle};

/// How long a synchronous child runs before it is moved to the background automatically (SYNC-13).
const AUTO_BACKGROUND_MS: u64 = 120_000;

/// Turns that all tasks get in the instant of the signal, so that a message of the same instant comes first (G14). Such
/// a message may pass through a tool, the loop and nested calls, and each of these tasks needs a turn.
const SETTLING_TURNS: u32 = 8;

/// Runs the agent and waits for it (SYNC-02).
///
/// # Errors
/// [`ToolError::Aborted`] if it was stopped (SYNC-15); a failure if it failed before it said anything (SYNC-17).
pub async fn wait(call: &Call, resolved: &Resolved) -> Result<Outcome, ToolError> {
    let session = call.context.session.clone();
    let slot = session.launches.join(call, &resolved.definition.agent_type);
    let start = SubAgent { slot: Some(slot), ..resolved.sub_agent(&session, false) };
    let context = Context::sub_agent(&call.context, start);
    let task = waiter::register(call, &resolved.input.description, &context, false);
    let run = run_agent(context, Beginning::Prompt(resolved.input.prompt.clone()));
    let collected = super::result::Collected::default();
    let worktree = resolved.worktree.clone();
    let mut waiting = Waiting(Some(Waiter { session, task, run, collected, worktree }));
    waiting.hint();
    match waiting.race().await {
        Raced::Ended(ended) => waiting.end(&ended, call, resolved),
        Raced::Signalled(by) => match waiting.0.take() {
            Some(waiter) => takeover::take_over(call, resolved, waiter, by),
            None => Err(ToolError::Aborted),
        },
    }
}

/// Milliseconds after which a child is moved to the background automatically; zero for never (SYNC-13, SYNC-14).
pub fn auto_background_ms(session: &Session) -> u64 {
    let enabled =
        session.settings.is_on("CLAUDE_AUTO_BACKGROUND_TASKS") || session.flags.is_on("tengu_auto_background_agents");
    if enabled && !session.settings.backgrounds_are_off() { AUTO_BACKGROUND_MS } else { 0 }
}

/// Which came first.
enum Raced {
    Ended(Ended),
    Signalled(&'static str),
}

/// A waiting call. However it ends, even if dropped, the child is cleaned up.
struct Waiting(Option<Waiter>);

impl Waiting {
    /// Shows the user that the child can be moved to the background.
    fn hint(&self) {
        if let Some(waiter) = &self.0
            && waiter.session.settings.interactive
        {
            waiter.session.emit(&Event::Ui { agent: waiter.task.id.clone(), kind: "background_hint" });
        }
    }

    /// Reads messages until the end or the background signal (SYNC-03, SYNC-07).
    async fn race(&mut self) -> Raced {
        let Some(waiter) = &mut self.0 else { return Raced::Signalled("user") };
        let session = waiter.session.clone();
        let task = waiter.task.clone();
        let mut signal = pin!(signal(&session, &task));
        let mut given = None;
        loop {
            let first = first(&mut waiter.run, signal.as_mut(), &mut given, &session.handle).await;
            let winner = if matches!(first, First::Signal(_)) { "signal" } else { "message" };
            session.emit(&Event::Race { agent: task.id.clone(), winner });
            match first {
                First::Signal(by) => return Raced::Signalled(by),
                First::Message(Step::Ended(ended)) => return Raced::Ended(ended),
                First::Message(Step::Yielded(produced)) => forward(waiter, produced),
            }
        }
    }

    /// Handles the end of the agent: state, result, cleanup (SYNC-04, SYNC-15..17).
    fn end(&mut self, ended: &Ended, call: &Call, resolved: &Resolved) -> Result<Outcome, ToolError> {
        let Some(waiter) = self.0.take() else { return Err(ToolError::Aborted) };
        let verdict = waiter.judge(ended);
        waiter.end(&verdict);
        let kept = clean_worktree(&waiter);
        let outcome = match &verdict {
            Verdict::Stopped => Err(ToolError::Aborted),
            Verdict::Failed(why) if !waiter.collected.has_spoken() => Err(ToolError::Failed(why.clone())),
            Verdict::Done | Verdict::Failed(_) => {
                let id = &waiter.task.id;
                let data = Completed {
                    worktree: kept,
                    ..waiter.collected.finalise(id, waiter.task.ran(waiter.session.now()))
                };
                Ok(waiter::give(call, id, &Data::Completed(data), waiter.totals(), resolved.definition.one_shot))
            }
        };
        finish(waiter, &verdict);
        outcome
    }
}

impl Drop for Waiting {
    /// Handles a call that was dropped while it waited: its own agent was stopped or moved to the background.
    fn drop(&mut self) {
        if let Some(waiter) = self.0.take() {
            waiter.end(&Verdict::Stopped);
            drop(clean_worktree(&waiter));
            finish(waiter, &Verdict::Stopped);
        }
    }
}

/// The `finally` block of a child that stayed in the foreground (SYNC-18..22). A returned result is not changed
/// (SYNC-24).
fn finish(waiter: Waiter, verdict: &Verdict) {
    leave(&waiter);
    waiter.session.tasks.unregister(&waiter.task);
    waiter.cleaned("unregister_foreground");
    waiter.sdk(verdict.sdk());
    waiter.run.close();
}

/// Removes the worktree of a child that stayed in the foreground (SYNC-23); if it must stay, its path.
fn clean_worktree(waiter: &Waiter) -> Option<Rc<str>> {
    let worktree = waiter.worktree.as_ref()?;
    waiter.cleaned("worktree");
    if let Some(why) = worktree.why_kept(&waiter.session) {
        worktree.keep(&waiter.session, why);
        return Some(worktree.path.clone());
    }
    worktree.remove(&waiter.session);
    None
}

/// Cleanup that is done even if the child continues in the background (SYNC-18, SYNC-19).
pub fn leave(waiter: &Waiter) {
    waiter.cleaned("background_hint");
    waiter.cleaned("foreground_summarization");
}

/// Collects a message and forwards progress (SYNC-03, contract TRANSCRIPT-02).
fn forward(waiter: &mut Waiter, produced: Produced) {
    if waiter.take(produced).is_some() {
        waiter.sdk("progress");
        waiter.session.emit(&Event::Ui { agent: waiter.task.id.clone(), kind: "progress" });
    }
}

enum First {
    Message(Step<Produced, Ended>),
    Signal(&'static str),
}

/// The next message or the signal. If both come in the same instant, the message wins (G14), and the signal stays
/// `given`.
async fn first(
    run: &mut AgentRun,
    signal: Pin<&mut impl Future<Output = &'static str>>,
    given: &mut Option<&'static str>,
    handle: &Handle,
) -> First {
    let by = match *given {
        Some(by) => by,
        None => crate::select! {
            step = run.next() => return First::Message(step),
            by = signal => by,
        },
    };
    *given = Some(by);
    for _ in 0..SETTLING_TURNS {
        crate::select! {
            step = run.next() => return First::Message(step),
            () = handle.yield_now() => {}
        }
    }
    First::Signal(by)
}

/// Ready when the user or the timer moves the child to the background (SYNC-12); returns which.
async fn signal(session: &Session, task: &Task) -> &'static str {
    if session.settings.backgrounds_are_off() {
        return std::future::pending().await;
    }
    match auto_background_ms(session) {
        0 => task.signal().given().await,
        delay_ms => crate::select! {
            by = task.signal().given() => by,
            () = session.handle.sleep(Duration::from_millis(delay_ms)) => "timer",
        },
    }
}
