//! Which definitions a model sees (ADEF-24, PROMPT-18, MCP-04).

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{AgentDefinition, Definitions, McpServer};
use crate::agent::permission::Permissions;

impl Definitions {
    /// The definitions that no rule denies (`filterDeniedAgents`, PERM-03), ordered by name.
    pub fn not_denied(&self, permissions: &Permissions) -> Vec<Rc<AgentDefinition>> {
        self.all().filter(|definition| !permissions.denies_agent(&definition.agent_type)).cloned().collect()
    }
}

impl AgentDefinition {
    /// Required servers that are not among `servers` (C10): patterns of `requiredMcpServers`, which match any part of a
    /// name and ignore case, and names in `mcpServers`, but not servers written out in the definition.
    pub fn missing(&self, servers: &BTreeSet<Rc<str>>) -> Vec<Rc<str>> {
        let matches = |pattern: &str| servers.iter().any(|name| fits(pattern, name));
        let required = self.required_mcp_servers.iter().filter(|pattern| !matches(pattern));
        let named = self.mcp_servers.iter().filter_map(|server| match server {
            McpServer::Reference(name) => (!servers.contains(name)).then_some(name),
            McpServer::Own(_) => None,
        });
        required.chain(named).cloned().collect()
    }
}

/// Whether a pattern of `requiredMcpServers` fits the name of a server (MCP-01).
pub fn fits(pattern: &str, server: &str) -> bool {
    server.to_lowercase().contains(&pattern.to_lowercase())
}
