//! The tools of an agent. Each has its own file and is listed in [`every`].
//!
//! * [`PlainTool`]: most tools: descriptions, fields and a function. The others implement [`Tool`] themselves.
//! * [`fields`]: inputs, as a schema and as a check.
//! * `read`, `write`, `edit`, `glob`, `grep`: files. `knowledge` is what an agent knows of a file that it wants to
//!   change.
//! * [`data`]: tools that a scenario declares.
//! * `agent`: sub-agents. `bash`: commands; [`background`]: background commands and monitors. `task_create`: the to-do
//!   list; `task_list`: that of a team. `task_output`: reading and stopping background tasks. `send_message`: messages to agents. `skill`: skills.

mod agent;
pub mod background;
mod bash;
pub mod data;
mod edit;
pub mod fields;
mod glob;
mod grep;
mod knowledge;
mod plain;
mod read;
mod send_message;
mod skill;
mod task_create;
mod task_list;
mod task_output;
mod write;

use std::rc::Rc;

pub use agent::Agent;
pub use bash::Bash;
pub use plain::PlainTool;

pub use super::session::pool::{self, Pool};
pub use super::session::tool::{Call, Definition, Effect, Outcome, Running, Tool, ToolError, Tools};

/// All tools that every session has, ordered by name: an order without meaning that never changes (`clients.md` 1,
/// 2026-11).
pub fn every() -> Tools {
    offered(false, false, false)
}

/// The same with `TaskOutput` and `TaskStop` (contract TASK), with `SendMessage` (contract MSG), and with `Skill`. They
/// are not in [`every`]: every tool is part of a prompt, and a session without them keeps its bytes.
pub fn offered(task_tools: bool, messages: bool, skills: bool) -> Tools {
    let mut tools: Vec<Rc<dyn Tool>> = vec![
        Rc::new(Agent),
        Rc::new(Bash),
        Rc::new(edit::EDIT),
        Rc::new(glob::GLOB),
        Rc::new(grep::GREP),
        Rc::new(read::READ),
        Rc::new(task_create::TASK_CREATE),
        Rc::new(write::WRITE),
    ];
    if task_tools {
        tools.push(Rc::new(task_output::TaskOutput));
        tools.push(Rc::new(task_output::TASK_STOP));
    }
    if messages {
        tools.push(Rc::new(send_message::SendMessage));
    }
    if skills {
        tools.push(Rc::new(skill::SkillTool));
    }
    Tools::new(tools).sorted()
}

/// These tools, and those of a team (contract SWARM-10, SWARM-11).
pub fn with_teams(tools: &Tools) -> Tools {
    let own = [task_list::CREATE_TASK_LIST, task_list::ASSIGN_TASK, task_list::CLAIM_TASK, task_list::UPDATE_TASK];
    let own = own.map(|tool| Rc::new(tool) as Rc<dyn Tool>);
    Tools::new(tools.all().iter().cloned().chain(own).collect()).sorted()
}
