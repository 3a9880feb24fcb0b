//! Skills that run as agents of their own (contract SLASH).
//!
//! The user's command starts such an agent, not a call of a model: there is no task, result or notification (SLASH-04).
//! The gate and the messages of forks have no part in it (SLASH-09). Its text is the output of the command (SLASH-05). In
//! assistant mode nothing waits for it, and its text enters the queue as a hidden prompt (SLASH-06..08). A model can call
//! the same skills with the Skill tool, and waits for them.

use std::rc::Rc;

use super::callers::Running;
use super::result::Collected;
use super::route::{self, GENERAL, Refusal};
use super::run::{AgentRun, Beginning, Produced, run_agent};
use super::waiter::Verdict;
use crate::agent::definition::{AgentDefinition, Skill};
use crate::agent::event::Event;
use crate::agent::query::Step;
use crate::agent::session::pool::Worker;
use crate::agent::session::{Context, Pool, Session, SubAgent};

/// Runs `skill` for a command of the user (`executeForkedSlashCommand`, SLASH-03). Returns the output of the command,
/// which is empty if nothing waits for the agent.
pub async fn execute(main: &Rc<Context>, skill: &Skill, arguments: &str) -> Rc<str> {
    let is_detached = main.session.settings.assistant;
    match prepare(main, skill, arguments, is_detached) {
        Err(why) => why,
        Ok(forked) if is_detached => {
            detach(main, forked);
            "".into()
        }
        Ok(forked) => forked.end().await,
    }
}

/// Starts the agent of `skill` (`prepareForkedCommandContext`).
///
/// # Errors
/// If there is no agent of the type that the skill names.
pub fn prepare(parent: &Rc<Context>, skill: &Skill, arguments: &str, is_async: bool) -> Result<Forked, Refusal> {
    let session = &parent.session;
    let definition = definition(session, skill)?;
    let agent = session.ids.next("agent");
    session.emit(&Event::SlashStarted {
        agent: agent.clone(),
        parent: parent.agent.clone(),
        skill: skill.name.clone(),
        detached: is_async,
    });
    let start = SubAgent {
        model: route::model(parent, None, &definition),
        pool: Pool::named(session, &agent, &definition, is_async),
        mode: Worker::of(&session.permissions, &definition, is_async).mode,
        agent,
        definition,
        is_async,
        ..SubAgent::default()
    };
    let run = run_agent(Context::sub_agent(parent, start), Beginning::Prompt(skill.called(arguments).into()));
    Ok(Forked { skill: skill.name.clone(), collected: Collected::default(), reason: "aborted", run })
}

/// The definition of the agent that runs `skill`: its tools are those that both allow (SLASH-02). Of a rule such as
/// `Bash(git:*)` the tool counts.
fn definition(session: &Session, skill: &Skill) -> Result<Rc<AgentDefinition>, Refusal> {
    let found = route::find(session, skill.agent.as_deref().unwrap_or(GENERAL))?;
    let any = |tools: &[Rc<str>]| tools.iter().any(|name| &**name == "*");
    let Some(allowed) = skill.allowed_tools.as_ref().filter(|allowed| !any(allowed)) else { return Ok(found) };
    let names = allowed.iter().map(|rule| rule.split_once('(').map_or(&**rule, |(tool, _)| tool));
    let has = |name: &&str| found.tools.as_ref().is_none_or(|own| any(own) || own.iter().any(|own| **own == **name));
    let tools = Some(names.filter(has).map(Rc::from).collect());
    Ok(Rc::new(AgentDefinition { tools, ..AgentDefinition::clone(&found) }))
}

/// Follows the agent beside the session; its text enters the queue (SLASH-07).
fn detach(main: &Rc<Context>, forked: Forked) {
    let session = main.session.clone();
    let running = Running::begin(main);
    let name: Rc<str> = format!("command {}", forked.skill).into();
    let handle = session.handle.clone();
    drop(handle.spawn(name, async move {
        let skill = forked.skill.clone();
        let text = forked.end().await;
        session.notifications.command_ended(&skill, &text);
        drop(running);
    }));
}

/// The running agent of a skill.
pub struct Forked {
    skill: Rc<str>,
    collected: Collected,
    reason: &'static str,
    run: AgentRun,
}

impl Forked {
    /// Follows it to its end and shows its progress (SLASH-05); its last text, or why there is none.
    pub async fn end(mut self) -> Rc<str> {
        let ended = loop {
            match self.run.next().await {
                Step::Yielded(Produced::Message(entry)) => {
                    self.collected.add(&entry);
                    let agent = self.run.context.agent.clone();
                    self.run.context.emit(&Event::Ui { agent, kind: "progress" });
                }
                Step::Yielded(Produced::Struck(uuid)) => self.collected.strike(&uuid),
                Step::Ended(ended) => break ended,
            }
        };
        self.reason = ended.reason.name();
        match Verdict::of(&self.collected, &ended) {
            Verdict::Done => self.collected.last_text(),
            Verdict::Stopped => "The user interrupted this command.".into(),
            Verdict::Failed(why) => format!("The command failed: {why}").into(),
        }
    }
}

impl Drop for Forked {
    /// It has ended, or what waits for it was stopped.
    fn drop(&mut self) {
        let context = &self.run.context;
        context.emit(&Event::SlashEnded {
            agent: context.agent.clone(),
            skill: self.skill.clone(),
            reason: self.reason,
            turns: context.turns.get(),
        });
    }
}
