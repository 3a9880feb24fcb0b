//! Plays a script as it is: no cache, no usage, no time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::task::{Context, Poll};

use forkcast_sim::model::answer::{Fault, Interruption};
use forkcast_sim::model::{Broken, CallError, Calling, Event, Events, Model, Question, Replying, Script};

/// Plays a script without usage and time, for tests of agents alone.
#[derive(Debug)]
pub struct ScriptPlayer<S>(RefCell<S>);

impl<S: Script> ScriptPlayer<S> {
    /// A model that says what `script` says.
    pub const fn new(script: S) -> Self {
        Self(RefCell::new(script))
    }
}

impl<S: Script> Model for ScriptPlayer<S> {
    fn call(&self, question: Question) -> Calling<'_> {
        Box::pin(async move {
            let answer = self.0.borrow_mut().answer(&question).map_err(|unscripted| CallError::Refused {
                status: 400,
                kind: "invalid_request_error".into(),
                message: unscripted.0.into(),
                retry_after: None,
            })?;
            let mut played = PlayedEvents { events: answer.events.into(), end: None };
            match answer.fault {
                Some(Fault::Refusal(error)) => return Err(error),
                Some(Fault::Interruption { after_events, how }) => played.interrupt(after_events, how),
                None => {}
            }
            Ok(Replying::new(Box::new(played)))
        })
    }
}

#[derive(Debug)]
struct PlayedEvents {
    events: VecDeque<Event>,
    end: Option<Broken>,
}

impl PlayedEvents {
    fn interrupt(&mut self, after_events: usize, how: Interruption) {
        self.events.truncate(after_events);
        match how {
            Interruption::Broken(broken) => self.end = Some(broken),
            Interruption::Closed | Interruption::GivenUp => {}
            Interruption::Error { kind, message } => self.events.push_back(Event::Error { kind, message }),
        }
    }
}

impl Events for PlayedEvents {
    fn poll_next(&mut self, _context: &mut Context<'_>) -> Poll<Option<Result<Event, Broken>>> {
        let next = self.events.pop_front().map(Ok);
        Poll::Ready(next.or_else(|| self.end.take().map(Err)))
    }
}
