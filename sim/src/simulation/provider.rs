//! The model that agents call in a simulation: a script with a cache, a clock and a bill.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::alarm::{Alarm, Cause};
use super::limits::{Meter, RateLimits};
use super::pace::Pace;
use super::service::{AnswerEnd, OpenRequest, Service};
use super::traffic::{Call, Traffic};
use crate::model::answer::{Fault, Interruption};
use crate::model::{Answer, Broken, CallError, Calling, Delta, Event, Events, Model, Question, Replying, Script};
use crate::time::{Duration, Handle, Instant, Sleep};
use crate::wire::Usage;

/// Answers with a script's content, with the timing and the bill of a provider.
pub struct Provider {
    handle: Handle,
    pace: Pace,
    script: RefCell<Box<dyn Script>>,
    service: Rc<RefCell<Service>>,
    alarm: Rc<Alarm>,
    turns_max: Option<u64>,
    turns: Cell<u64>,
    outages: Vec<Outage>,
    meter: RefCell<Meter>,
    traffic: Traffic,
}

/// A span of time in which the provider refuses everything, for example because it is overloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The first instant.
    pub from: Instant,
    /// The first instant after it.
    pub until: Instant,
    /// The error that it returns.
    pub error: CallError,
}

impl Provider {
    /// A provider on this clock. A request without an answer in the script rings `alarm`.
    pub fn new(
        handle: Handle,
        pace: Pace,
        script: Box<dyn Script>,
        service: Rc<RefCell<Service>>,
        alarm: Rc<Alarm>,
    ) -> Self {
        let script = RefCell::new(script);
        let turns = Cell::default();
        let meter = RefCell::new(Meter::new(RateLimits::default()));
        Self {
            handle,
            pace,
            script,
            service,
            alarm,
            turns_max: None,
            turns,
            outages: Vec::new(),
            meter,
            traffic: Traffic::default(),
        }
    }

    /// Refuses everything in these spans.
    pub fn with_outages(mut self, outages: Vec<Outage>) -> Self {
        self.outages = outages;
        self
    }

    /// Accepts at most this much per minute.
    pub fn with_rate_limits(mut self, limits: RateLimits) -> Self {
        self.meter = RefCell::new(Meter::new(limits));
        self
    }

    /// Notes all calls in `traffic`.
    pub fn with_traffic(mut self, traffic: Traffic) -> Self {
        self.traffic = traffic;
        self
    }

    /// Rings the alarm instead of answering after this many answers.
    pub fn with_limit(mut self, turns_max: Option<u64>) -> Self {
        self.turns_max = turns_max;
        self
    }

    /// The script's answer. `None` if it has none, or no more are allowed: the alarm rings, and the run ends.
    fn answer(&self, question: &Question) -> Option<Answer> {
        let answer = self.script.borrow_mut().answer(question);
        let cause = match answer {
            Err(unscripted) => Cause::Unscripted(unscripted),
            Ok(answer) => match self.turns_max.filter(|limit| self.turns.get() >= *limit) {
                Some(limit) => Cause::Turns { limit, at: self.handle.now() },
                None => {
                    self.turns.set(self.turns.get() + 1);
                    return Some(answer);
                }
            },
        };
        self.alarm.ring(cause);
        None
    }

    /// Checks the rate limits before the script is used: a request refused now is sent again.
    fn admit(&self, question: &Question, at: Instant) -> Result<(), CallError> {
        let mut meter = self.meter.borrow_mut();
        if !meter.is_on(at) {
            return Ok(());
        }
        let mut service = self.service.borrow_mut();
        // The service refuses requests that the provider would never accept.
        let Some(usage) = service.foresee(&question.agent, &question.draft, at) else { return Ok(()) };
        let admitted = meter.admit(&question.draft.model, &usage, at);
        service.over_limits += u64::from(admitted.is_err());
        admitted
    }

