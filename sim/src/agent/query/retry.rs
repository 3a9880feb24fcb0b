//! Retries refused and broken calls with the same bytes after a wait.
//!
//! Source: `clients.md` 1, "Errors and broken streams" (client 2.1.330, seen 2026-11-21): 429, 500, 503 and 529 are
//! retried ten times, after about 0.6, 1.2, 2.5, … s; `retry-after` is obeyed; a broken stream is requested again. Any
//! other refusal is an API error.

use std::rc::Rc;

use super::iteration::Loop;
use super::stream::{Attempt, Turn};
use super::{Yielded, request};
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::agent::settings::Retries;
use crate::model::{CallError, Calling, Question};
use crate::time::Duration;
use crate::wire::{Piece, Role};

/// The outcome of a question.
pub(super) enum Response {
    /// With messages.
    Answered(Box<Turn>),
    /// With a refusal, which replaces the answer in the conversation.
    Refused,
    /// The abort signal was given.
    Aborted(Box<Turn>),
    /// Without an answer.
    Failed(Rc<str>),
}

/// Why an attempt failed.
enum Failure {
    /// The provider refused; its message, for the user.
    Refusal(Rc<str>),
    /// The connection failed.
    Connection(Rc<str>),
}

/// Statuses after which the same request is retried.
const RETRIED: [u16; 4] = [429, 500, 503, 529];

impl Loop {
    /// Sends the question until it is answered or the retries are used up. Each attempt drafts it again from the same
    /// conversation: thousands of agents may wait for their answers at a time, and few of those ask twice.
    pub(super) async fn ask(&self) -> Response {
        let mut attempt = 0;
        loop {
            let calling = self.call(attempt);
            let entries = self.context.entries.borrow().len();
            let mut turn = Box::new(Turn::new(self));
            let failed = match self.attempt(calling, &mut turn).await {
                Attempt::Whole => return Response::Answered(turn),
                Attempt::Aborted => return Response::Aborted(turn),
                Attempt::Refused(error) => Err(error),
                Attempt::Broken(why) => Ok(why),
            };
            if let Some(last) = Box::pin(self.recover(attempt, failed, turn, entries)).await {
                return last;
            }
            attempt += 1;
        }
    }

    fn call(&self, attempt: u32) -> Calling<'_> {
        let question = Question { attempt, ..request::draft(&self.context, &self.parameters) };
        self.note_sent(&question);
        self.context.session.model.call(question)
    }

    /// Waits after a failed attempt, broken off or refused, until the question is to be asked again; otherwise the last
    /// response.
    async fn recover(
        &self,
        attempt: u32,
        failed: Result<Rc<str>, CallError>,
        turn: Box<Turn>,
        entries: usize,
    ) -> Option<Response> {
        let (failure, wait) = match failed {
            Err(error) => self.refused(&error, attempt),
            Ok(why) => {
                for uuid in self.take_back(&turn, entries) {
                    self.yielder.give(Yielded::Tombstone(uuid)).await;
                }
                (Failure::Connection(why), self.retries().wait(attempt))
            }
        };
        // With its tools, before the wait.
        drop(turn);
        let Some(wait) = wait else { return Some(self.give_up(failure).await) };
        self.note_retry(attempt, &failure, wait);
        let is_aborted = self.is_aborted_within(wait).await;
        is_aborted.then(|| Response::Aborted(Box::new(Turn::new(self))))
    }

    fn retries(&self) -> &Retries {
        &self.context.session.settings.retries
    }

    fn refused(&self, error: &CallError, attempt: u32) -> (Failure, Option<Duration>) {
        let words: Rc<str> = error.to_string().into();
        match error {
            CallError::Lost => (Failure::Connection(words), self.retries().wait(attempt)),
            CallError::Refused { status, retry_after, .. } => {
                let wait = self.retries().wait(attempt).filter(|_| RETRIED.contains(status));
                (Failure::Refusal(words), wait.map(|wait| retry_after.unwrap_or(wait)))
            }
        }
    }

    /// Removes what a broken stream has added from the conversation. Returns what it has yielded, which is to be withdrawn:
    /// its messages, its results, and the partial message.
    fn take_back(&self, turn: &Turn, entries: usize) -> Vec<Rc<str>> {
        self.context.entries.borrow_mut().truncate(entries);
        let whole = turn.messages.iter().chain(&turn.results).map(|entry| Rc::clone(&entry.uuid));
        let part = turn.assembler.as_ref().map(|assembler| Rc::clone(&assembler.uuid));
        if turn.has_begun() { whole.chain(part).collect() } else { Vec::new() }
    }

    /// Whether an abort arrives before the wait is over.
    async fn is_aborted_within(&self, wait: Duration) -> bool {
        crate::select! {
            () = self.context.abort.given() => true,
            () = self.context.session.handle.sleep(wait) => false,
        }
    }

    async fn give_up(&self, failure: Failure) -> Response {
        match failure {
            Failure::Connection(why) => Response::Failed(why),
            Failure::Refusal(words) => {
                let words = format!("API error: {words}");
                let uuid = self.context.session.ids.next("msg");
                let content = vec![Piece::text(&words)];
                self.append(Entry::of(uuid, Role::Assistant, content, &words, Nature::ApiError)).await;
                Response::Refused
            }
        }
    }

    fn note_sent(&self, question: &Question) {
        let draft = &question.draft;
        self.context.emit(&Event::RequestSent {
            agent: Rc::clone(&question.agent),
            turn: question.turn,
            attempt: question.attempt,
            messages: draft.messages.len(),
            tools: draft.tools.len(),
            breakpoints: draft.marks.len(),
        });
    }

    fn note_retry(&self, attempt: u32, failure: &Failure, wait: Duration) {
        let (Failure::Refusal(why) | Failure::Connection(why)) = failure;
        self.context.emit(&Event::Retry {
            agent: Rc::clone(&self.context.agent),
            turn: self.context.turns.get(),
            attempt: attempt + 1,
            why: Rc::clone(why),
            wait_ms: wait.as_millis(),
        });
    }
}

impl Retries {
    /// The wait after this attempt, counted from zero; `None` after the last attempt.
    fn wait(&self, attempt: u32) -> Option<Duration> {
        if attempt >= self.attempts_max {
            return None;
        }
        let listed = self.waits.get(attempt as usize).or(self.waits.last());
        Some(listed.copied().unwrap_or_default())
    }
}
