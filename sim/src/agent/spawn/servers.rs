//! The MCP servers that an agent type requires (contract MCP-01..03, PERM-05, C10, C11).

use std::rc::Rc;

use super::route::Refusal;
use crate::agent::definition::{AgentDefinition, fits};
use crate::agent::event::Event;
use crate::agent::session::servers::{Link, Servers};
use crate::agent::session::{Call, Session};
use crate::time::Duration;

/// How long a call waits for servers that are being connected (MCP-02).
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until the servers that `definition` requires are connected.
///
/// # Errors
/// If one of them fails, needs too long, or offers no tool that may be used (MCP-03).
pub async fn required(call: &Call, definition: &AgentDefinition) -> Result<(), Refusal> {
    let session = &call.context.session;
    let servers = &session.servers;
    let until = session.now() + PATIENCE;
    let mut is_told = false;
    loop {
        let changed = servers.changed();
        let pending = unconnected(servers, definition);
        if pending.is_empty() || session.now() >= until {
            break;
        }
        if !std::mem::replace(&mut is_told, true) {
            let tool_use = call.tool_use.id.clone();
            call.context.emit(&Event::McpAwaited { agent: call.context.agent.clone(), tool_use, servers: pending });
        }
        let _waiting = session.handle.waiting_for("a server that is being connected");
        crate::select! {
            () = changed => {}
            () = session.handle.sleep_until(until) => {}
        }
    }
    match problem(session, definition) {
        Some(why) => Err(format!("agent type `{}`: {why}", definition.agent_type).into()),
        None => Ok(()),
    }
}

/// What `definition` requires and nothing that is connected fulfils, as long as something pending might.
fn unconnected(servers: &Servers, definition: &AgentDefinition) -> Vec<Rc<str>> {
    let pending = servers.named(&[Link::Pending]);
    let missing = definition.missing(&servers.named(&[Link::Ready]));
    missing.into_iter().filter(|wanted| pending.iter().any(|server| fits(wanted, server))).collect()
}

/// Why an agent of this type cannot start.
fn problem(session: &Session, definition: &AgentDefinition) -> Option<String> {
    let missing = definition.missing(&session.servers.named(&[Link::Ready]));
    if let Some(wanted) = missing.first() {
        let is_pending = session.servers.named(&[Link::Pending]).iter().any(|server| fits(wanted, server));
        let why = if is_pending { "needs longer than 30 seconds to connect" } else { "could not be connected" };
        return Some(format!("the MCP server `{wanted}` {why}"));
    }
    let is_useless = |pattern: &&Rc<str>| {
        let mut tools = session.servers.ready().filter(|server| fits(pattern, &server.name)).flat_map(|one| &one.tools);
        tools.all(|tool| session.permissions.denies_tool(tool.name()))
    };
    let useless = definition.required_mcp_servers.iter().find(is_useless)?;
    Some(format!("the MCP server `{useless}` offers no tool that may be used"))
}
