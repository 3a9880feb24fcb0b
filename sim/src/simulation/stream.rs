//! An answer on its way to its agent.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::vec;

use super::pace::Pace;
use super::service::{AnswerEnd, OpenRequest, Service};
use super::traffic::Call;
use crate::model::answer::{Fault, Interruption};
use crate::model::{Answer, Broken, Delta, Event, Events, Opened, StopReason};
use crate::time::{Duration, Handle, Instant, Sleep};
use crate::wire::Usage;

/// A request in flight. The service learns its end in any case, even if the agent drops it.
pub(super) struct Open {
    served: OpenRequest,
    service: Rc<RefCell<Service>>,
    handle: Handle,
    /// Tokens of the answer that have arrived; `None` before the first byte.
    arrived: Option<u64>,
    call: Call,
}

impl Open {
    /// A request that was accepted.
    pub fn new(served: OpenRequest, service: Rc<RefCell<Service>>, handle: Handle, call: Call) -> Self {
        Self { served, service, handle, arrived: None, call }
    }

    fn begin(&mut self) {
        self.arrived = Some(0);
        self.call.first_byte(self.handle.now());
        self.service.borrow_mut().first_byte(&self.served, self.handle.now());
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.call.billed(self.arrived.unwrap_or_default());
        let how = self.arrived.map_or(AnswerEnd::GivenUp, |output_tokens| AnswerEnd::Ended { output_tokens });
        self.service.borrow_mut().answered(&self.served, how, self.handle.now());
    }
}

/// An arriving answer.
pub(super) struct Stream {
    open: Open,
    coming: vec::IntoIter<Coming>,
    times: Times,
    began: Instant,
    /// Few answers break off, and thousands may be on their way.
    end: Option<Box<Interruption>>,
    sleep: Option<Sleep>,
}

/// An event that has not arrived, without usage. The frequent ones take a third of an [`Event`]: thousands of answers may
/// be on their way.
enum Coming {
    Start(Rc<str>),
    OpensText(u32),
    Text(u32, Rc<str>),
    Stops(u32),
    Delta(Option<StopReason>),
    End,
    Other(Box<Event>),
}

/// When the events of an answer arrive.
struct Times {
    streaming: Duration,
    output_tokens: u64,
    /// Bytes of all events that the model itself wrote, and of those before the next one.
    bytes: u64,
    said: u64,
    /// The times of a recording, which has them for the first events or for none.
    recorded: Option<Box<vec::IntoIter<Duration>>>,
}

impl Stream {
    /// An answer whose first byte is still to come.
    pub fn new(answer: Answer, open: Open, pace: &Pace) -> Self {
        let bytes: u64 = answer.events.iter().map(said_bytes).sum();
        let output_tokens = answer.output_tokens.unwrap_or_else(|| (bytes * 10).div_ceil(31).max(1));
        let streaming = answer.streaming.unwrap_or_else(|| pace.streaming(output_tokens));
        let recorded = (!answer.arrivals.is_empty()).then(|| Box::new(answer.arrivals.into_iter()));
        let times = Times { streaming, output_tokens, bytes, said: 0, recorded };
        let mut events = answer.events;
        let mut end = None;
        if let Some(Fault::Interruption { after_events, how }) = answer.fault {
            events.truncate(after_events);
            end = Some(Box::new(how));
        }
        let mut coming = Vec::with_capacity(events.len());
        coming.extend(events.into_iter().map(Coming::from));
        Self { open, coming: coming.into_iter(), times, began: Instant::default(), end, sleep: None }
    }

    /// The first byte has come.
    pub fn begin(&mut self) {
        self.began = self.open.handle.now();
        self.open.begin();
    }

    /// No event is left.
    fn end(&mut self) -> Poll<Option<Result<Event, Broken>>> {
        if self.end.as_deref() == Some(&Interruption::GivenUp) {
            return Poll::Pending;
        }
        let end = self.end.take().map(|end| *end);
        if let Some(Interruption::Error { kind, message }) = end {
            // Together with the last event.
            let event = Event::Error { kind, message };
            self.open.call.event(&event, self.open.handle.now());
            return Poll::Ready(Some(Ok(event)));
        }
        self.open.call.ended(end.clone());
        match end {
            Some(Interruption::Broken(broken)) => Poll::Ready(Some(Err(broken))),
            _ => Poll::Ready(None),
        }
    }
}

