//! `prompt.history`: the main conversation at the start of the session.

use std::rc::Rc;

use super::outline;
use super::reading::{At, Fields};
use super::script::ToolCall;

/// A turn of the conversation before the session.
#[derive(Clone, Debug)]
pub enum Past {
    /// What the user wrote.
    User(Rc<str>),
    /// The model's answer, and the results of its calls.
    Said {
        /// Thinking.
        think: Option<Rc<str>>,
        /// Text.
        say: Option<Rc<str>>,
        /// Calls, each with its result.
        tools: Vec<PastCall>,
    },
}

/// A call with its result.
#[derive(Clone, Debug)]
pub struct PastCall {
    /// The call.
    pub call: ToolCall,
    /// Its result.
    pub result: Rc<str>,
    /// Whether it failed.
    pub failed: bool,
}

impl Past {
    /// Reads an item of `prompt.history`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::PAST)?;
        if fields.get("user").is_some() {
            return of_user(&fields);
        }
        if fields.among(&outline::PAST.names()).is_empty() {
            at.wrong("expected `user`, or the model's answer: `think`, `say`, `tools`");
            return None;
        }
        let think = fields.may("think", At::shared);
        let say = fields.may("say", At::shared);
        Some(Self::Said { think, say, tools: fields.list("tools", PastCall::of) })
    }
}

fn of_user(fields: &Fields<'_>) -> Option<Past> {
    if let Some(other) = fields.among(&outline::PAST.names()[1..]).first() {
        fields.get(other)?.wrong("expected either `user` or the model's answer: split it into two items");
        return None;
    }
    fields.may("user", At::name).map(Past::User)
}

impl PastCall {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::ANSWERED)?;
        Some(Self {
            result: fields.must("result", At::shared)?,
            failed: fields.or_default("failed", At::truth),
            call: ToolCall::read(&fields)?,
        })
    }
}
