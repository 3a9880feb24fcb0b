//! The iterations of a loop: compaction, prompt, call, decision, in this order (contract LOOP-03).

use std::collections::BTreeSet;
use std::pin::Pin;
use std::rc::Rc;

use super::assemble::Prepared;
use super::declared;
use super::exit::Exit;
use super::retry::Response;
use super::stream::Turn;
use super::{Ended, Reason, Yielded, Yielder, request};
use crate::agent::entry::{Entry, ToolUse};
use crate::agent::event::Event;
use crate::agent::session::Context;
use crate::agent::settings::Profile;

/// A running loop.
pub(super) struct Loop {
    pub context: Rc<Context>,
    pub yielder: Yielder<Yielded>,
    /// Output tokens since the loop began, or since the budget last continued it (STOP-05).
    pub output_tokens: u64,
    /// The budget continued the loop, so the next compaction is forced (STOP-06).
    pub must_compact: bool,
    pub parameters: Rc<[(String, String)]>,
    iteration: u32,
    /// Requests of this loop that were answered.
    turns: u32,
    error: Option<Rc<str>>,
}

/// How a round of tools ended.
enum Round {
    Done,
    Ended(Reason),
}

impl Loop {
    /// A loop over the conversation of `context`.
    pub fn new(context: Rc<Context>, yielder: Yielder<Yielded>) -> Self {
        let parameters = request::parameters(&context);
        Self {
            context,
            yielder,
            output_tokens: 0,
            must_compact: false,
            parameters,
            iteration: 0,
            turns: 0,
            error: None,
        }
    }

    /// Runs iterations until the end. A block and not an `async fn`, which would store the loop twice: as its argument
    /// and as its variable.
    #[expect(clippy::manual_async_fn, reason = "an `async fn` would store the loop twice")]
    pub fn run(mut self) -> impl Future<Output = Ended> {
        async move {
            declared::size_history(&self.context);
            self.note_start();
            let reason = self.go().await;
            let turns = self.turns;
            let agent = Rc::clone(&self.context.agent);
            self.context.emit(&Event::QueryEnded { agent, reason: reason.name(), turns });
            Ended { reason, turns, error: self.error.take() }
        }
    }

    async fn go(&mut self) -> Reason {
        // Thousands of agents may wait for their answers at a time: what else they do is allocated while they do it.
        if let Some(answering) = self.answer_open()
            && let Round::Ended(reason) = answering.await
        {
            return reason;
        }
        loop {
            self.compact().await;
            self.step("prompt");
            request::render(&self.context);
            self.step("call");
            let asked = self.ask().await;
            self.step("decide");
            let round = match asked {
                Response::Answered(turn) => Box::pin(self.decide(turn)).await,
                Response::Refused => Round::Ended(self.exit_refused()),
                Response::Aborted(turn) => {
                    Box::pin(self.interrupt(*turn)).await;
                    Round::Ended(Reason::Aborted)
                }
                Response::Failed(why) => {
                    self.error = Some(why);
                    Round::Ended(Reason::ModelError)
                }
            };
            if let Round::Ended(reason) = round {
                return reason;
            }
            self.iteration += 1;
        }
    }

    /// The only signal is whether an assembled message has a tool call (LOOP-05, LOOP-06); the stop reason is ignored.
    async fn decide(&mut self, turn: Box<Turn>) -> Round {
        let agent = Rc::clone(&self.context.agent);
        self.context.emit(&Event::Checkpoint { agent, name: "query_api_streaming_end" });
        self.turns += 1;
        self.context.turns.set(self.context.turns.get() + 1);
        self.output_tokens += turn.messages.iter().map(|message| message.usage.output_tokens).sum::<u64>();
        let needs_follow_up = turn.messages.iter().any(|message| !message.tool_uses.is_empty());
        if needs_follow_up {
            return self.run_tools(turn).await;
        }
        match self.exit().await {
            Exit::End(reason) => Round::Ended(reason),
            Exit::Again => Round::Done,
        }
    }

    /// Waits until every call of the turn is answered (LOOP-07, LOOP-12, LOOP-15).
    async fn run_tools(&mut self, mut turn: Box<Turn>) -> Round {
        let results = std::mem::take(&mut turn.results);
        self.context.entries.borrow_mut().extend(results);
        turn.executor.release();
        while !turn.executor.is_idle() {
            let _waiting = self.context.session.handle.waiting_for("the tools of its turn");
            let answer = crate::select! {
                () = self.context.abort.given() => None,
                answer = turn.executor.next() => Some(answer),
            };
            match answer {
                Some(answer) => self.take_late(&mut turn, answer).await,
                None => break,
            }
        }
        if self.context.abort.is_given() {
            Box::pin(self.interrupt(*turn)).await;
            return Round::Ended(Reason::Aborted);
        }
        for words in std::mem::take(&mut turn.added) {
            self.insert(&words).await;
        }
        self.boundary().await
    }

