//! Every call of a tool is answered exactly once before the next request (contract LOOP-15).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use crate::simulation::{Observer, Seen as Request};
use crate::wire::Message;

/// Follows each agent's conversation; looks at new messages alone.
#[derive(Default)]
pub struct Answers {
    seen: BTreeMap<Rc<str>, Seen>,
}

/// How long an agent's last request was, and its last message.
struct Seen {
    messages: usize,
    last: Option<Rc<Message>>,
}

impl Answers {
    /// How many leading messages of a request were in the one before. Conversations grow at the end: one look decides for
    /// most, and only a rewritten one is followed from its beginning.
    fn known(&self, agent: &str, messages: &[Rc<Message>]) -> usize {
        let Some(before) = self.seen.get(agent) else { return 0 };
        let there = before.messages.checked_sub(1).and_then(|last| messages.get(last));
        let grown = there.zip(before.last.as_ref()).is_some_and(|(new, old)| Rc::ptr_eq(old, new));
        if grown { before.messages } else { 0 }
    }

    fn keep(&mut self, agent: &str, messages: &[Rc<Message>]) {
        let now = Seen { messages: messages.len(), last: messages.last().cloned() };
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

    fn served(&mut self, seen: &Request<'_>) -> Result<(), String> {
        let messages = &seen.draft.messages;
        let known = self.known(seen.agent, messages);
        let mut open = BTreeSet::new();
        for message in &messages[known..] {
            for piece in &message.content {
                follow(piece.json(), &mut open).map_err(|why| format!("request {}: {why}", seen.line))?;
            }
        }
        if let Some(id) = open.first() {
            return Err(format!("request {}: the call {id} has no result", seen.line));
        }
        self.keep(seen.agent, messages);
        Ok(())
    }
}

/// Takes one block into account.
fn follow(json: &str, open: &mut BTreeSet<String>) -> Result<(), String> {
    // Agents write what counts first: the rest of a long text or result need not be read.
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
    let block: Value = serde_json::from_str(json).map_err(|error| format!("a block is no JSON: {error}"))?;
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "tool_use" => call(text("id"), open),
        "tool_result" => close(text("tool_use_id"), open),
        _ => Ok(()),
    }
}

/// The id between `before`, with which the block begins, and `behind`, where it is written without escapes.
fn first_id<'a>(json: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    let (id, rest) = json.strip_prefix(before)?.split_at_checked(json[before.len()..].find('"')?)?;
    (rest.starts_with(behind) && !id.contains('\\')).then_some(id)
}

fn call(id: &str, open: &mut BTreeSet<String>) -> Result<(), String> {
    if open.insert(id.to_owned()) { Ok(()) } else { Err(format!("the call {id} stands there twice")) }
}

fn close(id: &str, open: &mut BTreeSet<String>) -> Result<(), String> {
    if open.remove(id) { Ok(()) } else { Err(format!("a result for {id}, which is not open")) }
}
