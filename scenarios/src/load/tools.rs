//! The tools of a session: those of the runtime, and those that the scenario declares.

use std::cell::RefCell;
use std::rc::Rc;

use forkcast_sim::agent::session::Server;
use forkcast_sim::agent::tool::data::{DataResult, DataTool};
use forkcast_sim::agent::tool::{Tool, Tools};
use forkcast_sim::time::Duration;
use serde_json::json;

use crate::format::tools::{ServerText, ToolText};

/// All tools; a declared one replaces one of the runtime with its name.
pub(super) fn all(own: &Tools, declared: &[ToolText]) -> Tools {
    let is_replaced = |name: &str| declared.iter().any(|tool| &*tool.name == name);
    let own = own.all().iter().filter(|tool| !is_replaced(tool.name())).cloned().collect::<Vec<_>>();
    let declared = declared.iter().map(|tool| Rc::new(made(tool)) as Rc<dyn Tool>);
    Tools::new(own.into_iter().chain(declared).collect())
}

/// The MCP servers; their tools are called `mcp__server__tool`.
pub(super) fn servers(declared: &[ServerText]) -> Vec<Server> {
    let server = |text: &ServerText| Server {
        name: text.name.clone(),
        instructions: text.instructions.clone(),
        is_shared: text.is_shared,
        takes: text.takes,
        works: !text.fails,
        tools: text.tools.iter().zip(text.tool_names()).map(|(tool, name)| of_server(name, tool)).collect(),
    };
    declared.iter().map(server).collect()
}

fn of_server(name: Rc<str>, text: &ToolText) -> Rc<dyn Tool> {
    Rc::new(DataTool { name, ..made(text) })
}

fn made(text: &ToolText) -> DataTool {
    let of_call = text.results.iter().filter_map(|text| Some((text.call.clone()?, text.result.clone())));
    let in_order = text.results.iter().filter(|text| text.call.is_none()).map(|text| text.result.clone());
    let done = DataResult { content: "(no output)".into(), takes: Some(Duration(0)), ..DataResult::default() };
    DataTool {
        name: text.name.clone(),
        description: text.description.clone().unwrap_or_else(|| format!("The tool {}.", text.name).into()),
        schema: text.schema.clone().unwrap_or_else(|| json!({ "type": "object" })),
        of_call: of_call.collect(),
        in_order: RefCell::new(in_order.collect()),
        otherwise: done,
    }
}
