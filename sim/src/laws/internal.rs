//! An internal fork never changes its parent's bytes.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agent::Event;
use crate::service::Entry;
use crate::simulation::{Lookup, Observer};
use crate::time::Instant;
use crate::wire::Message;

/// After an internal fork, its parent's next request begins with the messages of the one before, and holds no message of
/// the fork (contract INTERNAL-07, INTERNAL-10). A history that is rewritten or compacted in between starts anew. Every
/// internal fork ends, and it begins like its parent (INTERNAL-12).
#[derive(Default)]
pub struct Internal {
    /// Parents of the internal forks.
    parents: BTreeMap<Rc<str>, Rc<str>>,
    running: BTreeMap<Rc<str>, Rc<str>>,
    /// What parents sent last.
    sent: BTreeMap<Rc<str>, Vec<Rc<Message>>>,
    /// What forks of a parent sent after its messages.
    own: BTreeMap<Rc<str>, Vec<Rc<Message>>>,
}

fn same(one: &Rc<Message>, other: &Rc<Message>) -> bool {
    let json = |message: &Rc<Message>| -> Vec<String> {
        message.content.iter().map(|piece| piece.json().to_owned()).collect()
    };
    Rc::ptr_eq(one, other) || one.role == other.role && json(one) == json(other)
}

impl Internal {
    /// A request of a fork begins with its parent's last request.
    fn fork(&mut self, seen: &Lookup<'_>, parent: &Rc<str>) -> Result<(), String> {
        let messages = &seen.draft.messages;
        let Some(sent) = self.sent.get(parent) else { return Ok(()) };
        // Without unanswered calls, a parent's newest message may be shorter for the fork.
        let shared = sent.iter().zip(messages).take_while(|(one, other)| same(one, other)).count();
        if shared + 1 < sent.len() {
            return Err(format!("request {}: an internal fork does not begin like `{parent}`", seen.line));
        }
        self.own.entry(parent.clone()).or_default().extend(messages.last().cloned());
        Ok(())
    }

    fn parent(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        let messages = &seen.draft.messages;
        let agent: Rc<str> = seen.agent.into();
        let Some(own) = self.own.remove(&agent) else { return Ok(()) };
        let sent = self.sent.get(&agent).map_or(&[][..], Vec::as_slice);
        let is_continued =
            sent.len() <= messages.len() && sent.iter().zip(messages).all(|(one, other)| same(one, other));
        let holds = |message: &Rc<Message>| own.iter().any(|own| Rc::ptr_eq(own, message));
        if !is_continued || messages.iter().any(holds) {
            return Err(format!("request {}: an internal fork changed the messages of `{agent}`", seen.line));
        }
        Ok(())
    }
}

impl Observer for Internal {
    fn name(&self) -> &'static str {
        "internal"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        match event {
            Event::InternalStarted { agent, parent, .. } => {
                self.parents.insert(agent.clone(), parent.clone());
                self.running.insert(agent.clone(), parent.clone());
                Ok(())
            }
            Event::InternalEnded { agent, .. } => match self.running.remove(agent) {
                Some(_) => Ok(()),
                None => Err(format!("the internal fork `{agent}` ended, but does not run")),
            },
            Event::TaskState { task, .. } if self.parents.contains_key(task) => {
                Err(format!("the internal fork `{task}` has a task"))
            }
            Event::Rewritten { agent, .. } | Event::Compacted { agent, .. } => {
                self.sent.remove(agent);
                self.own.remove(agent);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn served(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        if let Some(parent) = self.parents.get(seen.agent).cloned() {
            return self.fork(seen, &parent);
        }
        self.parent(seen)?;
        self.sent.insert(seen.agent.into(), seen.draft.messages.clone());
        Ok(())
    }

    fn end(&mut self, _at: Instant, _entries: &[Entry]) -> Result<(), String> {
        match self.running.first_key_value() {
            Some((agent, _)) => Err(format!("the internal fork `{agent}` never ended")),
            None => Ok(()),
        }
    }
}
