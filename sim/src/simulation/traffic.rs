//! What passes between agents and the provider, call by call, as a proxy between them sees it.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::model::answer::{Fault, Interruption};
use crate::model::{Answer, CallError, Event, Question};
use crate::time::Instant;
use crate::wire::Draft;

/// A call and what the agent received.
#[derive(Clone)]
pub struct Passage {
    /// The agent.
    pub agent: Rc<str>,
    /// Its line in the ledger; `None` if the provider did not accept it.
    pub line: Option<usize>,
    /// The request, if it has no line; others are among the run's drafts.
    pub draft: Option<Draft>,
    /// When it was sent.
    pub at: Instant,
    /// The answer with all its times. Its output tokens are those of the ledger.
    pub answer: Answer,
}

impl fmt::Debug for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passage").field("agent", &self.agent).field("line", &self.line).field("at", &self.at).finish()
    }
}

/// The calls of a run in the order in which they were sent, if they are kept.
#[derive(Clone, Default)]
pub struct Traffic(Option<Rc<RefCell<Vec<Passage>>>>);

impl Traffic {
    /// Keeps all calls from now on.
    pub fn kept() -> Self {
        Self(Some(Rc::default()))
    }

    /// The calls so far.
    pub fn take(&self) -> Vec<Passage> {
        self.0.as_ref().map(|kept| std::mem::take(&mut *kept.borrow_mut())).unwrap_or_default()
    }

    /// A call is sent. Until something is known about its answer, the agent has given up on it.
    pub(super) fn begin(&self, question: &Question, at: Instant) -> Call {
        let Some(kept) = &self.0 else { return Call::default() };
        let unknown = Answer { fault: given_up(0), ..Answer::default() };
        let (agent, draft) = (Rc::clone(&question.agent), Some(Draft::clone(&question.draft)));
        let mut passages = kept.borrow_mut();
        passages.push(Passage { agent, line: None, draft, at, answer: unknown });
        Call { kept: Some(Rc::clone(kept)), number: passages.len() - 1 }
    }
}

const fn given_up(after_events: usize) -> Option<Fault> {
    Some(Fault::Interruption { after_events, how: Interruption::GivenUp })
}

/// A call in flight, noted if calls are kept.
#[derive(Default)]
pub(super) struct Call {
    kept: Option<Rc<RefCell<Vec<Passage>>>>,
    number: usize,
}

impl Call {
    fn note(&self, note: impl FnOnce(&mut Passage)) {
        let Some(kept) = &self.kept else { return };
        if let Some(passage) = kept.borrow_mut().get_mut(self.number) {
            note(passage);
        }
    }

    /// It is a line of the ledger.
    pub fn accepted(&self, line: usize) {
        self.note(|passage| (passage.line, passage.draft) = (Some(line), None));
    }

    /// There is no answer.
    pub fn refused(&self, error: &CallError, at: Instant) {
        self.note(|passage| {
            passage.answer.first_byte = Some(at.since(passage.at));
            passage.answer.fault = Some(Fault::Refusal(error.clone()));
        });
    }

    /// The first byte arrived.
    pub fn first_byte(&self, at: Instant) {
        self.note(|passage| passage.answer.first_byte = Some(at.since(passage.at)));
    }

    /// An event arrived.
    pub fn event(&self, event: &Event, at: Instant) {
        self.note(|passage| {
            let answer = &mut passage.answer;
            let began = passage.at + answer.first_byte.unwrap_or_default();
            answer.events.push(event.clone());
            answer.arrivals.push(at.since(began));
            answer.streaming = Some(at.since(began));
            answer.fault = given_up(answer.events.len());
        });
    }

    /// The stream ended: as a whole answer, or in another way.
    pub fn ended(&self, how: Option<Interruption>) {
        self.note(|passage| {
            let after_events = passage.answer.events.len();
            passage.answer.fault = how.map(|how| Fault::Interruption { after_events, how });
        });
    }

    /// The ledger has this many output tokens.
    pub fn billed(&self, output_tokens: u64) {
        self.note(|passage| passage.answer.output_tokens = Some(output_tokens));
    }
}
