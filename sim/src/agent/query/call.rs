//! One tool call, from its input to its result (contract LOOP-11, LOOP-13).

use std::rc::Rc;

use super::assemble::Prepared;
use super::decide::{self, Decision};
use crate::agent::entry::{Entry, ToolUse};
use crate::agent::event::Event;
use crate::agent::session::Context;
use crate::agent::session::{Call, Content, Outcome, Tool, ToolError};
use crate::wire::Piece;

/// The result of an interrupted call.
const INTERRUPTED: &str = "The user interrupted this call before it came to an end.";

/// The one result of a call (LOOP-15).
#[derive(Clone)]
pub(super) struct Answer {
    /// The result, for the conversation.
    pub entry: Rc<Entry>,
    /// Texts that hooks add after it.
    pub added: Vec<Rc<str>>,
}

/// The outcome of a call, and what the model sees.
struct Result {
    content: Content,
    is_error: bool,
    outcome: &'static str,
}

/// The circumstances of a call.
#[derive(Clone)]
pub(super) struct Occasion {
    /// It starts while its message is still streaming.
    pub during_stream: bool,
    /// The whole message, if it has arrived.
    pub message: Option<Rc<Entry>>,
}

/// Answers a call: finds the tool, runs hooks and permission checks, calls the tool, and builds the result.
pub(super) async fn answer(context: Rc<Context>, prepared: Prepared, occasion: Occasion) -> Answer {
    let tool_use = &prepared.tool_use;
    let pool = context.pool();
    let result = match (prepared.problem, pool.get(&tool_use.name)) {
        (_, None) => {
            tell_absent(&context, tool_use);
            Result::failed("unknown_tool", &unknown(&context, tool_use))
        }
        (Some(problem), _) => Result::failed("bad_input", &problem),
        (None, Some(tool)) => {
            let tool = Rc::clone(tool);
            permitted(&context, tool, tool_use, occasion).await
        }
    };
    let ran = matches!(result.outcome, "ok" | "error");
    let added = if ran { context.session.hooks.post_tool_use(&context, tool_use).await } else { Vec::new() };
    Answer { entry: finish(&context, tool_use, &result), added }
}

/// The answer to a call that was interrupted or never started.
pub(super) fn interrupted(context: &Context, tool_use: &ToolUse) -> Answer {
    let entry = finish(context, tool_use, &Result::failed("interrupted", INTERRUPTED));
    Answer { entry, added: Vec::new() }
}

async fn permitted(context: &Rc<Context>, tool: Rc<dyn Tool>, tool_use: &ToolUse, occasion: Occasion) -> Result {
    if let Some(why) = context.session.hooks.pre_tool_use(context, tool_use).await {
        return Result::failed("blocked", &why);
    }
    if context.is_cut_off(tool.name()) {
        return Result::failed("error", &format!("The server of `{}` is not connected any more.", tool.name()));
    }
    match decide::can_use(context, &*tool, tool_use).await {
        Decision::Denied(words) => Result::failed("denied", &words),
        Decision::Allowed => run(context, &*tool, tool_use, occasion).await,
    }
}

async fn run(context: &Rc<Context>, tool: &dyn Tool, tool_use: &ToolUse, occasion: Occasion) -> Result {
    context.emit(&Event::ToolStart {
        agent: Rc::clone(&context.agent),
        tool_use: Rc::clone(&tool_use.id),
        name: Rc::clone(&tool_use.name),
        during_stream: occasion.during_stream,
    });
    let tool_use = tool_use.clone();
    let message = occasion.message;
    let call = Call { tool_use, context: Rc::clone(context), abort: context.abort.clone(), message };
    match tool.call(call).await {
        Ok(Outcome { content, is_error }) => {
            Result { content, is_error, outcome: if is_error { "error" } else { "ok" } }
        }
        Err(ToolError::Failed(words)) => Result::failed("error", &words),
        Err(ToolError::Aborted) => Result::failed("interrupted", INTERRUPTED),
    }
}

/// Reports a call of an absent tool (DIAG-03).
fn tell_absent(context: &Context, tool_use: &ToolUse) {
    let name = tool_use.name.clone();
    let why = if context.reaches(&name) { context.pool().why_absent(&name) } else { Some("server_not_connected") };
    debug_assert!(why.is_some(), "the tool is absent");
    context.emit(&Event::ToolAbsent {
        agent: Rc::clone(&context.agent),
        tool_use: Rc::clone(&tool_use.id),
        name,
        why: why.unwrap_or_default(),
        exact: context.fork.is_some(),
    });
}

fn unknown(context: &Context, tool_use: &ToolUse) -> String {
    let pool = context.pool();
    let names: Vec<&str> = pool.tools.iter().map(|tool| tool.name()).collect();
    format!("There is no tool `{}` here. There are: {}.", tool_use.name, names.join(", "))
}

fn finish(context: &Context, tool_use: &ToolUse, result: &Result) -> Rc<Entry> {
    let agent = Rc::clone(&context.agent);
    let tool_use_id = Rc::clone(&tool_use.id);
    context.emit(&Event::ToolEnd { agent, tool_use: Rc::clone(&tool_use_id), outcome: result.outcome });
    let piece = match (&result.content, result.is_error) {
        (Content::Formed(form), false) => Piece::formed_result(Rc::clone(&tool_use_id), form.clone()),
        (content, is_error) => Piece::tool_result(&tool_use_id, &content.text(), is_error),
    };
    Entry::results(context.session.ids.next("msg"), vec![(tool_use_id, piece)])
}

impl Result {
    fn failed(outcome: &'static str, words: &str) -> Self {
        Self { content: words.into(), is_error: true, outcome }
    }
}
