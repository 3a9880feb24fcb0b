//! A session on our executor, with a scripted model without time and a watcher that keeps every event.

use std::cell::RefCell;
use std::rc::Rc;

use forkcast_sim::agent::definition::{AgentDefinition, Source};
use forkcast_sim::agent::entry::ToolUse;
use forkcast_sim::agent::session::Opening;
use forkcast_sim::agent::tool::{Call, Outcome, Pool, ToolError, Tools};
use forkcast_sim::agent::world::{Files, Rule, Shell, World};
use forkcast_sim::agent::{Abort, Context, Event, Session, Settings, Sink};
use forkcast_sim::model::Unmetered;
use forkcast_sim::model::scripted::{self, Scripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::time::{Instant, Plan, run};
use serde_json::Value;

/// Keeps every event with its instant in milliseconds.
#[derive(Debug, Default)]
pub struct Log(RefCell<Vec<(u64, Event)>>);

impl Sink for Log {
    fn take(&self, at: Instant, event: &Event) {
        self.0.borrow_mut().push((at.0 / 1_000_000, event.clone()));
    }
}

/// What a session begins with; change it, then play.
pub struct Stage {
    pub opening: Opening,
    log: Rc<Log>,
}

/// What came of a play.
pub struct Played<T> {
    pub value: T,
    /// When it ended, in milliseconds.
    pub at_ms: u64,
    /// Everything that happened, each with its instant in milliseconds.
    pub events: Vec<(u64, Event)>,
}

impl<T> Played<T> {
    /// What `pick` finds in the events, in order.
    pub fn picked<'a, P>(&'a self, pick: impl Fn(&'a Event) -> Option<P>) -> Vec<P> {
        self.events.iter().filter_map(|(_, event)| pick(event)).collect()
    }
}

impl Stage {
    /// An interactive session in `/repo` with all tools, no files, no agents and a model that has nothing to say.
    pub fn new() -> Self {
        let log = Rc::new(Log::default());
        let opening = Opening {
            settings: Settings::default(),
            seed: Seed::new(1),
            model: Rc::new(Unmetered::new(Scripted::default())),
            sink: log.clone(),
            flags: Default::default(),
            permissions: Default::default(),
            definitions: Default::default(),
            skills: Default::default(),
            tools: Tools::every(),
            hooks: Default::default(),
            world: World::default(),
        };
        Self { opening, log }
    }

    /// The model says this.
    #[allow(dead_code, reason = "for the tests of the loop")]
    pub fn says(mut self, rules: Vec<scripted::Rule>) -> Self {
        self.opening.model = Rc::new(Unmetered::new(Scripted::new(rules)));
        self
    }

    /// These files are there.
    pub fn with_files(mut self, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        self.opening.world.files = Files::new(files);
        self
    }

    /// Commands do this.
    pub fn with_shell(mut self, rules: Vec<Rule>) -> Self {
        self.opening.world.shell = Shell::new(rules);
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

/// `context` calls a tool, past all permission.
pub async fn call(context: &Rc<Context>, name: &str, input: Value) -> Result<Outcome, ToolError> {
    let tool = context.pool.get(name).expect("a tool of the pool").clone();
    let tool_use = tool_use("toolu_1", name, input);
    tool.call(Call { tool_use, context: context.clone(), abort: Abort::default(), message: None }).await
}

/// What the model sees of it.
pub async fn said(context: &Rc<Context>, name: &str, input: Value) -> String {
    match call(context, name, input).await {
        Ok(Outcome { content, is_error: false }) => content.to_string(),
        Ok(Outcome { content, is_error: true }) => format!("error: {content}"),
        Err(error) => format!("error: {error}"),
    }
}

#[allow(dead_code, reason = "for tests of sub-agents")]
/// A kind of agent that says nothing beside its name.
pub fn kind(agent_type: &str) -> AgentDefinition {
    AgentDefinition {
        agent_type: agent_type.into(),
        when_to_use: "for tests".into(),
        prompt: "You are part of a test.".into(),
        tools: None,
        disallowed_tools: Vec::new(),
        model: None,
        effort: None,
        permission_mode: None,
        background: false,
        isolation: None,
        max_turns: None,
        color: None,
        memory: None,
        required_mcp_servers: Vec::new(),
        mcp_servers: Vec::new(),
        hooks: Vec::new(),
        skills: Vec::new(),
        initial_prompt: None,
        one_shot: false,
        source: Source::Project,
    }
}
