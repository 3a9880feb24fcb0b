//! The order in which rules and modes decide: deny, ask, mode, allow; what is left is asked for (contract PERM-09..13).

use std::rc::Rc;

use crate::agent::entry::ToolUse;
use crate::agent::event::Event;
use crate::agent::permission::rule::{Places, Rule, Subject};
use crate::agent::permission::{Mode, Request, Route};
use crate::agent::session::{Context, Effect, Tool};
use crate::agent::world::path;

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allowed,
    /// It may not; the model sees these words.
    Denied(Rc<str>),
}

/// What rules and modes say, with the word for it in logs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Allow(&'static str),
    Deny(&'static str, Rc<str>),
    Ask,
}

/// Folders of a project that `acceptEdits` does not open: what lies in them acts on the tools themselves (PERM-09).
const GUARDED: [&str; 2] = [".git", ".claude"];

/// Whether `context` may make this call (`canUseTool`, PERM-15); may wait for somebody's answer.
pub async fn can_use(context: &Context, tool: &dyn Tool, tool_use: &ToolUse) -> Decision {
    let (allowed, by, words) = match verdict(context, tool, tool_use) {
        Verdict::Allow(by) => (true, by, "".into()),
        Verdict::Deny(by, words) => (false, by, words),
        Verdict::Ask => asked(context, tool_use).await,
    };
    let agent = context.agent.clone();
    let tool = tool_use.name.clone();
    context.emit(&Event::PermissionReply { agent, tool, allowed, by });
    if allowed { Decision::Allowed } else { Decision::Denied(words) }
}

/// The mode in which calls of `context` are decided: the session's for the main agent, its own for every other.
fn mode_of(context: &Context) -> Mode {
    let permissions = &context.session.permissions;
    let own = if context.parent.is_none() { &permissions.mode } else { &context.mode };
    permissions.admitted(own.get())
}

fn verdict(context: &Context, tool: &dyn Tool, tool_use: &ToolUse) -> Verdict {
    let settings = &context.session.settings;
    let rules = &context.session.permissions.rules;
    let places = Places { cwd: &settings.cwd, home: &settings.home };
    let subject = subject(context, tool, tool_use);
    let touches = |rule: &&Rule| rule.touches(tool.name(), &subject, places);
    if let Some(rule) = rules.deny.iter().filter(|rule| !rule.is_of_agents()).find(touches) {
        let words = format!("Permission for {} was denied by the rule `{}`.", tool.name(), rule.text());
        return Verdict::Deny("rule", words.into());
    }
    if rules.ask.iter().any(|rule| touches(&rule)) {
        return Verdict::Ask;
    }
    let mode = mode_of(context);
    let effect = tool.effect(&tool_use.input);
    if mode != Mode::Plan && effect == Effect::Edit && is_own_memory(context, &subject) {
        return Verdict::Allow("memory");
    }
    match by_mode(mode, effect, &subject, &context.cwd.borrow(), tool.name()) {
        Some(verdict) => verdict,
        None if rules.allow.iter().any(|rule| rule.covers(tool.name(), &subject, places)) => Verdict::Allow("rule"),
        None => Verdict::Ask,
    }
}

/// Asks the user; gives whether it is allowed, who says so, and the words for the model.
async fn asked(context: &Context, tool_use: &ToolUse) -> (bool, &'static str, Rc<str>) {
    let tool = &tool_use.name;
    if !context.session.settings.interactive {
        let words = format!("Permission for {tool} was denied: nobody is there to ask in this session.");
        return (false, "headless", words.into());
    }
    let route = match (mode_of(context), context.parent.is_some()) {
        (Mode::Bubble, _) => Route::Bubble,
        (_, true) => Route::Independent,
        (_, false) => Route::Local,
    };
    let asked = Request {
        request: context.session.ids.number(),
        agent: context.agent.clone(),
        tool: tool.clone(),
        tool_use: tool_use.id.clone(),
        route,
    };
    match context.session.permissions.ask(&context.session, asked, &context.abort).await {
        Some(true) => (true, "user", "".into()),
        Some(false) => (false, "user", format!("The user denied permission for {tool}.").into()),
        None => (false, "abort", format!("Permission for {tool} was asked for until the agent stopped.").into()),
    }
}

/// What the call is about; another name of an agent type is the type itself.
fn subject(context: &Context, tool: &dyn Tool, tool_use: &ToolUse) -> Subject {
    match Subject::of(tool.name(), &tool_use.input, &context.cwd.borrow()) {
        Subject::AgentType(name) => {
            let known = context.session.definitions.get(&name).map(|definition| definition.agent_type.to_string());
            Subject::AgentType(known.unwrap_or(name))
        }
        subject => subject,
    }
}

/// What the mode says by itself. What only looks, and what stays inside the session, goes through in every mode.
fn by_mode(mode: Mode, effect: Effect, subject: &Subject, cwd: &str, tool: &str) -> Option<Verdict> {
    match (mode, effect) {
        (_, Effect::Read | Effect::Session) | (Mode::BypassPermissions, _) => Some(Verdict::Allow("mode")),
        (Mode::AcceptEdits, Effect::Edit) if is_safe(subject, cwd) => Some(Verdict::Allow("mode")),
        (Mode::Plan, _) => {
            let words = format!("Permission for {tool} was denied: in plan mode nothing is changed.");
            Some(Verdict::Deny("mode", words.into()))
        }
        _ => None,
    }
}

/// Whether a file lies in the agent's memory, which is its own to write (contract CTX-12).
fn is_own_memory(context: &Context, subject: &Subject) -> bool {
    let (Some(memory), Subject::Path(path)) = (&context.memory, subject) else { return false };
    path::below(&memory.directory, path).is_some_and(|below| !below.is_empty())
}

/// Whether a file may be changed without a question under `acceptEdits`: below the agent's working directory, and not in a
/// folder that is guarded.
fn is_safe(subject: &Subject, cwd: &str) -> bool {
    let Subject::Path(path) = subject else { return false };
    path::below(cwd, path).is_some_and(|path| !path.split('/').any(|part| GUARDED.contains(&part)))
}
