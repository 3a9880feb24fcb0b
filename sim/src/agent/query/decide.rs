//! The order in which rules and modes decide: deny, ask, mode, allow; then the user is asked (contract PERM-09..13).

use std::rc::Rc;

use crate::agent::entry::ToolUse;
use crate::agent::event::Event;
use crate::agent::permission::rule::{Places, Rule, Subject};
use crate::agent::permission::{Mode, Request, Route};
use crate::agent::session::{CanUse, Context, Effect, Helper, Tool};
use crate::agent::world::path;

/// A permission decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call is allowed.
    Allowed,
    /// The call is denied; the model sees this text.
    Denied(Rc<str>),
}

/// The verdict of rules and modes, with its name in logs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Allow(&'static str),
    Deny(&'static str, Rc<str>),
    Ask,
}

/// Project folders that `acceptEdits` does not open, because their files affect the tools themselves (PERM-09).
const GUARDED: [&str; 2] = [".git", ".claude"];

/// Whether `context` may make this call (`canUseTool`, PERM-15). May wait for the user's answer.
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

/// The mode for calls of `context`: the session's for the main agent, its own for every other agent.
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
    if let Some(helper) = &context.helper {
        return by_caller(helper, tool, &subject, tool.effect(&tool_use.input));
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

/// The verdict of the caller of an internal fork; the user is not asked (contract INTERNAL-02).
fn by_caller(helper: &Helper, tool: &dyn Tool, subject: &Subject, effect: Effect) -> Verdict {
    let is_own = |place: &str| match subject {
        Subject::Path(path) => path::below(place, path).is_some(),
        _ => false,
    };
    let allowed = match (&helper.can_use, effect) {
        (CanUse::Reads | CanUse::Edits(_), Effect::Read) => true,
        (CanUse::Edits(place), Effect::Edit) => is_own(place),
        _ => false,
    };
    let words = || format!("Permission for {} was denied: {} may not use it.", tool.name(), helper.caller.name());
    if allowed { Verdict::Allow("caller") } else { Verdict::Deny("caller", words().into()) }
}

/// Asks the user. Returns whether the call is allowed, who decided, and the text for the model.
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

/// The subject of the call; an alias of an agent type is resolved.
fn subject(context: &Context, tool: &dyn Tool, tool_use: &ToolUse) -> Subject {
    match Subject::of(tool.name(), &tool_use.input, &context.cwd.borrow()) {
        Subject::AgentType(name) => {
            let known = context.session.definitions.get(&name).map(|definition| definition.agent_type.to_string());
            Subject::AgentType(known.unwrap_or(name))
        }
        subject => subject,
    }
}

/// The verdict of the mode alone. Reads and calls that stay inside the session are allowed in every mode.
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

/// Whether a file is in the agent's own memory, which it may write (contract CTX-12).
fn is_own_memory(context: &Context, subject: &Subject) -> bool {
    let (Some(memory), Subject::Path(path)) = (&context.memory, subject) else { return false };
    path::below(&memory.directory, path).is_some_and(|below| !below.is_empty())
}

/// Whether `acceptEdits` allows a change of this file: it is below the agent's working directory and not in a guarded
/// folder.
fn is_safe(subject: &Subject, cwd: &str) -> bool {
    let Subject::Path(path) = subject else { return false };
    path::below(cwd, path).is_some_and(|path| !path.split('/').any(|part| GUARDED.contains(&part)))
}
