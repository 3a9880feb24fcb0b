//! The agent itself, whoever waits for it (contract CTX-07, CTX-14, LIFE-03): context, prompt, own loop, transcript.

use std::cell::RefCell;
use std::rc::Rc;

use crate::agent::entry::Entry;
use crate::agent::event::Event;
use crate::agent::query::{Ended, Generator, Reason, Step, Yielded, Yielder, query};
use crate::agent::session::{Context, Scope};
use crate::time::Part;

/// What an agent begins with.
pub enum Beginning {
    /// Its task: a new history that holds nothing else (contract CTX-08).
    Prompt(Rc<str>),
    /// These messages behind its parent's history (contract FORK-27, FORK-28).
    Fork(Vec<Rc<Entry>>),
    /// The history that its context holds: it goes on (contract SYNC-09).
    History,
    /// Everything is said: it only ends.
    End,
}

/// What an agent produced.
#[derive(Clone)]
pub enum Produced {
    /// A message; it stands in the transcript already (contract TRANSCRIPT-07).
    Message(Rc<Entry>),
    /// The message of this id counts no more.
    Struck(Rc<str>),
}

/// An agent under way. Dropping it is its return path: the loop ends where it stands, and what hangs on the agent is
/// taken away (contract SYNC-08, CTX-16).
pub struct AgentRun {
    /// Its context.
    pub context: Rc<Context>,
    // The order of the fields is the order of dropping: the loop before what it stands on.
    messages: Part<Step<Produced, Ended>>,
    /// Held here and not by the loop: it is tidied up after the terminal state, which the waiter gives.
    scope: Rc<RefCell<Option<Scope>>>,
}

impl AgentRun {
    /// The next message, or the end. It may be dropped before it is ready: nothing is lost.
    pub async fn next(&mut self) -> Step<Produced, Ended> {
        self.messages.next().await
    }

    /// Tidies up behind the agent (contract CTX-16).
    pub fn close(self) {
        drop(self.messages);
        let scope = self.scope.take();
        drop(scope);
    }
}

/// Begins to run the agent of `context` (`runAgent`).
pub fn run_agent(context: Rc<Context>, beginning: Beginning) -> AgentRun {
    let scope = Rc::new(RefCell::new(None));
    let inside = context.clone();
    let held = scope.clone();
    let mut messages = Generator::new(move |yielder| async move { body(inside, beginning, held, yielder).await });
    let messages = context.session.handle.part(move |polled| messages.poll_step(polled));
    AgentRun { context, messages, scope }
}

async fn body(
    context: Rc<Context>,
    beginning: Beginning,
    held: Rc<RefCell<Option<Scope>>>,
    yielder: Yielder<Produced>,
) -> Ended {
    started(&context);
    let scope = match &beginning {
        Beginning::Prompt(prompt) => crate::select! {
            scope = context.begin(prompt) => Some(scope),
            () = context.abort.given() => None,
        },
        Beginning::Fork(_) | Beginning::History | Beginning::End => Some(context.resume()),
    };
    let Some(scope) = scope else { return ended(&context, Reason::Aborted) };
    held.replace(Some(scope));
    let first: Vec<Rc<Entry>> = match beginning {
        Beginning::Prompt(_) => context.entries.borrow().clone(),
        Beginning::Fork(built) => {
            context.entries.borrow_mut().extend(built.iter().cloned());
            built
        }
        Beginning::History => Vec::new(),
        Beginning::End => return ended(&context, Reason::Completed),
    };
    for entry in &first {
        context.record(entry);
    }
    if !is_its_turn(&context).await {
        return ended(&context, Reason::Aborted);
    }
    converse(&context, &yielder).await
}

/// A fork waits until its launch policy lets it ask; says whether it came to that.
async fn is_its_turn(context: &Context) -> bool {
    let Some(child) = &context.fork else { return true };
    let _waiting = context.session.handle.waiting_for("its turn among the forks of one message");
    crate::select! {
        () = context.abort.given() => false,
        () = child.slot.turn(&context.session.handle) => true,
    }
}

/// Runs the loop and writes every message down before anybody sees it (contract TRANSCRIPT-07).
async fn converse(context: &Rc<Context>, yielder: &Yielder<Produced>) -> Ended {
    let mut query = query(context.clone());
    loop {
        match query.next().await {
            Step::Yielded(Yielded::Entry(entry)) => {
                context.record(&entry);
                yielder.give(Produced::Message(entry)).await;
            }
            Step::Yielded(Yielded::Tombstone(uuid)) => {
                context.strike(&uuid);
                yielder.give(Produced::Struck(uuid)).await;
            }
            Step::Yielded(Yielded::Stream(_)) => {}
            Step::Ended(ended) => {
                // Whoever waits for its first byte waits for nothing from here on.
                if let Some(child) = &context.fork {
                    child.slot.begun();
                }
                return ended;
            }
        }
    }
}

fn started(context: &Context) {
    context.emit(&Event::AgentStarted {
        agent: context.agent.clone(),
        parent: context.parent.as_ref().map_or_else(|| "main".into(), |parent| parent.agent.clone()),
        agent_type: context.agent_type(),
        is_async: context.is_async,
    });
}

fn ended(context: &Context, reason: Reason) -> Ended {
    Ended { reason, turns: context.turns.get(), error: None }
}
