//! Messages to a running agent, until it takes them (contract MSG-07).

use std::rc::Rc;

/// A message to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number in the session.
    pub number: u64,
    /// The sender.
    pub from: Rc<str>,
    /// The text, or a structured message as JSON.
    pub text: Rc<str>,
}

impl Message {
    /// The message as its receiver reads it.
    pub fn shown(&self) -> String {
        format!("<agent-message from=\"{}\">\n{}\n</agent-message>", self.from, self.text)
    }
}
