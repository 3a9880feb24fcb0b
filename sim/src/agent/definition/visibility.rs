//! Which survivors a model is shown (ADEF-24, PROMPT-18, MCP-04).

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{AgentDefinition, Definitions, McpServer};
use crate::agent::permission::Permissions;

impl Definitions {
    /// Those of which no rule denies agents (`filterDeniedAgents`, PERM-03), in order of their names.
    pub fn not_denied(&self, permissions: &Permissions) -> Vec<Rc<AgentDefinition>> {
        self.all().filter(|definition| !permissions.denies_agent(&definition.agent_type)).cloned().collect()
    }
}

impl AgentDefinition {
    /// Servers that it needs and that are not among `servers` (C10): patterns of `requiredMcpServers`, which match any
    /// part of a name in any case, and names in `mcpServers`; never servers of its own.
    pub fn missing(&self, servers: &BTreeMap<Rc<str>, Rc<str>>) -> Vec<Rc<str>> {
        let matches = |pattern: &str| {
            let pattern = pattern.to_lowercase();
            servers.keys().any(|name| name.to_lowercase().contains(&pattern))
        };
        let required = self.required_mcp_servers.iter().filter(|pattern| !matches(pattern));
        let named = self.mcp_servers.iter().filter_map(|server| match server {
            McpServer::Reference(name) => (!servers.contains_key(name)).then_some(name),
            McpServer::Own(_) => None,
        });
        required.chain(named).cloned().collect()
    }
}
