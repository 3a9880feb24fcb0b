//! Tools that a scenario declares: a name, a schema, and scripted results with durations.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use serde_json::Value;

use super::{Call, Definition, Effect, Outcome, Running, Tool, ToolError};
use crate::agent::session::Session;
use crate::agent::task::Report;
use crate::time::Duration;

/// A result of a [`DataTool`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataResult {
    /// The text of the result.
    pub content: Rc<str>,
    /// Whether it is an error.
    pub is_error: bool,
    /// How long the call takes; `None` if it never ends by itself.
    pub takes: Option<Duration>,
    /// The result contains the report of the agent that this call started, so that the agent's end is not reported
    /// again (NOTIFY-10).
    pub reads: Option<Rc<str>>,
}

/// A tool that is declared by data.
#[derive(Clone, Debug)]
pub struct DataTool {
    /// Its name as sent.
    pub name: Rc<str>,
    /// Its purpose, for the model.
    pub description: Rc<str>,
    /// JSON Schema of its input.
    pub schema: Value,
    /// Results of single calls, by id.
    pub of_call: BTreeMap<Rc<str>, DataResult>,
    /// Results of the other calls, in order.
    pub in_order: RefCell<VecDeque<DataResult>>,
    /// The result after the last one of `in_order`.
    pub otherwise: DataResult,
}

impl DataTool {
    fn result(&self, id: &str) -> DataResult {
        let of_call = self.of_call.get(id).cloned();
        let next = || self.in_order.borrow_mut().pop_front();
        of_call.or_else(next).unwrap_or_else(|| self.otherwise.clone())
    }
}

impl Tool for DataTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn definition(&self, _: &Session) -> Definition {
        Definition { description: self.description.to_string(), input_schema: self.schema.clone() }
    }

    /// It changes nothing of the simulated world, so no permission is needed.
    fn effect(&self, _input: &Value) -> Effect {
        Effect::Session
    }

    fn call(&self, call: Call) -> Running<'_> {
        let result = self.result(&call.tool_use.id);
        Box::pin(async move {
            let session = &call.context.session;
            let takes = result.takes;
            let work = async {
                match takes {
                    Some(takes) => session.handle.sleep(takes).await,
                    None => std::future::pending().await,
                }
            };
            crate::select! {
                () = call.abort.given() => return Err(ToolError::Aborted),
                () = work => {}
            }
            if let Some(started_by) = &result.reads {
                session.tasks.all().iter().filter(|task| task.tool_use == *started_by).for_each(|task| {
                    task.claim_report(Report::Read);
                });
            }
            Ok(Outcome { content: result.content.into(), is_error: result.is_error })
        })
    }
}
