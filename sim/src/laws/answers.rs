//! Every tool call is answered exactly once before the next request (contract LOOP-15).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use crate::outside::complaint;
use crate::simulation::{Lookup, Observer};
use crate::wire::{Message, Pieces};

/// Follows each agent's conversation and looks only at new messages.
#[derive(Default)]
pub struct Answers {
    seen: BTreeMap<Rc<str>, Extent>,
    beginning: Option<Beginning>,
}

/// The messages that the first requests of siblings share: after a fork from a message with thousands of calls, there
/// is a result for each call.
struct Beginning {
    messages: Vec<Rc<Message>>,
    /// The shared blocks of the next message.
    head: Pieces,
    /// Calls without a result so far.
    open: BTreeSet<String>,
}

impl Beginning {
    fn is_of(&self, messages: &[Rc<Message>]) -> bool {
        let same = |(one, other): (&Rc<Message>, &Rc<Message>)| Rc::ptr_eq(one, other);
        let next = messages.get(self.messages.len());
        next.is_some_and(|next| next.content.shares_with(&self.head)) && self.messages.iter().zip(messages).all(same)
    }
}

/// The length and the last message of an agent's latest request.
struct Extent {
    messages: usize,
    last: Option<Rc<Message>>,
}

impl Answers {
    /// How many leading messages were also in the agent's previous request. Conversations usually grow at the end, so
    /// one comparison is enough; a rewritten conversation is followed from the start.
    fn known(&self, agent: &str, messages: &[Rc<Message>]) -> usize {
        let Some(before) = self.seen.get(agent) else { return 0 };
        let there = before.messages.checked_sub(1).and_then(|last| messages.get(last));
        let grown = there.zip(before.last.as_ref()).is_some_and(|(new, old)| Rc::ptr_eq(old, new));
        if grown { before.messages } else { 0 }
    }

    /// The calls that are still open after reading the messages from `known` on.
    fn follow(&mut self, known: usize, messages: &[Rc<Message>]) -> Result<BTreeSet<String>, String> {
        let shared = self.beginning.as_ref().filter(|beginning| known == 0 && beginning.is_of(messages));
        let mut open = shared.map(|beginning| beginning.open.clone()).unwrap_or_default();
        let start = shared.map_or(known, |beginning| beginning.messages.len());
        let mut part = shared.map_or(0, |beginning| beginning.head.len());
        for (at, message) in messages.iter().enumerate().skip(start) {
            let content = &message.content;
            for (piece, behind) in content.iter().zip(1..).skip(part) {
                follow(piece.json(), &mut open)?;
                if known == 0 && behind == content.shared_len() {
                    let messages = messages[..at].to_vec();
                    let head = content.shared_part();
                    self.beginning = Some(Beginning { messages, head, open: open.clone() });
                }
            }
            part = 0;
        }
        Ok(open)
    }

    fn keep(&mut self, agent: &str, messages: &[Rc<Message>]) {
        let now = Extent { messages: messages.len(), last: messages.last().cloned() };
        match self.seen.get_mut(agent) {
            Some(seen) => *seen = now,
            None => _ = self.seen.insert(agent.into(), now),
        }
    }
}

impl Observer for Answers {
    fn name(&self) -> &'static str {
        "answers"
    }

    fn served(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        let messages = &seen.draft.messages;
        let known = self.known(seen.agent, messages);
        let open = self.follow(known, messages).map_err(|why| format!("request {}: {why}", seen.line))?;
        if let Some(id) = open.first() {
            return Err(format!("request {}: the call {id} has no result", seen.line));
        }
        self.keep(seen.agent, messages);
        Ok(())
    }
}

/// Takes one block into account.
fn follow(json: &str, open: &mut BTreeSet<String>) -> Result<(), String> {
    // Agents write the discriminating fields first, so the rest of a long text or result is skipped.
    if json.starts_with("{\"type\":\"text\",") {
        return Ok(());
    }
    if let Some(id) = first_id(json, "{\"tool_use_id\":\"", "\",\"type\":\"tool_result\",") {
        return close(id, open);
    }
    if let Some(id) = first_id(json, "{\"type\":\"tool_use\",\"id\":\"", "\",\"name\":") {
        return call(id, open);
    }
    if !json.contains("\"tool_use\"") && !json.contains("\"tool_result\"") {
        return Ok(());
    }
    let block: Value =
        serde_json::from_str(json).map_err(|error| format!("a block is no JSON: {}", complaint::json(&error)))?;
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "tool_use" => call(text("id"), open),
        "tool_result" => close(text("tool_use_id"), open),
        _ => Ok(()),
    }
}

/// The id between the literals `before` and `behind`, if it has no escapes.
fn first_id<'a>(json: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    let (id, rest) = json.strip_prefix(before)?.split_at_checked(json[before.len()..].find('"')?)?;
    (rest.starts_with(behind) && !id.contains('\\')).then_some(id)
}

fn call(id: &str, open: &mut BTreeSet<String>) -> Result<(), String> {
    if open.insert(id.to_owned()) { Ok(()) } else { Err(format!("the call {id} appears twice")) }
}

fn close(id: &str, open: &mut BTreeSet<String>) -> Result<(), String> {
    if open.remove(id) { Ok(()) } else { Err(format!("a result for {id}, which is not open")) }
}
