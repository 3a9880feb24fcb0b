//! Every message to an agent is delivered once, or its sender gets a reason.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use crate::agent::Event;
use crate::service::Entry;
use crate::simulation::Observer;
use crate::time::Instant;

/// Each accepted message is delivered to its receiver once, or returned to its sender with a reason, but not both
/// (contract MSG-07..11). What is put into a mailbox is taken out once, in order, or returned (SWARM-13, SWARM-15). A delivery interrupts no call of its receiver (MSG-08).
#[derive(Debug, Default)]
pub struct Messages {
    /// Receivers of the messages that are under way.
    waiting: BTreeMap<u64, Rc<str>>,
    /// Calls that run, by agent.
    calls: BTreeMap<Rc<str>, BTreeSet<Rc<str>>>,
    /// Unread messages, by mailbox.
    mailboxes: BTreeMap<Rc<str>, VecDeque<u64>>,
}

impl Messages {
    fn arrives(&mut self, message: u64, agent: &Rc<str>, how: &str) -> Result<(), String> {
        match self.waiting.remove(&message) {
            Some(to) if to == *agent => Ok(()),
            Some(to) => Err(format!("message {message} to `{to}` was {how} by `{agent}`")),
            None => Err(format!("message {message} was {how}, but it is not under way")),
        }
    }
}

impl Messages {
    fn leaves(&mut self, mailbox: &Rc<str>, message: u64) -> Result<(), String> {
        match self.mailboxes.get_mut(mailbox).and_then(VecDeque::pop_front) {
            Some(oldest) if oldest == message => Ok(()),
            _ => Err(format!("message {message} left the mailbox of `{mailbox}` out of turn")),
        }
    }
}

impl Observer for Messages {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        match event {
            Event::ToolStart { agent, tool_use, .. } => {
                self.calls.entry(agent.clone()).or_default().insert(tool_use.clone());
                Ok(())
            }
            Event::ToolEnd { agent, tool_use, .. } => {
                self.calls.get_mut(agent).map(|calls| calls.remove(tool_use));
                Ok(())
            }
            // A loop that was dropped with its calls starts again.
            Event::QueryStarted { agent, .. } => {
                self.calls.remove(agent);
                Ok(())
            }
            Event::MessageSent { message, to, .. } => match self.waiting.insert(*message, to.clone()) {
                None => Ok(()),
                Some(_) => Err(format!("message {message} was sent twice")),
            },
            Event::MessageDelivered { agent, message } => {
                if self.calls.get(agent).is_some_and(|calls| !calls.is_empty()) {
                    return Err(format!("message {message} interrupts a call of `{agent}`"));
                }
                self.arrives(*message, agent, "delivered")
            }
            Event::MailboxPut { mailbox, message, .. } => {
                self.mailboxes.entry(mailbox.clone()).or_default().push_back(*message);
                Ok(())
            }
            Event::MailboxTake { mailbox, message, .. } | Event::MailboxReturned { mailbox, message, .. } => {
                self.leaves(mailbox, *message)
            }
            Event::MessageReturned { agent, message, .. } => self.arrives(*message, agent, "returned"),
            _ => Ok(()),
        }
    }

    fn end(&mut self, _at: Instant, _entries: &[Entry]) -> Result<(), String> {
        if let Some((mailbox, _)) = self.mailboxes.iter().find(|(_, unread)| !unread.is_empty()) {
            return Err(format!("the mailbox of `{mailbox}` was not emptied"));
        }
        match self.waiting.first_key_value() {
            Some((message, to)) => Err(format!("message {message} to `{to}` was neither delivered nor returned")),
            None => Ok(()),
        }
    }
}
