//! A session on our executor, with a scripted model without time and a sink that keeps every event.

use std::cell::RefCell;
use std::rc::Rc;

use forkcast_sim::agent::definition::{AgentDefinition, Source};
use forkcast_sim::agent::entry::{Nature, ToolUse};
use forkcast_sim::agent::query::{Ended, Step, query};
use forkcast_sim::agent::session::Opening;
use forkcast_sim::agent::session::SubAgent;
use forkcast_sim::agent::tool::pool::Worker;
use forkcast_sim::agent::tool::{self, Call, Outcome, Pool, ToolError};
use forkcast_sim::agent::world::{Files, Rule, Shell, World};
use forkcast_sim::agent::{Abort, Context, Entry, Event, Session, Settings, Sink};
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{self, Scripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::time::{Instant, Plan, run};
use serde_json::Value;

use super::player::ScriptPlayer;

/// Keeps every event with its instant in milliseconds.
#[derive(Debug, Default)]
pub struct Log(RefCell<Vec<(u64, Event)>>);

impl Sink for Log {
    fn take(&self, at: Instant, event: &Event) {
        self.0.borrow_mut().push((at.0 / 1_000_000, event.clone()));
    }
}

/// The setup of a session; change it, then play.
pub struct Stage {
    pub opening: Opening,
    log: Rc<Log>,
}

/// The results of a play.
pub struct Played<T> {
    pub value: T,
    /// When it ended, in milliseconds.
    pub at_ms: u64,
    /// Everything that happened, each with its instant in milliseconds.
    pub events: Vec<(u64, Event)>,
}

impl<T> Played<T> {
    /// The results of `pick` for the events, in order.
    pub fn picked<'a, P>(&'a self, pick: impl Fn(&'a Event) -> Option<P>) -> Vec<P> {
        self.events.iter().filter_map(|(_, event)| pick(event)).collect()
    }
}

impl Stage {
    /// An interactive session in `/repo` with all tools, no files, no agents and a model without answers.
    pub fn new() -> Self {
        let log = Rc::new(Log::default());
        let opening = Opening {
            settings: Settings::default(),
            seed: Seed::new(1),
            model: Rc::new(ScriptPlayer::new(Scripted::default())),
            sink: log.clone(),
            flags: Default::default(),
            permissions: Default::default(),
            definitions: Default::default(),
            skills: Default::default(),
            servers: Vec::new(),
            tools: tool::every(),
            hooks: Default::default(),
            world: World::default(),
        };
        Self { opening, log }
    }

    /// The model says this.
    pub fn says(mut self, rules: Vec<scripted::Rule>) -> Self {
        self.opening.model = Rc::new(ScriptPlayer::new(Scripted::new(rules)));
        self
    }

    /// Adds these files.
    pub fn with_files(mut self, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        self.opening.world.files = Files::new(files);
        self
    }

    /// Sets the rules for commands.
    pub fn with_shell(mut self, rules: Vec<Rule>) -> Self {
        self.opening.world.shell = Shell::new(rules).into();
        self
    }

    /// Plays `body` to its end.
    pub fn play<T: 'static, F>(self, body: impl FnOnce(Rc<Session>) -> F) -> Played<T>
    where
        F: Future<Output = T> + 'static,
    {
        let (opening, log) = (self.opening, self.log);
        let finished = run(&Plan::default(), |handle| body(opening.open(handle))).expect("the play ends");
        let events = log.0.take();
        Played { value: finished.value, at_ms: finished.at.0 / 1_000_000, events }
    }
}

/// The main agent with all tools that the session gives it.
pub fn main_agent(session: &Rc<Session>) -> Rc<Context> {
    Context::main(session, Pool::main(session))
}

/// A call with this id.
pub fn tool_use(id: &str, name: &str, input: Value) -> ToolUse {
    ToolUse { id: id.into(), name: name.into(), input: Rc::new(input) }
}

/// `context` calls a tool, without permission checks.
pub async fn call(context: &Rc<Context>, name: &str, input: Value) -> Result<Outcome, ToolError> {
    let tool = context.pool().get(name).expect("a tool of the pool").clone();
    let tool_use = tool_use("toolu_1", name, input);
    tool.call(Call { tool_use, context: context.clone(), abort: Abort::default(), message: None }).await
}

/// The result as the model sees it.
pub async fn said(context: &Rc<Context>, name: &str, input: Value) -> String {
    match call(context, name, input).await {
        Ok(Outcome { content, is_error: false }) => content.to_string(),
        Ok(Outcome { content, is_error: true }) => format!("error: {content}"),
        Err(error) => format!("error: {error}"),
    }
}

/// A kind of agent without options.
pub fn kind(agent_type: &str) -> AgentDefinition {
    AgentDefinition::new(Source::Project, agent_type, "for tests", "You are part of a test.")
}

/// A sub-agent of `parent` of this type, with its pool and mode; in the background if `is_async`.
pub fn sub_agent(parent: &Rc<Context>, definition: AgentDefinition, is_async: bool) -> Rc<Context> {
    let session = &parent.session;
    let agent = session.ids.next("agent");
    let pool = Pool::named(session, &agent, &definition, is_async);
    let mode = Worker::of(&session.permissions, &definition, is_async).mode;
    let (definition, model) = (Rc::new(definition), parent.model.clone());
    Context::sub_agent(
        parent,
        SubAgent {
            agent,
            definition,
            model,
            pool,
            mode,
            is_async,
            cwd: None,
            continued: None,
            slot: None,
            fork: None,
            helper: None,
            teammate: None,
        },
    )
}

/// Answer number `turn` of agents of this type, counted from zero.
pub fn reply(agent_type: &str, turn: u32, said: &[Said]) -> scripted::Rule {
    let reply = scripted::Reply { said: said.to_vec(), ..Default::default() };
    scripted::Rule { agent: Some(agent_type.into()), turn: Some(turn), reply, ..Default::default() }
}

/// A tool call with its own id.
pub fn uses(name: &str, input: Value) -> Said {
    Said::ToolUse { id: "".into(), name: name.into(), input }
}

/// A text.
pub fn says(text: &str) -> Said {
    Said::Text(text.to_owned())
}

/// The user says `words` to `context`, whose loop runs to its end.
pub async fn ask(context: &Rc<Context>, words: &str) -> Ended {
    let entry = Entry::user(context.session.ids.next("entry"), words, Nature::Typed);
    context.entries.borrow_mut().push(entry);
    let mut query = query(context.clone());
    loop {
        if let Step::Ended(ended) = query.next().await {
            return ended;
        }
    }
}

/// The tool results in the conversation of `context`, as sent.
pub fn results(context: &Context) -> Vec<Value> {
    let entries = context.entries.borrow();
    let sent = entries.iter().filter(|entry| entry.nature == Nature::Results);
    let pieces = sent.flat_map(|entry| entry.message.content.iter().map(|piece| piece.json().to_owned()));
    pieces.map(|json| serde_json::from_str(&json).unwrap()).collect()
}
