//! Which survivors a model is shown, and what is told of the others (ADEF-24, PROMPT-18, MCP-04).

use std::rc::Rc;

use super::{AgentDefinition, McpServer};
use crate::agent::event::Event;
use crate::agent::session::Session;

/// Definitions that are neither denied nor lack a server, in order of their names.
pub fn visible(session: &Session) -> Vec<Rc<AgentDefinition>> {
    let mut shown = session.permissions.filter_denied_agents(session.definitions.all());
    shown.retain(|definition| missing_servers(session, definition).is_empty());
    shown
}

/// Servers that `definition` needs and the session has not (C10): patterns of `requiredMcpServers`, which match any
/// part of a name in any case, and names in `mcpServers`; never servers of its own.
pub fn missing_servers(session: &Session, definition: &AgentDefinition) -> Vec<Rc<str>> {
    let servers = &session.settings.mcp_servers;
    let matches = |pattern: &str| {
        let pattern = pattern.to_lowercase();
        servers.keys().any(|name| name.to_lowercase().contains(&pattern))
    };
    let required = definition.required_mcp_servers.iter().filter(|pattern| !matches(pattern));
    let named = definition.mcp_servers.iter().filter_map(|server| match server {
        McpServer::Reference(name) => (!servers.contains_key(name)).then_some(name),
        McpServer::Own(_) => None,
    });
    required.chain(named).cloned().collect()
}

/// Tells what became of every definition, once, when a session begins.
pub(in crate::agent) fn announce(session: &Session) {
    for fate in session.definitions.fates() {
        let (mut outcome, mut why) = (fate.outcome.name(), fate.why.clone());
        let survivor = session.definitions.get(&fate.agent_type).filter(|_| fate.outcome == super::Outcome::Kept);
        if let Some(definition) = survivor {
            let missing = missing_servers(session, &definition);
            if session.permissions.denies_agent(&definition.agent_type) {
                (outcome, why) = ("denied", "by a rule".into());
            } else if !missing.is_empty() {
                (outcome, why) = ("blocked", format!("no server: {}", missing.join(", ")).into());
            }
        }
        session.emit(&Event::Definition {
            agent_type: fate.agent_type.clone(),
            source: fate.source.name(),
            outcome,
            why,
        });
    }
}
