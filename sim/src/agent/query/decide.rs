//! The order in which rules and modes decide: deny, ask, mode, allow; then the user is asked (contract PERM-09..13).

use std::rc::Rc;

use serde_json::Value;

use crate::agent::entry::ToolUse;
use crate::agent::event::Event;
use crate::agent::permission::rule::{Places, Rule, Subject};
use crate::agent::permission::{Mode, Request, Route};
use crate::agent::session::{CanUse, Context, Effect, Helper, Tool};
use crate::agent::team::{Content, Letter, Member};
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
        Verdict::Ask => match context.member() {
            Some(member) => asked_in_team(context, member, tool_use).await,
            None => asked(context, tool_use).await,
        },
    };
    let agent = context.agent.clone();
    let tool = tool_use.name.clone();
    context.emit(&Event::PermissionReply { agent, tool, allowed, by });
    if allowed { Decision::Allowed } else { Decision::Denied(words) }
}

/// The mode for calls of `context`: the session's for the main agent, its own for every other agent.
fn mode_of(context: &Context) -> Mode {
    let permissions = &context.session.permissions;
    let own = if context.is_main() { &permissions.mode } else { &context.mode };
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
    let route = match (mode_of(context), context.is_main()) {
        (Mode::Bubble, _) => Route::Bubble,
        (_, false) => Route::Independent,
        (_, true) => Route::Local,
    };
    let request = context.session.ids.number();
    let asked = request_of(request, &context.agent, tool_use, route, None);
    told("user", tool, context.session.permissions.ask(&context.session, asked, &context.abort).await)
}

fn request_of(request: u64, agent: &Rc<str>, tool_use: &ToolUse, route: Route, asks: Option<&Member>) -> Request {
    let badge = asks.map(|member| [member.badge.name.clone(), member.badge.color.clone()]);
    let (agent, tool, tool_use) = (agent.clone(), tool_use.name.clone(), tool_use.id.clone());
    Request { request, agent, tool, tool_use, route, badge }
}

/// The answer of whoever was asked, as a decision.
fn told(who: &'static str, tool: &str, answer: Option<bool>) -> (bool, &'static str, Rc<str>) {
    match answer {
        Some(true) => (true, who, "".into()),
        Some(false) => (false, who, format!("The {who} denied permission for {tool}.").into()),
        None => (false, "abort", format!("Permission for {tool} was asked for until the agent stopped.").into()),
    }
}

/// A teammate asks, or an agent that works for one: the user at the leader's terminal if it can reach that (SWARM-07),
/// otherwise the leader by mailbox (SWARM-08).
async fn asked_in_team(context: &Context, member: &Member, tool_use: &ToolUse) -> (bool, &'static str, Rc<str>) {
    let session = &context.session;
    let request = session.ids.number();
    if session.team.has_bridge(member.place) {
        let asked = request_of(request, &context.agent, tool_use, Route::Bridge, Some(member));
        return told("user", &tool_use.name, session.permissions.ask(session, asked, &context.abort).await);
    }
    let decision = member.decision(request);
    let content = Content::PermissionRequest {
        request,
        tool: tool_use.name.clone(),
        tool_use: tool_use.id.clone(),
        input: Value::clone(&tool_use.input),
    };
    let letter = Letter { number: session.ids.number(), from: member.agent.clone(), content };
    let (leader, _) = session.team.leader();
    let _waiting = session.handle.waiting_for("the leader's decision on a permission request");
    let answer = match leader.put(&letter, &context.abort).await {
        Err(_) => None,
        Ok(()) => crate::select! {
            () = context.abort.given() => None,
            allow = decision => allow.ok(),
        },
    };
    told("leader", &tool_use.name, answer)
}

/// The leader decides for a teammate: by its own rules and mode, otherwise its user does (SWARM-08).
pub async fn on_behalf(leader: &Context, member: &Member, request: u64, tool_use: &ToolUse) -> bool {
    let session = &leader.session;
    let pool = leader.pool();
    let Some(tool) = pool.get(&tool_use.name).or_else(|| session.tools.get(&tool_use.name)) else { return false };
    match verdict(leader, &**tool, tool_use) {
        Verdict::Allow(_) => true,
        Verdict::Deny(..) => false,
        Verdict::Ask if !session.settings.interactive => false,
        Verdict::Ask => {
            let asked = request_of(request, &member.agent, tool_use, Route::Mailbox, Some(member));
            // If the teammate is stopped meanwhile, nobody needs the answer.
            session.permissions.ask(session, asked, &member.stopped).await == Some(true)
        }
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
