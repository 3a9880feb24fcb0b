//! Which definitions a model sees (ADEF-24, PROMPT-18, MCP-04).

use std::collections::BTreeMap;
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
