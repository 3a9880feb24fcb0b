//! Sub-agents: routing, waiting, background, takeover (contract AGENT, SYNC, ASYNC, LIFE, RESULT).
//!
//! A call of the Agent tool passes these in order (LIFE-01):
//!
//! * [`route`]: which agent, which model, which tools, in front or behind; or a refusal (AGENT-16..29).
//! * [`run`]: the agent itself: context, prompt, own loop, transcript (CTX-07); the same in front and behind (LIFE-03).
//! * [`foreground`]: the call waits, and the child may be sent behind meanwhile (SYNC). [`takeover`] continues it there.
//! * [`background`]: nobody waits; a notification tells of the end (ASYNC).
//! * [`fork`]: children that begin with their parent's whole conversation (FORK, CACHE).
//! * [`result`]: what the model that called sees (RESULT). [`waiter`]: what both waiters do.
//!
//! Who waits (LIFE-04): for a synchronous child the call, for a background child its lifecycle, for one that was sent
//! into the background first the call and then the lifecycle. Nothing else ever comes back than the result of the call
//! or a notification (LIFE-06).

pub mod background;
pub mod foreground;
pub mod fork;
pub mod input;
pub mod result;
pub mod route;
pub mod run;
pub mod takeover;
pub mod waiter;

use route::Resolved;

use super::event::Event;
use super::session::{Call, Outcome, ToolError};

/// A call of the Agent tool (AGENT-29, AGENT-30): resolves everything, then runs the agent in front or behind.
///
/// # Errors
/// When the call is refused, the agent failed before it said anything (SYNC-17), or was stopped (SYNC-15).
pub async fn call(call: Call) -> Result<Outcome, ToolError> {
    match route::resolve(&call) {
        Err(why) => {
            let agent = call.context.agent.clone();
            let tool_use = call.tool_use.id.clone();
            call.context.emit(&Event::Refused { agent, tool_use, why: why.clone() });
            Err(ToolError::Failed(why))
        }
        Ok(resolved) => begin(&call, &resolved).await,
    }
}

/// Runs the agent in front or behind. A fork may start a named agent, against what it was told (C30).
async fn begin(call: &Call, resolved: &Resolved) -> Result<Outcome, ToolError> {
    let caller = &call.context;
    if resolved.fork.is_none() && caller.fork.is_some() {
        let agent = caller.agent.clone();
        let tool_use = call.tool_use.id.clone();
        caller.emit(&Event::ForkViolation { agent, tool_use, agent_type: resolved.definition.agent_type.clone() });
    }
    match resolved.background {
        true => Ok(background::launch(call, resolved)),
        false => foreground::wait(call, resolved).await,
    }
}
