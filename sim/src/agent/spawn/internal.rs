//! Internal forks: the runtime runs the query loop for its own helpers (`runForkedAgent`, contract INTERNAL).
//!
//! An internal fork takes its parent's conversation, prompt, tools, model and thinking, so its requests begin with what
//! the parent's cache holds (INTERNAL-12). No model sees it: there is no call, result, task or notification (INTERNAL-01,
//! INTERNAL-10), and its messages stay out of the parent's conversation and of all transcripts. It differs from a fork
//! in what it is for: a helper that reuses the loop, not a worker (INTERNAL-11).

use std::rc::Rc;

use super::fork::origin;
use crate::agent::abort::Abort;
use crate::agent::definition::{AgentDefinition, Source};
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::agent::query::{Ended, Reason, Step, Yielded, query};
use crate::agent::session::fork::Origin;
use crate::agent::session::{Context, Helper, SubAgent};
use crate::agent::settings::Caller;

/// The parameters that must equal the parent's, so that the prefix is read from the cache (`cacheSafeParams`,
/// INTERNAL-12).
pub struct CacheSafe {
    parent: Rc<Context>,
    origin: Rc<Origin>,
}

/// The result of an internal fork, for its caller alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkedAgentResult {
    /// Its last text; empty if there is none.
    pub text: Rc<str>,
    /// How its loop ended.
    pub reason: Reason,
}

impl CacheSafe {
    /// Those of `parent` now, for `caller`.
    pub fn of(parent: &Rc<Context>, caller: Caller) -> Self {
        let definition = AgentDefinition {
            tools: Some(vec!["*".into()]),
            model: Some("inherit".into()),
            max_turns: Some(caller.max_turns()),
            ..AgentDefinition::new(Source::BuiltIn, caller.name(), "", "")
        };
        Self { parent: parent.clone(), origin: Rc::new(origin::take_whole(parent, definition)) }
    }
}

/// Runs a fork for `helper` to its end, with `prompt` after the parent's conversation (INTERNAL-02, INTERNAL-03).
pub async fn run_forked_agent(safe: CacheSafe, helper: Helper, prompt: &str, abort: &Abort) -> ForkedAgentResult {
    let CacheSafe { parent, origin } = safe;
    let session = parent.session.clone();
    let caller = helper.caller;
    let agent = session.ids.next("agent");
    let context = Context::sub_agent(&parent, start(&parent, &agent, origin, helper));
    session.emit(&Event::InternalStarted { agent: agent.clone(), parent: parent.agent.clone(), caller: caller.name() });
    context.entries.borrow_mut().push(Entry::user(session.ids.next("entry"), prompt, Nature::Inserted));
    let (ended, text) = follow(&context, abort).await;
    session.emit(&Event::InternalEnded {
        agent,
        caller: caller.name(),
        reason: ended.reason.name(),
        turns: ended.turns,
    });
    ForkedAgentResult { text, reason: ended.reason }
}

fn start(parent: &Context, agent: &Rc<str>, origin: Rc<Origin>, helper: Helper) -> SubAgent {
    SubAgent {
        agent: agent.clone(),
        definition: origin.definition.clone(),
        model: origin.model.clone(),
        pool: origin.pool.clone(),
        mode: parent.mode.get(),
        is_async: true,
        fork: Some(origin),
        helper: Some(helper),
        ..SubAgent::default()
    }
}

/// Follows the loop to its end; the last text of the model.
async fn follow(context: &Rc<Context>, abort: &Abort) -> (Ended, Rc<str>) {
    let mut text: Rc<str> = "".into();
    let mut query = query(context.clone());
    loop {
        let step = crate::select! {
            step = query.next() => step,
            () = abort.given() => {
                context.abort.give();
                query.next().await
            }
        };
        match step {
            Step::Yielded(Yielded::Entry(entry)) if entry.nature == Nature::Said => text = entry.text.clone(),
            Step::Yielded(_) => {}
            Step::Ended(ended) => return (ended, text),
        }
    }
}
