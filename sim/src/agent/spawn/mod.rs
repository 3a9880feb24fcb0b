//! Sub-agents: routing, waiting, background, takeover (contract AGENT, SYNC, ASYNC, LIFE, RESULT).
//!
//! An Agent call passes through these in order (LIFE-01):
//!
//! * [`route`]: which agent, model and tools, foreground or background; or a refusal (AGENT-16..29).
//! * `servers`: the servers that it requires must be connected (MCP).
//! * [`run`]: the agent itself: context, prompt, own loop, transcript (CTX-07); the same in foreground and background
//!   (LIFE-03).
//! * [`foreground`]: the call waits, and the child may be moved to the background meanwhile (SYNC). [`takeover`]
//!   continues it there.
//! * [`background`]: the call does not wait; a notification reports the end (ASYNC). [`resume`] continues an agent that
//!   has ended (MSG).
//! * [`fork`]: children that begin with their parent's whole conversation (FORK, CACHE).
//! * [`internal`]: forks for the runtime's own helpers ([`callers`]), beside the tool protocol (INTERNAL).
//! * [`slash`]: skills that run as agents of their own, for a command of the user (SLASH).
//! * [`worktree`]: copies of the repository that agents work in (WORKTREE).
//! * [`teammate`]: agents of a team, which go on after an answer (SWARM).
//! * `remote`: agents on other machines (AGENT-27).
//! * [`result`]: what the calling model sees (RESULT). [`waiter`]: what both kinds of waiting share.
//!
//! A synchronous child is awaited by its call, and a background child by its lifecycle. A child that is moved to the
//! background is awaited first by the call, then by the lifecycle (LIFE-04). A child returns nothing except the result
//! of its call or a notification (LIFE-06).

pub mod background;
pub mod callers;
pub mod foreground;
pub mod fork;
pub mod input;
pub mod internal;
pub mod remote;
pub mod result;
pub mod resume;
pub mod route;
pub mod run;
mod servers;
pub mod slash;
pub mod takeover;
pub mod teammate;
pub mod waiter;
pub mod worktree;

use route::{Refusal, Resolved};

use super::definition::Isolation;

use super::event::Event;
use super::session::{Call, Outcome, ToolError};

/// An Agent call (AGENT-29, AGENT-30): resolves everything, then runs the agent in the foreground or background.
///
/// # Errors
/// If the call is refused, or the agent failed before it said anything (SYNC-17), or was stopped (SYNC-15).
pub async fn call(call: Call) -> Result<Outcome, ToolError> {
    let resolved = crate::select! {
        resolved = resolve(&call) => resolved,
        () = call.abort.given() => return Err(ToolError::Aborted),
    };
    match resolved {
        Err(why) => {
            let agent = call.context.agent.clone();
            let tool_use = call.tool_use.id.clone();
            call.context.emit(&Event::Refused { agent, tool_use, why: why.clone() });
            Err(ToolError::Failed(why))
        }
        Ok(resolved) => begin(&call, &resolved).await,
    }
}

/// Resolves the call, and makes the worktree that it or the definition asks for; the call decides if both say something
/// (AGENT-18). A start that is known to take its time does.
async fn resolve(call: &Call) -> Result<Resolved, Refusal> {
    let mut resolved = route::resolve(call).await?;
    let session = &call.context.session;
    if let Some(takes) = session.settings.launches.get(&call.tool_use.id) {
        session.handle.sleep(*takes).await;
    }
    if resolved.isolation() == Some(Isolation::Worktree) {
        resolved.worktree = Some(worktree::create(&call.context.session, &resolved.agent).await?);
    }
    Ok(resolved)
}

/// Runs the agent in the foreground or background. A fork may start a named agent, against its instructions (C30).
async fn begin(call: &Call, resolved: &Resolved) -> Result<Outcome, ToolError> {
    let caller = &call.context;
    if resolved.fork.is_none() && caller.fork.is_some() {
        let agent = caller.agent.clone();
        let tool_use = call.tool_use.id.clone();
        caller.emit(&Event::ForkViolation { agent, tool_use, agent_type: resolved.definition.agent_type.clone() });
    }
    match resolved.background {
        _ if resolved.isolation() == Some(Isolation::Remote) => Ok(remote::launch(call, resolved)),
        true if let Some(team) = &resolved.team => Ok(teammate::spawn(call, resolved, team)),
        true => Ok(background::launch(call, resolved)),
        false => foreground::wait(call, resolved).await,
    }
}
