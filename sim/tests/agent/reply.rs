//! A test model's answers, event by event, with times.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use forkcast_sim::model::answer::Said;
use forkcast_sim::model::{
    Answer, Broken, CallError, Calling, Delta, Event, Events, Model, Opened, Question, Replying, StopReason,
};
use forkcast_sim::time::{Duration, Handle};
use forkcast_sim::wire::Usage;
use serde_json::Value;

/// A step of an answer.
#[derive(Clone, Debug)]
pub enum Step {
    /// An event arrives.
    Event(Event),
    /// This many milliseconds pass.
    Wait(u64),
    /// The connection breaks.
    Break(Broken),
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Milliseconds to the first byte.
    pub first_byte_ms: u64,
    /// A refusal instead of steps.
    pub refusal: Option<CallError>,
    /// The steps of the answer.
    pub steps: Vec<Step>,
}

impl Reply {
    /// Says a text.
    pub fn says(text: &str) -> Self {
        Self::of(&[Said::Text(text.to_owned())])
    }

    /// Calls tools: (id, name, input).
    pub fn calls(calls: &[(&str, &str, Value)]) -> Self {
        let said: Vec<Said> = calls
            .iter()
            .map(|(id, name, input)| Said::ToolUse { id: (*id).into(), name: (*name).into(), input: input.clone() })
            .collect();
        Self::of(&said)
    }

    /// Says these blocks.
    pub fn of(said: &[Said]) -> Self {
        Self::events(Answer::message("msg_1", said).events)
    }

    /// These events at once.
    pub fn events(events: Vec<Event>) -> Self {
        Self { steps: events.into_iter().map(Step::Event).collect(), ..Self::default() }
    }

    /// A refusal.
    pub fn refused(status: u16, retry_after_ms: Option<u64>) -> Self {
        let retry_after = retry_after_ms.map(Duration::from_millis);
        let kind = if status == 529 { "overloaded_error" } else { "api_error" };
        let refusal = Some(CallError::Refused { status, kind: kind.into(), message: "no".into(), retry_after });
        Self { refusal, ..Self::default() }
    }

    /// A connection that is lost before the first byte.
    pub fn lost() -> Self {
        Self { refusal: Some(CallError::Lost), ..Self::default() }
    }

    /// With this time to the first byte.
    pub fn first_byte(self, first_byte_ms: u64) -> Self {
        Self { first_byte_ms, ..self }
    }

    /// With `step` before the step `at`; negative counts from the end.
    pub fn with(mut self, at: isize, step: Step) -> Self {
        let length = isize::try_from(self.steps.len()).unwrap();
        let at = if at < 0 { length + at } else { at };
        self.steps.insert(usize::try_from(at).unwrap(), step);
        self
    }

    /// Only its first steps, then `step`.
    pub fn cut(mut self, at: usize, step: Option<Step>) -> Self {
        self.steps.truncate(at);
        self.steps.extend(step);
        self
    }

    /// With this usage at its start and these output tokens at its end.
    pub fn used(mut self, start: Usage, output_tokens: u64) -> Self {
        for step in &mut self.steps {
            match step {
                Step::Event(Event::MessageStart { usage, .. }) => *usage = start,
                Step::Event(Event::MessageDelta { usage, .. }) => usage.output_tokens = output_tokens,
                _ => {}
            }
        }
        self
    }
}

/// A message start.
pub fn start() -> Event {
    Event::MessageStart { id: "msg_1".into(), usage: Usage::default() }
}

/// A call of a tool begins.
pub fn opens_call(index: usize, id: &str, name: &str) -> Event {
    Event::BlockStart { index, block: Opened::ToolUse { id: id.into(), name: name.into(), caller: None } }
}

/// A piece of a call's input.
pub fn input(index: usize, json: &str) -> Event {
    Event::BlockDelta { index, delta: Delta::InputJson(json.into()) }
}

/// A piece of text.
pub fn text(index: usize, text: &str) -> Event {
    Event::BlockDelta { index, delta: Delta::Text(text.into()) }
}

/// The end of a message.
pub fn stop(stop_reason: StopReason) -> [Event; 2] {
    [Event::MessageDelta { stop_reason: Some(stop_reason), usage: Usage::default() }, Event::MessageStop]
}

/// A question as it arrived.
#[derive(Clone)]
pub struct Asked {
    /// When, in milliseconds.
    pub at_ms: u64,
    /// What.
    pub question: Question,
}

impl Asked {
    /// The request as it would be sent.
    pub fn body(&self) -> Value {
        serde_json::from_slice(&self.question.draft.body()).expect("a body is JSON")
    }

    /// Its messages.
    pub fn messages(&self) -> Vec<Value> {
        self.body()["messages"].as_array().cloned().unwrap_or_default()
    }

    /// Its full text.
    pub fn said(&self) -> String {
        self.body()["messages"].to_string()
    }
}

/// A model that plays replies, in order for each agent type or id.
pub struct Play {
    handle: Handle,
    replies: RefCell<BTreeMap<String, VecDeque<Reply>>>,
    asked: Rc<RefCell<Vec<Asked>>>,
}

impl Play {
    /// Plays these.
    pub fn new(handle: Handle, replies: Vec<(String, Reply)>, asked: Rc<RefCell<Vec<Asked>>>) -> Self {
        let mut by_agent: BTreeMap<String, VecDeque<Reply>> = BTreeMap::new();
        for (agent, reply) in replies {
            by_agent.entry(agent).or_default().push_back(reply);
        }
        Self { handle, replies: RefCell::new(by_agent), asked }
    }

    fn next(&self, question: &Question) -> Reply {
        let mut replies = self.replies.borrow_mut();
        let own = [&question.agent, &question.agent_type].into_iter().find(|name| replies.contains_key(&***name));
        let next = own.and_then(|name| replies.get_mut(&**name)).and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| Reply::says(&format!("nothing scripted for {}", question.agent_type)))
    }
}

impl Model for Play {
    fn call(&self, question: Question) -> Calling<'_> {
        Box::pin(async move {
            let at_ms = Duration(self.handle.now().0).as_millis();
            let reply = self.next(&question);
            self.asked.borrow_mut().push(Asked { at_ms, question });
            self.handle.sleep(Duration::from_millis(reply.first_byte_ms)).await;
            if let Some(refusal) = reply.refusal {
                return Err(refusal);
            }
            let playing = Playing { handle: self.handle.clone(), steps: reply.steps.into(), sleeping: None };
            Ok(Replying::new(Box::new(playing)))
        })
    }
}

struct Playing {
    handle: Handle,
    steps: VecDeque<Step>,
    sleeping: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl Events for Playing {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Broken>>> {
        loop {
            if let Some(sleeping) = &mut self.sleeping {
                std::task::ready!(sleeping.as_mut().poll(context));
                self.sleeping = None;
            }
            match self.steps.pop_front() {
                None => return Poll::Ready(None),
                Some(Step::Event(event)) => return Poll::Ready(Some(Ok(event))),
                Some(Step::Break(broken)) => return Poll::Ready(Some(Err(broken))),
                Some(Step::Wait(ms)) => self.sleeping = Some(Box::pin(self.handle.sleep(Duration::from_millis(ms)))),
            }
        }
    }
}