    /// Between two rounds a sub-agent receives notifications of its own background tasks (QUEUE-15, G21). In the client
    /// of 2026 the main agent receives lines and notifications that wait (recorded by 2.1.38 to 2.1.219; the contract
    /// delivers them between turns). Then the turn limit is checked: for a sub-agent over its whole run, for an
    /// agent with turns over a single one (LOOP-18, G11).
    async fn boundary(&self) -> Round {
        let session = &self.context.session;
        let items = match self.context.is_main() {
            false => session.queue.take_for(&self.context.agent),
            true if session.settings.forks.profile == Profile::Client2026 => session.queue.take_in_turn(),
            true => Vec::new(),
        };
        for item in items {
            self.insert(&item.text).await;
            self.context.delivered(item.message);
        }
        if self.is_spent() {
            return Round::Ended(Reason::MaxTurns);
        }
        self.take_messages().await;
        Round::Done
    }

    fn is_spent(&self) -> bool {
        let turns = if self.context.has_turns() { self.turns } else { self.context.turns.get() };
        self.context.max_turns.is_some_and(|max| turns >= max)
    }

    /// Gives a sub-agent the messages that wait for it, each as a user message of its own (MSG-08, G10); returns whether
    /// there were any. At its turn limit it takes none: they would never be answered.
    pub(super) async fn take_messages(&self) -> bool {
        let task = self.context.own_id().and_then(|own| self.context.session.tasks.get(&own));
        let Some(task) = task.filter(|_| !self.is_spent()) else { return false };
        let messages = task.take_messages();
        for message in &messages {
            self.insert(&message.shown()).await;
            self.context.delivered(Some(message.number));
        }
        !messages.is_empty()
    }

    /// Answers the open calls of a conversation that was taken over in mid-round.
    fn answer_open(&mut self) -> Option<Pin<Box<impl Future<Output = Round>>>> {
        let (message, calls) = open_calls(&self.context.entries.borrow())?;
        let mut turn = Box::new(Turn::new(self));
        turn.executor.resume(&message, &calls);
        turn.messages.push(message);
        Some(Box::pin(self.run_tools(turn)))
    }

    fn note_start(&self) {
        let entries = self.context.entries.borrow();
        let answered = entries.iter().rev().find(|entry| entry.is_assistant());
        let tokens = answered.map_or(0, |entry| entry.usage.total_input_tokens() + entry.usage.output_tokens);
        self.context.emit(&Event::QueryStarted {
            agent: Rc::clone(&self.context.agent),
            entries: entries.len(),
            tokens,
            tools: self.context.pool().tools.len(),
            compaction: self.compaction_decision(),
        });
    }

    pub(super) fn step(&self, step: &'static str) {
        let agent = Rc::clone(&self.context.agent);
        let iteration = self.iteration;
        self.context.emit(&Event::QueryStep { agent, iteration, step });
    }
}

/// The last message with calls, and its unanswered calls.
fn open_calls(entries: &[Rc<Entry>]) -> Option<(Rc<Entry>, Vec<Prepared>)> {
    let at = entries.iter().rposition(|entry| !entry.tool_uses.is_empty())?;
    let calls = &entries[at].tool_uses;
    // A fork's messages answer all calls of its parent's message. This shortcut avoids a search per call, of which
    // there can be thousands.
    if entries[at..].iter().any(|entry| calls.is_answered_by(&entry.answers)) {
        return None;
    }
    // A result may precede its message if its tool ended while the message was streaming.
    let last_answer = entries[..at].iter().rposition(|entry| entry.is_assistant()).unwrap_or(0);
    let answered: BTreeSet<&Rc<str>> = entries[last_answer..].iter().flat_map(|entry| entry.answers.iter()).collect();
    if calls.iter().all(|call| answered.contains(&call.id)) {
        return None;
    }
    let made = entries[at].message.content.iter().filter_map(ToolUse::of);
    let open = made.filter(|call| !answered.contains(&call.id));
    let calls: Vec<Prepared> = open.map(|tool_use| Prepared { tool_use, problem: None }).collect();
    (!calls.is_empty()).then(|| (Rc::clone(&entries[at]), calls))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::open_calls;
    use crate::agent::entry::{Entry, NamedCall, Nature, ToolUse};
    use crate::wire::{Piece, Role};

    #[test]
    fn only_calls_without_a_result_are_open_and_their_input_is_that_of_the_message() {
        let block = |id: &str| Piece::tool_use_raw(id, "Read", &format!("{{\"file_path\": \"/{id}\"}}"));
        let content = vec![Piece::text("I look."), block("one"), block("two")];
        let said = Entry::of("a".into(), Role::Assistant, content.clone(), "I look.", Nature::Said);
        let calls = content.iter().filter_map(ToolUse::of).map(|call| NamedCall::from(&call)).collect();
        let said = Rc::new(Entry { tool_uses: calls, ..Entry::clone(&said) });
        let result = |id: &str| Entry::results(id.into(), vec![(id.into(), Piece::tool_result(id, "a file", false))]);
        let open = |entries: &[Rc<Entry>]| -> Vec<String> {
            let calls = open_calls(entries).map(|(_, calls)| calls).unwrap_or_default();
            calls.iter().map(|call| call.tool_use.input["file_path"].as_str().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(open(std::slice::from_ref(&said)), ["/one", "/two"]);
        assert_eq!(open(&[said.clone(), result("one")]), ["/two"]);
        assert_eq!(open(&[said, result("one"), result("two")]), [""; 0]);
    }
}