impl Events for Stream {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Broken>>> {
        let Some(next) = self.coming.as_slice().first() else {
            return self.end();
        };
        let (after, tokens) = self.times.of(next);
        let at = self.began + after;
        if self.open.handle.now() < at {
            let handle = &self.open.handle;
            let sleep = self.sleep.get_or_insert_with(|| handle.sleep_until(at));
            if Pin::new(sleep).poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        self.sleep = None;
        let Some(next) = self.coming.next() else { return Poll::Ready(None) };
        self.times.pass(&next);
        self.open.arrived = Some(tokens);
        let event = next.arrived(&self.open.served.usage, tokens);
        self.open.call.event(&event, self.open.handle.now());
        Poll::Ready(Some(Ok(event)))
    }
}

impl Times {
    /// The time of the next event since the first byte, and the number of tokens that have arrived with it.
    fn of(&self, next: &Coming) -> (Duration, u64) {
        let said = self.said + next.said_bytes();
        let share = |whole: u64| {
            if self.bytes == 0 { 0 } else { (u128::from(whole) * u128::from(said) / u128::from(self.bytes)) as u64 }
        };
        let is_last = matches!(next, Coming::Delta(_) | Coming::End);
        let (after, tokens) = if is_last {
            (self.streaming, self.output_tokens)
        } else {
            (Duration(share(self.streaming.0)), share(self.output_tokens))
        };
        let recorded = self.recorded.as_ref().and_then(|times| times.as_slice().first());
        (recorded.copied().unwrap_or(after), tokens)
    }

    fn pass(&mut self, next: &Coming) {
        self.said += next.said_bytes();
        if let Some(recorded) = &mut self.recorded {
            recorded.next();
        }
    }
}

impl Coming {
    /// The event with the parts that a script omits.
    fn arrived(self, usage: &Usage, output_tokens: u64) -> Event {
        match self {
            Self::Start(id) => Event::MessageStart { id, usage: Usage { output_tokens: 1, ..*usage } },
            Self::OpensText(index) => Event::BlockStart { index: index as usize, block: Opened::Text },
            Self::Text(index, text) => Event::BlockDelta { index: index as usize, delta: Delta::Text(text) },
            Self::Stops(index) => Event::BlockStop { index: index as usize },
            Self::Delta(stop_reason) => Event::MessageDelta { stop_reason, usage: Usage { output_tokens, ..*usage } },
            Self::End => Event::MessageStop,
            Self::Other(event) => *event,
        }
    }

    fn said_bytes(&self) -> u64 {
        match self {
            Self::Text(_, text) => text.len() as u64,
            Self::Other(event) => said_bytes(event),
            _ => 0,
        }
    }
}

impl From<Event> for Coming {
    fn from(event: Event) -> Self {
        match event {
            Event::MessageStart { id, .. } => Self::Start(id),
            Event::MessageDelta { stop_reason, .. } => Self::Delta(stop_reason),
            Event::MessageStop => Self::End,
            Event::BlockStart { index, block: Opened::Text } if is_small(index) => Self::OpensText(index as u32),
            Event::BlockDelta { index, delta: Delta::Text(text) } if is_small(index) => Self::Text(index as u32, text),
            Event::BlockStop { index } if is_small(index) => Self::Stops(index as u32),
            other => Self::Other(Box::new(other)),
        }
    }
}

/// Whether the index of a block has its place in a [`Coming`].
const fn is_small(index: usize) -> bool {
    index <= u32::MAX as usize
}

/// Bytes of an event that the model itself wrote.
fn said_bytes(event: &Event) -> u64 {
    match event {
        Event::BlockDelta { delta: Delta::Text(text) | Delta::Thinking(text) | Delta::InputJson(text), .. } => {
            text.len() as u64
        }
        _ => 0,
    }
}
