//! What agents need to go on after they have ended (contract MSG-09, MSG-10, G08). It is kept with their transcripts, so
//! it outlives their tasks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::context::{Context, Continued, SubAgent};
use super::fork::Origin;
use super::pool::Pool;
use crate::agent::definition::AgentDefinition;
use crate::agent::entry::Entry;
use crate::agent::permission::Mode;

/// The remains of ended agents, by id.
#[derive(Default)]
pub struct Kept {
    is_used: bool,
    agents: RefCell<BTreeMap<Rc<str>, Rc<Remains>>>,
}

/// What an ended agent needs to go on.
pub struct Remains {
    /// The agent that launched it, while that one exists.
    pub parent: Weak<Context>,
    /// Its purpose, as described by the launching call.
    pub description: Rc<str>,
    /// It worked in a worktree.
    pub has_worktree: bool,
    definition: Rc<AgentDefinition>,
    model: Rc<str>,
    pool: Option<Rc<Pool>>,
    mode: Mode,
    cwd: Rc<str>,
    fork: Option<Rc<Origin>>,
    /// Without the messages, which are read from the transcript.
    state: Continued,
}

impl Kept {
    /// Keeps remains only if they are used: if some tool resumes agents.
    pub fn new(is_used: bool) -> Self {
        Self { is_used, agents: RefCell::default() }
    }

    /// Keeps what the agent of `context` needs to go on; to be called before its cleanup.
    pub fn keep(&self, context: &Context, description: &Rc<str>, has_worktree: bool) {
        let Some((parent, definition)) = context.parent.as_ref().zip(context.definition.as_ref()) else { return };
        if !self.is_used || context.teammate.is_some() {
            return;
        }
        let remains = Remains {
            parent: Rc::downgrade(parent),
            description: description.clone(),
            has_worktree,
            definition: definition.clone(),
            model: context.model.clone(),
            pool: context.is_async.then(|| context.pool()),
            mode: context.mode.get(),
            cwd: context.cwd.borrow().clone(),
            fork: context.fork.clone(),
            state: Continued { earlier_turns: context.turns.get(), ..Continued::of(context) },
        };
        self.agents.borrow_mut().insert(context.agent.clone(), Rc::new(remains));
    }

    /// The remains of agent `id`.
    pub fn get(&self, id: &str) -> Option<Rc<Remains>> {
        self.agents.borrow().get(id).cloned()
    }
}

impl Remains {
    /// The inputs of a background run that continues from `entries`. A fork gets its parent's prompt and tools again,
    /// byte for byte (G08); an agent that ran in the foreground gets the tools of a background agent (contract
    /// TOOLS-08).
    pub fn sub_agent(&self, parent: &Context, agent: &Rc<str>, entries: Vec<Rc<Entry>>) -> SubAgent {
        let again = || Pool::named(&parent.session, agent, &self.definition, true);
        SubAgent {
            agent: agent.clone(),
            definition: self.definition.clone(),
            model: self.model.clone(),
            pool: self.pool.clone().unwrap_or_else(again),
            mode: self.mode,
            is_async: true,
            cwd: Some(self.cwd.clone()),
            continued: Some(Continued { entries, ..self.state.clone() }),
            fork: self.fork.clone(),
            ..SubAgent::default()
        }
    }
}