    /// Decides about a request. Nothing of this takes time, so that a request which waits for its answer keeps only the
    /// answer.
    fn accept(&self, mut question: Question) -> Response {
        let now = self.handle.now();
        let asked = self.script.borrow_mut().verbatim(&question).map(|sent| {
            let drafted = std::mem::replace(&mut question.draft, Rc::new(sent));
            Question { draft: drafted, ..question.clone() }
        });
        let call = self.traffic.begin(&question, now);
        let refused = |call, error, after| Response::Refused { call, error, after };
        if let Some(outage) = self.outages.iter().find(|outage| (outage.from..outage.until).contains(&now)) {
            return refused(call, outage.error.clone(), self.pace.refusal);
        }
        if let Err(error) = self.admit(&question, now) {
            return refused(call, error, self.pace.refusal);
        }
        let Some(answer) = self.answer(asked.as_ref().unwrap_or(&question)) else { return Response::Unscripted };
        if let Some(model) = answer.model.as_ref().filter(|_| asked.is_none()) {
            Rc::make_mut(&mut question.draft).model = Rc::clone(model);
        }
        if let Some(Fault::Refusal(error)) = answer.fault {
            return refused(call, error, answer.first_byte.unwrap_or(self.pace.refusal));
        }
        let served = match self.service.borrow_mut().serve(&question.agent, &question.draft, answer.unseen, now) {
            Ok(served) => served,
            Err(refusal) => return refused(call, invalid(&refusal.to_string()), self.pace.refusal),
        };
        call.accepted(served.line);
        let usage = served.usage;
        let wait = answer.first_byte.unwrap_or_else(|| {
            let written = usage.cache_creation_input_tokens();
            self.pace.first_byte(usage.cache_read_input_tokens, written, usage.input_tokens)
        });
        let open = Open { served, service: self.service.clone(), handle: self.handle.clone(), arrived: None, call };
        let has_first_byte = !answer.is_without_first_byte();
        Response::Accepted(Box::new(Stream::new(answer, open, &self.pace)), has_first_byte.then_some(wait))
    }

    async fn serve(&self, question: Question) -> Result<Replying, CallError> {
        match self.accept(question) {
            Response::Accepted(stream, Some(wait)) => Ok(self.await_first_byte(stream, wait).await),
            // Thousands of requests may wait for their first bytes at a time.
            other => Box::pin(self.serve_nothing(other)).await,
        }
    }

    async fn await_first_byte(&self, mut stream: Box<Stream>, wait: Duration) -> Replying {
        self.handle.sleep(wait).await;
        stream.begin();
        Replying::new(stream)
    }

    /// A request without a first byte.
    async fn serve_nothing(&self, response: Response) -> Result<Replying, CallError> {
        match response {
            Response::Accepted(_open, _) => std::future::pending().await,
            Response::Refused { call, error, after } => {
                self.handle.sleep(after).await;
                call.refused(&error, self.handle.now());
                Err(error)
            }
            Response::Unscripted => {
                // No answer will ever come: the run ends, and this task with it.
                let _waiting = self.handle.waiting_for("an answer that no script has");
                std::future::pending().await
            }
        }
    }
}

/// What a request gets.
enum Response {
    /// An answer, with the time to its first byte; `None` if it has no first byte.
    Accepted(Box<Stream>, Option<Duration>),
    /// An error after a while.
    Refused { call: Call, error: CallError, after: Duration },
    /// Nothing.
    Unscripted,
}

impl Model for Provider {
    fn call(&self, question: Question) -> Calling<'_> {
        Box::pin(self.serve(question))
    }
}

fn invalid(message: &str) -> CallError {
    CallError::Refused { status: 400, kind: "invalid_request_error".into(), message: message.into(), retry_after: None }
}

/// A request in flight. The service learns its end in any case, even if the agent drops it.
struct Open {
    served: OpenRequest,
    service: Rc<RefCell<Service>>,
    handle: Handle,
    /// Tokens of the answer that have arrived; `None` before the first byte.
    arrived: Option<u64>,
    call: Call,
}

