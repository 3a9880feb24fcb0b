//! The model that agents call in a simulation: a script with a cache, a clock and a bill.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::alarm::{Alarm, Cause};
use super::limits::{Meter, RateLimits};
use super::pace::Pace;
use super::service::Service;
use super::stream::{Open, Stream};
use super::traffic::{Call, Traffic};
use crate::model::answer::Fault;
use crate::model::{Answer, CallError, Calling, Model, Question, Replying, Script};
use crate::time::{Duration, Handle, Instant, Sleep};

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
        let open = Open::new(served, self.service.clone(), self.handle.clone(), call);
        let has_first_byte = !answer.is_without_first_byte();
        Response::Accepted(Box::new(Stream::new(answer, open, &self.pace)), has_first_byte.then_some(wait))
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
        Box::pin(Serving { provider: self, state: Phase::Asked(question) })
    }
}

/// A request that waits for its first byte. No `async fn`, which would keep the question and all of the response:
/// thousands may wait at a time.
struct Serving<'a> {
    provider: &'a Provider,
    state: Phase<'a>,
}

enum Phase<'a> {
    Asked(Question),
    Accepted { stream: Box<Stream>, first_byte: Sleep },
    Nothing(Calling<'a>),
    Over,
}

impl Future for Serving<'_> {
    type Output = Result<Replying, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let provider = self.provider;
        if let Phase::Asked(_) = &self.state
            && let Phase::Asked(question) = std::mem::replace(&mut self.state, Phase::Over)
        {
            self.state = match provider.accept(question) {
                Response::Accepted(stream, Some(wait)) => {
                    Phase::Accepted { stream, first_byte: provider.handle.sleep(wait) }
                }
                other => Phase::Nothing(Box::pin(provider.serve_nothing(other))),
            };
        }
        match &mut self.state {
            Phase::Accepted { first_byte, .. } => std::task::ready!(Pin::new(first_byte).poll(context)),
            Phase::Nothing(refused) => return refused.as_mut().poll(context),
            Phase::Asked(_) | Phase::Over => return Poll::Pending,
        }
        let Phase::Accepted { mut stream, first_byte } = std::mem::replace(&mut self.state, Phase::Over) else {
            return Poll::Pending;
        };
        drop(first_byte);
        stream.begin();
        Poll::Ready(Ok(Replying::new(stream)))
    }
}

fn invalid(message: &str) -> CallError {
    CallError::Refused { status: 400, kind: "invalid_request_error".into(), message: message.into(), retry_after: None }
}
