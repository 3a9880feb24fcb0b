//! One answer as it arrives (contract STREAM-01..14, LOOP-09, LOOP-10, LOOP-17).

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use super::Yielded;
use super::assemble::{Assembler, Consequence};
use super::call::Answer;
use super::declared;
use super::executor::Executor;
use super::generator::Given;
use super::iteration::Loop;
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::model::{self, CallError, Calling, Replying};
use crate::time::Instant;

/// The result of one attempt.
pub(super) struct Turn {
    /// The message that is being assembled.
    pub assembler: Option<Assembler>,
    /// The tools of the turn.
    pub executor: Executor,
    /// Assembled messages in order; all are already in the conversation (LOOP-09).
    pub messages: Vec<Rc<Entry>>,
    /// Results that arrived during the stream; they are added to the conversation after the messages.
    pub results: Vec<Rc<Entry>>,
    /// Texts that hooks added after tools, to be inserted after the results.
    pub added: Vec<Rc<str>>,
    sent_at: Instant,
    has_begun: bool,
}

/// How an attempt ended.
pub(super) enum Attempt {
    /// The stream ended normally.
    Whole,
    /// The abort signal was given.
    Aborted,
    /// The provider refused, or the connection was lost before the first byte.
    Refused(CallError),
    /// The stream broke off before the end of its message.
    Broken(Rc<str>),
}

/// What happened first.
enum Next {
    Aborted,
    Answered(Answer),
    Event(Option<Result<model::Event, model::Broken>>),
}

/// What is left to do after something was yielded.
struct Step<'a> {
    given: Given<'a, Yielded>,
    /// Its message is complete.
    is_over: bool,
    /// The error that it reports.
    broken: Option<Rc<str>>,
}

impl Turn {
    pub(super) fn new(round: &Loop) -> Self {
        Self {
            assembler: None,
            executor: Executor::new(&round.context),
            messages: Vec::new(),
            results: Vec::new(),
            added: Vec::new(),
            sent_at: round.context.session.now(),
            has_begun: false,
        }
    }

    /// Whether any part of it was yielded.
    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// How the attempt ended if its stream ends here, `broken` or not.
    fn end(&self, broken: Rc<str>) -> Attempt {
        let is_whole = self.assembler.is_none() && !self.messages.is_empty();
        if is_whole { Attempt::Whole } else { Attempt::Broken(broken) }
    }

    /// A tool ended during the stream: returns its result, to be yielded at once (STREAM-13).
    fn take_early(&mut self, answer: Answer) -> Rc<Entry> {
        self.results.push(Rc::clone(&answer.entry));
        self.added.extend(answer.added);
        answer.entry
    }
}