impl Open {
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
struct Stream {
    open: Open,
    /// Events, each with the time since the first byte and the number of tokens that have arrived.
    events: VecDeque<(Duration, u64, Event)>,
    began: Instant,
    /// Few answers break off, and thousands may be on their way.
    end: Option<Box<Interruption>>,
    sleep: Option<Sleep>,
}

impl Stream {
    /// An answer whose first byte is still to come.
    fn new(answer: Answer, open: Open, pace: &Pace) -> Self {
        let bytes: u64 = answer.events.iter().map(said_bytes).sum();
        let output_tokens = answer.output_tokens.unwrap_or_else(|| (bytes * 10).div_ceil(31).max(1));
        let streaming = answer.streaming.unwrap_or_else(|| pace.streaming(output_tokens));
        let mut said = 0;
        let mut arrivals = answer.arrivals.into_iter();
        let mut events: VecDeque<_> = answer
            .events
            .into_iter()
            .map(|event| {
                said += said_bytes(&event);
                let share = |whole: u64| {
                    if bytes == 0 { 0 } else { (u128::from(whole) * u128::from(said) / u128::from(bytes)) as u64 }
                };
                let last = matches!(event, Event::MessageDelta { .. } | Event::MessageStop);
                let (after, tokens) =
                    if last { (streaming.0, output_tokens) } else { (share(streaming.0), share(output_tokens)) };
                (arrivals.next().unwrap_or(Duration(after)), tokens, event)
            })
            .collect();
        let mut end = None;
        if let Some(Fault::Interruption { after_events, how }) = answer.fault {
            end = interrupt(&mut events, after_events, how).map(Box::new);
        }
        Self { open, events, began: Instant::default(), end, sleep: None }
    }

    /// The first byte has come.
    fn begin(&mut self) {
        self.began = self.open.handle.now();
        self.open.begin();
    }

    /// No event is left.
    fn end(&mut self) -> Poll<Option<Result<Event, Broken>>> {
        if self.end.as_deref() == Some(&Interruption::GivenUp) {
            return Poll::Pending;
        }
        let end = self.end.take().map(|end| *end);
        self.open.call.ended(end.clone());
        match end {
            Some(Interruption::Broken(broken)) => Poll::Ready(Some(Err(broken))),
            _ => Poll::Ready(None),
        }
    }

    /// Fills in the parts that a script omits.
    fn with_usage(&self, event: Event, output_tokens: u64) -> Event {
        match event {
            Event::MessageStart { id, .. } => {
                Event::MessageStart { id, usage: Usage { output_tokens: 1, ..self.open.served.usage } }
            }
            Event::MessageDelta { stop_reason, .. } => {
                Event::MessageDelta { stop_reason, usage: Usage { output_tokens, ..self.open.served.usage } }
            }
            other => other,
        }
    }
}

/// Cuts the events, and returns how the stream ends if no event says so.
fn interrupt(events: &mut VecDeque<(Duration, u64, Event)>, after: usize, how: Interruption) -> Option<Interruption> {
    events.truncate(after);
    let Interruption::Error { kind, message } = how else { return Some(how) };
    let (at, tokens) = events.back().map_or((Duration(0), 0), |(at, tokens, _)| (*at, *tokens));
    events.push_back((at, tokens, Event::Error { kind, message }));
    None
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

impl Events for Stream {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Broken>>> {
        let Some((after, _, _)) = self.events.front() else {
            return self.end();
        };
        let at = self.began + *after;
        if self.open.handle.now() < at {
            let handle = &self.open.handle;
            let sleep = self.sleep.get_or_insert_with(|| handle.sleep_until(at));
            if Pin::new(sleep).poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        self.sleep = None;
        let Some((_, tokens, event)) = self.events.pop_front() else { return Poll::Ready(None) };
        self.open.arrived = Some(tokens);
        let event = self.with_usage(event, tokens);
        self.open.call.event(&event, self.open.handle.now());
        Poll::Ready(Some(Ok(event)))
    }
}
