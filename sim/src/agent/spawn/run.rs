//! Runs an agent, in the foreground or background (contract CTX-07, CTX-14, LIFE-03): context, prompt, own loop,
//! transcript.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{self, Poll};

use super::teammate::{Next, next_turn};
use crate::agent::entry::Entry;
use crate::agent::event::Event;
use crate::agent::query::{Ended, Generator, Reason, Step, Yielded, Yielder, query};
use crate::agent::session::{Context, Scope};
use crate::time::Part;

/// What an agent starts with.
pub enum Beginning {
    /// Its prompt: a new history without other messages (contract CTX-08).
    Prompt(Rc<str>),
    /// These messages after the history in its context: those of a fork after its parent's (contract FORK-27, FORK-28),
    /// or a message to an agent that had ended (contract MSG-09).
    After(Vec<Rc<Entry>>),
    /// The history in its context, which it continues (contract SYNC-09).
    History,
    /// Nothing remains to be done; the run only ends.
    End,
}

/// What an agent produced.
#[derive(Clone)]
pub enum Produced {
    /// A message; it is already in the transcript (contract TRANSCRIPT-07).
    Message(Rc<Entry>),
    /// The message with this id was withdrawn.
    Struck(Rc<str>),
}

/// A running agent. Dropping it is its return path: the loop stops where it is, and the agent's state in the session is
/// removed (contract SYNC-08, CTX-16).
pub struct AgentRun {
    /// Its context.
    pub context: Rc<Context>,
    // Fields are dropped in this order: the loop before the state it uses.
    messages: Part<Step<Produced, Ended>>,
    /// Held here and not by the loop, because cleanup follows the final state, which the waiter sets.
    scope: Rc<RefCell<Option<Scope>>>,
}

impl AgentRun {
    /// The next message, or the end. Dropping the future before it is ready loses nothing.
    pub async fn next(&mut self) -> Step<Produced, Ended> {
        self.messages.next().await
    }

    /// Like [`Self::next`], for manual polling.
    pub fn poll_next(&mut self, context: &mut task::Context<'_>) -> Poll<Step<Produced, Ended>> {
        self.messages.poll_next(context)
    }

    /// Cleans up after the agent (contract CTX-16).
    pub fn close(self) {
        drop(self.messages);
        let scope = self.scope.take();
        drop(scope);
    }
}

/// Starts running the agent of `context` (`runAgent`).
pub fn run_agent(context: Rc<Context>, beginning: Beginning) -> AgentRun {
    let scope = Rc::new(RefCell::new(None));
    let inside = context.clone();
    let held = scope.clone();
    let mut messages = Generator::new(move |yielder| body(inside, beginning, held, yielder));
    let messages = context.session.handle.part(move |polled| messages.poll_step(polled));
    AgentRun { context, messages, scope }
}

async fn body(
    context: Rc<Context>,
    beginning: Beginning,
    held: Rc<RefCell<Option<Scope>>>,
    yielder: Yielder<Produced>,
) -> Ended {
    // Thousands of agents may wait for their answers at a time: how they began is no part of what waits.
    if let Err(reason) = Box::pin(begin(Rc::clone(&context), beginning, held)).await {
        return ended(&context, reason);
    }
    if !Box::pin(is_its_turn(&context)).await {
        return ended(&context, Reason::Aborted);
    }
    loop {
        let last = converse(&context, &yielder).await;
        // Thousands of agents may run at a time, and only teammates have another turn.
        if context.teammate.is_none() {
            return last;
        }
        let messages = match Box::pin(next_turn(&context, &last)).await {
            Next::Turn(messages) => messages,
            Next::End => return last,
            Next::Stopped => return ended(&context, Reason::Aborted),
        };
        for message in messages {
            context.entries.borrow_mut().push(message.clone());
            context.record(&message);
            yielder.give(Produced::Message(message)).await;
        }
    }
}

/// Begins the run; an error is why it ends at once.
async fn begin(context: Rc<Context>, beginning: Beginning, held: Rc<RefCell<Option<Scope>>>) -> Result<(), Reason> {
    started(&context);
    let scope = match &beginning {
        Beginning::Prompt(prompt) => crate::select! {
            scope = Box::pin(context.begin(prompt)) => Some(scope),
            () = context.abort.given() => None,
        },
        Beginning::After(_) | Beginning::History | Beginning::End => Some(context.resume()),
    };
    let Some(scope) = scope else { return Err(Reason::Aborted) };
    held.replace(Some(scope));
    if !matches!(beginning, Beginning::Prompt(_)) {
        crate::select! {
            () = Box::pin(context.open_servers()) => {}
            () = context.abort.given() => return Err(Reason::Aborted),
        }
    }
    let first: Vec<Rc<Entry>> = match beginning {
        Beginning::Prompt(_) => context.entries.borrow().to_vec(),
        Beginning::After(built) => {
            context.entries.borrow_mut().extend(built.iter().cloned());
            built
        }
        Beginning::History => Vec::new(),
        Beginning::End => return Err(Reason::Completed),
    };
    for entry in &first {
        context.record(entry);
    }
    Ok(())
}

/// Waits until the launch policy lets an agent send its first request; returns whether it was not stopped before.
async fn is_its_turn(context: &Context) -> bool {
    let Some(slot) = &context.slot else { return true };
    let _waiting = context.session.handle.waiting_for("its turn among the agents of one message");
    crate::select! {
        () = context.abort.given() => false,
        () = slot.turn(&context.session.handle) => true,
    }
}

/// Runs the loop, and records every message before it is passed on (contract TRANSCRIPT-07).
async fn converse(context: &Rc<Context>, yielder: &Yielder<Produced>) -> Ended {
    let mut query = query(context.clone());
    loop {
        let produced = match query.next().await {
            Step::Yielded(Yielded::Entry(entry)) => {
                context.record(&entry);
                Produced::Message(entry)
            }
            Step::Yielded(Yielded::Tombstone(uuid)) => {
                context.strike(&uuid);
                Produced::Struck(uuid)
            }
            Step::Yielded(Yielded::Stream(_)) => continue,
            Step::Ended(ended) => {
                // Siblings that wait for its first byte or its end need not wait any longer.
                if let Some(slot) = &context.slot {
                    slot.ended();
                }
                return ended;
            }
        };
        yielder.give(produced).await;
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
