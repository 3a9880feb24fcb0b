//! The tools of one turn. Some start while the message is still streaming; the remainder runs after it (contract
//! STREAM-10..17, LOOP-11, LOOP-12, LOOP-23).
//!
//! * A call is added when its block begins and starts when its arguments are complete. Started calls run concurrently
//!   (STREAM-11, STREAM-12).
//! * Calls that must wait for the whole message (G07) start after it in order, and run concurrently with the rest:
//!   serial launch, parallel execution (C20; two foreground agents of one message send their requests 1 to 6 ms apart,
//!   `clients.md` 1).
//! * If tools do not start early, all of them are the remainder: `runTools` awaits them one after another (LOOP-11).

use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{self, Poll};

use super::assemble::Prepared;
use super::call::{self, Answer, Occasion};
use crate::agent::entry::{Entry, ToolUse};
use crate::agent::event::Event;
use crate::agent::session::Context;
use crate::wire::Index;

/// The tools of one turn.
pub(super) struct Executor {
    context: Rc<Context>,
    /// Calls start while the message streams.
    is_early: bool,
    /// Added calls whose arguments are not complete.
    announced: Vec<Rc<str>>,
    running: VecDeque<Running>,
    /// A call of the remainder is running; the next one waits for its end.
    is_in_turn: bool,
    held: VecDeque<PendingCall>,
    /// The message is complete, so the remainder may run.
    is_released: bool,
}

struct Running {
    tool_use: ToolUse,
    answering: Pin<Box<dyn Future<Output = Answer>>>,
    /// It belongs to the remainder, which runs one call at a time.
    in_turn: bool,
}

struct PendingCall {
    prepared: Prepared,
    message: Option<Rc<Entry>>,
}

impl Executor {
    /// An executor without calls.
    pub fn new(context: &Rc<Context>) -> Self {
        Self {
            context: Rc::clone(context),
            is_early: context.session.settings.streaming_tools,
            announced: Vec::new(),
            running: VecDeque::new(),
            is_in_turn: false,
            held: VecDeque::new(),
            is_released: false,
        }
    }

    /// A call has begun to arrive (STREAM-10). After an abort none does, for the stream is not read on (STREAM-14).
    pub fn add(&mut self, id: &Rc<str>, name: &Rc<str>) {
        debug_assert!(!self.context.abort.is_given(), "an aborted stream is not read");
        if !self.is_early {
            return;
        }
        let agent = Rc::clone(&self.context.agent);
        let tool_use = Rc::clone(id);
        self.context.emit(&Event::ToolAdded { agent, tool_use, name: Rc::clone(name) });
        self.announced.push(Rc::clone(id));
    }

    /// The arguments of a call are complete. It starts (STREAM-11), unless it waits for the message.
    pub fn begin(&mut self, prepared: &Prepared) {
        let Some(at) = self.announced.iter().position(|id| *id == prepared.tool_use.id) else { return };
        self.announced.remove(at);
        let ToolUse { name, input, .. } = &prepared.tool_use;
        let settings = &self.context.session.settings;
        let waits = self.context.pool().get(name).is_some_and(|tool| tool.waits_for_message(settings, input));
        if waits {
            self.held.push_back(PendingCall { prepared: prepared.clone(), message: None });
        } else {
            let occasion = Occasion { during_stream: true, message: None };
            self.start(prepared.clone(), occasion, false);
        }
    }

    /// A message is complete. Those of its calls that did not start while it streamed are held for the remainder.
    pub fn hold(&mut self, message: &Rc<Entry>, calls: &[Prepared]) {
        // If two calls share an id, the first counts.
        let mut places: Index<Rc<str>, usize> = Index::default();
        for (at, held) in self.held.iter().enumerate().rev() {
            places.insert(Rc::clone(&held.prepared.tool_use.id), at);
        }
        for prepared in calls {
            let place = places.get(&prepared.tool_use.id);
            if let Some(held) = place.and_then(|at| self.held.get_mut(*at)) {
                held.message = Some(Rc::clone(message));
            } else if !self.is_early {
                places.insert(Rc::clone(&prepared.tool_use.id), self.held.len());
                self.held.push_back(PendingCall { prepared: prepared.clone(), message: Some(Rc::clone(message)) });
            }
        }
    }

    /// Takes over calls of a message that was complete before this loop began.
    pub fn resume(&mut self, message: &Rc<Entry>, calls: &[Prepared]) {
        let held = calls.iter().map(|call| PendingCall { prepared: call.clone(), message: Some(Rc::clone(message)) });
        self.held.extend(held);
    }

    /// The stream is over, so held calls may run (STREAM-15).
    pub fn release(&mut self) {
        self.is_released = true;
    }

    /// Whether every call was answered.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.held.is_empty()
    }

    /// The next result, in the order in which tools end (STREAM-13). Never ready if nothing runs.
    pub async fn next(&mut self) -> Answer {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// Like [`Self::next`], for manual polling.
    pub fn poll_next(&mut self, context: &mut task::Context<'_>) -> Poll<Answer> {
        self.start_held();
        let ended = self.running.iter_mut().enumerate().find_map(|(at, running)| {
            match running.answering.as_mut().poll(context) {
                Poll::Ready(answer) => Some((at, answer)),
                Poll::Pending => None,
            }
        });
        let Some((at, answer)) = ended else { return Poll::Pending };
        let ended = self.running.remove(at);
        self.is_in_turn &= !ended.is_some_and(|ended| ended.in_turn);
        Poll::Ready(answer)
    }

    /// Starts held calls after the stream: all calls that waited for the message, or the next call of the remainder if
    /// the previous one has ended.
    fn start_held(&mut self) {
        while self.is_released && !self.is_in_turn {
            let Some(PendingCall { prepared, message }) = self.held.pop_front() else { return };
            self.start(prepared, Occasion { during_stream: false, message }, !self.is_early);
        }
    }

    fn start(&mut self, prepared: Prepared, occasion: Occasion, in_turn: bool) {
        let tool_use = prepared.tool_use.clone();
        let answering = Box::pin(call::answer(Rc::clone(&self.context), prepared, occasion));
        self.is_in_turn |= in_turn;
        self.running.push_back(Running { tool_use, answering, in_turn });
    }

    /// Stops after an abort. Running tools have seen the signal and get one poll to end by themselves; the others are
    /// dropped. Returns an answer for every unanswered call (LOOP-15).
    pub async fn stop(mut self) -> Vec<Answer> {
        let mut answers = Vec::new();
        for running in &mut self.running {
            let ended = std::future::poll_fn(|context| Poll::Ready(running.answering.as_mut().poll(context))).await;
            answers.push(match ended {
                Poll::Ready(answer) => answer,
                Poll::Pending => call::interrupted(&self.context, &running.tool_use),
            });
        }
        let held = self.held.iter().map(|held| call::interrupted(&self.context, &held.prepared.tool_use));
        answers.extend(held);
        answers
    }
}