impl Loop {
    /// Reads the answer to a question as it arrives.
    pub(super) async fn attempt(&self, calling: Calling<'_>, turn: &mut Turn) -> Attempt {
        let _waiting = self.context.session.handle.waiting_for("the answer to a request");
        let mut aborted = std::pin::pin!(self.context.abort.given());
        let mut replying = match reply(calling, aborted.as_mut()).await {
            Ok(replying) => replying,
            Err(ended) => return ended,
        };
        loop {
            // Polled in this order, as by `select!`, whose future would hold those of its branches.
            let next = poll_fn(|context| {
                if aborted.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Next::Aborted);
                }
                if let Poll::Ready(answer) = turn.executor.poll_next(context) {
                    return Poll::Ready(Next::Answered(answer));
                }
                replying.poll_next(context).map(Next::Event)
            })
            .await;
            let Step { given, is_over, broken } = match self.step_of(turn, next) {
                Ok(step) => step,
                Err(ended) => return ended,
            };
            given.await;
            if is_over && let Some(given) = self.complete(turn) {
                given.await;
            }
            if let Some(broken) = broken {
                return turn.end(broken);
            }
        }
    }

    /// The message is complete: adds it to the conversation and yields it.
    fn complete(&self, turn: &mut Turn) -> Option<Given<'_, Yielded>> {
        let assembler = turn.assembler.take()?;
        Some(self.append(self.finish(turn, assembler)))
    }

    /// Takes what happened and yields it. Not in the future that awaits this, which would be larger by each of the values.
    fn step_of(&self, turn: &mut Turn, next: Next) -> Result<Step<'_>, Attempt> {
        let event = match next {
            Next::Aborted => return Err(Attempt::Aborted),
            Next::Answered(answer) => {
                let given = self.yielder.give(Yielded::Entry(turn.take_early(answer)));
                return Ok(Step { given, is_over: false, broken: None });
            }
            Next::Event(Some(Ok(event))) => event,
            Next::Event(Some(Err(broken))) => return Err(turn.end(broken.to_string().into())),
            Next::Event(None) => return Err(turn.end("the stream ended before its message".into())),
        };
        let is_over = event == model::Event::MessageStop;
        let broken = self.take(turn, &event);
        Ok(Step { given: self.yielder.give(Yielded::Stream(event)), is_over, broken })
    }

    /// Handles one event (STREAM-02). Returns the error if the event reports one.
    fn take(&self, turn: &mut Turn, event: &model::Event) -> Option<Rc<str>> {
        self.note(event);
        let broken = match event {
            model::Event::MessageStart { usage, .. } => {
                self.begin(turn, Assembler::new(self.context.session.ids.next("msg"), *usage));
                None
            }
            model::Event::Error { kind, message } => Some(format!("{kind}: {message}").into()),
            _ => None,
        };
        match turn.assembler.as_mut().map(|assembler| assembler.take(event)) {
            Some(Consequence::Called { id, name }) => turn.executor.add(&id, &name),
            Some(Consequence::Prepared(prepared)) => turn.executor.begin(&prepared),
            Some(Consequence::Data) | None => {}
        }
        broken
    }

    fn note(&self, event: &model::Event) {
        let index = match event {
            model::Event::BlockStart { index, .. }
            | model::Event::BlockDelta { index, .. }
            | model::Event::BlockStop { index } => Some(*index),
            _ => None,
        };
        let agent = Rc::clone(&self.context.agent);
        let turn = self.context.turns.get();
        self.context.emit(&Event::Response { agent, turn, kind: event.name(), index });
    }

    /// A message begins: the first one gives the time to the first token (STREAM-03).
    fn begin(&self, turn: &mut Turn, assembler: Assembler) {
        turn.assembler = Some(assembler);
        if turn.has_begun {
            return;
        }
        turn.has_begun = true;
        let after_ms = self.context.session.now().since(turn.sent_at).as_millis();
        let agent = Rc::clone(&self.context.agent);
        let turn = self.context.turns.get();
        self.context.emit(&Event::FirstEvent { agent, turn, after_ms });
        if let Some(slot) = &self.context.slot {
            slot.begun();
        }
    }

    /// A message is complete (STREAM-08, STREAM-09): its usage is final. It is to be added to the conversation and
    /// yielded.
    fn finish(&self, turn: &mut Turn, assembler: Assembler) -> Rc<Entry> {
        let agent = Rc::clone(&self.context.agent);
        let of_turn = self.context.turns.get();
        self.context.emit(&Event::Usage { agent, turn: of_turn, usage: assembler.usage().into() });
        let (message, calls) = assembler.whole();
        let message = declared::size_launching(&self.context, message);
        turn.executor.hold(&message, &calls);
        turn.messages.push(Rc::clone(&message));
        message
    }

    /// Appends an entry to the conversation and yields it; to be awaited at once.
    pub(super) fn append(&self, entry: Rc<Entry>) -> Given<'_, Yielded> {
        self.context.entries.borrow_mut().push(Rc::clone(&entry));
        self.yielder.give(Yielded::Entry(entry))
    }

    /// Inserts a text of the runtime as a user message; to be awaited at once.
    pub(super) fn insert(&self, words: &str) -> Given<'_, Yielded> {
        self.append(Entry::user(self.context.session.ids.next("msg"), words, Nature::Inserted))
    }
}

/// Waits for the first byte of an answer.
async fn reply(mut calling: Calling<'_>, mut aborted: Pin<&mut impl Future<Output = ()>>) -> Result<Replying, Attempt> {
    poll_fn(|context| {
        if aborted.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(Attempt::Aborted));
        }
        calling.as_mut().poll(context).map(|replied| replied.map_err(Attempt::Refused))
    })
    .await
}
