//! Tools by data: a name, a schema, and scripted results. A tool that exists already is replaced. MCP servers, and their
//! tools.

use std::rc::Rc;

use forkcast_sim::agent::tool::data::DataResult;
use forkcast_sim::time::Duration;
use serde_json::Value;

use super::outline;
use super::reading::{At, yes};

/// A declared tool.
#[derive(Clone, Debug)]
pub struct ToolText {
    /// Its name.
    pub name: Rc<str>,
    /// Its purpose, for the model.
    pub description: Option<Rc<str>>,
    /// JSON Schema of its input; by default any object.
    pub schema: Option<Value>,
    /// Its results, in order. Those with a call answer this call alone.
    pub results: Vec<ResultText>,
}

/// A declared MCP server.
#[derive(Clone, Debug)]
pub struct ServerText {
    /// Its name.
    pub name: Rc<str>,
    /// Its description, for the main prompt.
    pub instructions: Rc<str>,
    /// Whether the session connects to it; otherwise only agents whose definition writes it out do.
    pub is_shared: bool,
    /// How long a connection takes.
    pub takes: Duration,
    /// Whether no connection can be made.
    pub fails: bool,
    /// Its tools, with their own names.
    pub tools: Vec<ToolText>,
}

impl ServerText {
    /// Reads a server in `servers`.
    pub fn of(name: &str, at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::SERVER)?;
        Some(Self {
            name: name.into(),
            instructions: fields.or_default("instructions", At::shared),
            is_shared: fields.may("shared", At::truth).unwrap_or(true),
            takes: Duration::from_millis(fields.or_default("takes_ms", At::number)),
            fails: fields.or_default("fails", At::truth),
            tools: fields.list("tools", ToolText::of),
        })
    }

    /// The names of its tools in a session.
    pub fn tool_names(&self) -> impl Iterator<Item = Rc<str>> {
        self.tools.iter().map(|tool| format!("mcp__{}__{}", self.name, tool.name).into())
    }
}

/// A result of a declared tool.
#[derive(Clone, Debug)]
pub struct ResultText {
    /// The id of the call that it answers.
    pub call: Option<Rc<str>>,
    /// The result.
    pub result: DataResult,
}

impl ToolText {
    /// Reads an item of `tools`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::TOOL)?;
        Some(Self {
            name: fields.must("name", At::name)?,
            description: fields.may("description", At::shared),
            schema: fields.get("schema").map(|at| at.json()),
            results: fields.list("results", ResultText::of),
        })
    }
}

impl ResultText {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::TOOL_RESULT)?;
        let takes = Duration::from_millis(fields.or_default("takes_ms", At::number));
        let never_ends = fields.may("never_ends", yes).is_some();
        let result = DataResult {
            content: fields.or_default("content", At::shared),
            is_error: fields.or_default("failed", At::truth),
            takes: (!never_ends).then_some(takes),
            reads: fields.may("reads", At::name),
        };
        Some(Self { call: fields.may("call", At::name), result })
    }
}
