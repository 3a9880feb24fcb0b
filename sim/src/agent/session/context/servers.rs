//! The connections of an agent to MCP servers (contract MCP-05..09, CTX-03).

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Context;
use crate::agent::definition::McpServer;
use crate::agent::event::Event;
use crate::agent::session::servers::{Connection, server_of};
use crate::agent::session::{Pool, Tool};

impl Context {
    /// Connects the agent to the servers that its definition names, before its first request. A name means the session's
    /// connection (MCP-05); a server written out in the definition gets one of the agent's own (MCP-06). Their tools join
    /// its pool, whatever tools the definition lists (TOOLS-07). A fork has its parent's tools and connects to nothing.
    pub(in crate::agent) async fn open_servers(&self) {
        let wanted = match &self.definition {
            Some(definition) if self.fork.is_none() => &definition.mcp_servers[..],
            _ => return,
        };
        if wanted.is_empty() {
            return;
        }
        let servers = &self.session.servers;
        for server in wanted {
            let connection = match server {
                McpServer::Reference(name) => servers.look_up(name),
                McpServer::Own(name) => servers.open(&self.agent, name).await,
            };
            self.connections.borrow_mut().extend(connection);
        }
        let connected: Vec<Rc<str>> = self.connections.borrow().iter().map(|own| own.server.clone()).collect();
        let tools = connected.iter().flat_map(|server| servers.tools_of(server)).cloned().collect::<Vec<_>>();
        self.add_tools(tools);
        let clients = self.clients().into_iter().map(|(server, connection)| (server, connection.number)).collect();
        self.emit(&Event::McpClients { agent: self.agent.clone(), clients });
    }

    /// Closes the connections that the agent opened, and no others (MCP-08).
    pub(super) fn close_servers(&self) {
        for connection in self.connections.take().iter().filter(|connection| connection.is_own) {
            self.session.servers.close(&self.agent, connection);
        }
    }

    /// The connections that the agent can use, by server: its parent's, and its own (MCP-07, CTX-03).
    pub fn clients(&self) -> BTreeMap<Rc<str>, Connection> {
        let servers = &self.session.servers;
        let mut clients = match &self.parent {
            Some(parent) => parent.clients(),
            None => servers
                .ready()
                .filter_map(|server| Some((server.name.clone(), servers.look_up(&server.name)?)))
                .collect(),
        };
        clients.extend(self.connections.borrow().iter().map(|own| (own.server.clone(), own.clone())));
        clients
    }

    /// Whether a call of this tool reaches its server; other tools need none.
    pub(in crate::agent) fn reaches(&self, tool: &str) -> bool {
        server_of(tool).is_none_or(|server| self.clients().contains_key(server))
    }

    /// Whether the tool's server is one of the session's that is not connected. The tools of a recording have the names of
    /// servers that the session does not have.
    pub(in crate::agent) fn is_cut_off(&self, tool: &str) -> bool {
        server_of(tool).is_some_and(|server| self.session.servers.is_known(server)) && !self.reaches(tool)
    }

    /// Gives the main agent the tools of the servers that are connected now (MCP-09). Tools that come or go change its
    /// prefix.
    pub(in crate::agent) fn refresh_tools(&self) {
        let revision = self.session.servers.revision();
        if self.is_main() && self.servers_seen.replace(revision) != revision {
            self.pool.replace(Pool::main(&self.session));
        }
    }

    fn add_tools(&self, tools: Vec<Rc<dyn Tool>>) {
        let old = self.pool();
        let new: Vec<Rc<dyn Tool>> = tools.into_iter().filter(|tool| old.get(tool.name()).is_none()).collect();
        if !new.is_empty() {
            self.pool.replace(Rc::new(old.with(&self.session, new, &self.agent_type())));
        }
    }
}
