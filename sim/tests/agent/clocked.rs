//! A session whose model takes time and counts tokens, for concurrent sub-agents; all questions are kept.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as Waking, Poll, ready};

use forkcast_sim::agent::definition::{Definitions, Source, Text};
use forkcast_sim::agent::entry::{Entry, Nature, ToolUse};
use forkcast_sim::agent::hook::Hooks;
use forkcast_sim::agent::permission::{self, Mode, Permissions, Rules};
use forkcast_sim::agent::query::{Ended, Step, Yielded, query};
use forkcast_sim::agent::session::Context;
use forkcast_sim::agent::session::{Opening, Server, Skills};
use forkcast_sim::agent::tool::{self, Call, Outcome, Pool, ToolError, Tools};
use forkcast_sim::agent::world::{Files, Rule, Shell, World};
use forkcast_sim::agent::{Event, Session, Settings, Sink};
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::{self, Answer, Broken, CallError, Calling, Events, Model, Question, Replying};
use forkcast_sim::seed::Seed;
use forkcast_sim::time::{Duration, Handle, Instant, Plan, Sleep, run};
use forkcast_sim::wire::Usage;
use serde_json::{Value, json};

/// An answer of the model, and its time.
#[derive(Clone, Debug)]
pub struct Reply {
    said: Vec<Said>,
    after: Duration,
    held: Duration,
    refused: Option<u16>,
}

/// A text, at once.
pub fn text(text: &str) -> Reply {
    Reply { said: vec![Said::Text(text.into())], after: Duration::default(), held: Duration::default(), refused: None }
}

/// One tool call, at once.
pub fn call(name: &str, input: Value) -> Reply {
    calls(vec![(name, input)])
}

/// Several calls in one message. Their ids are `<agent's type>-<turn>-<number>`.
pub fn calls(calls: Vec<(&str, Value)>) -> Reply {
    let call = |(name, input): (&str, Value)| Said::ToolUse { id: "".into(), name: name.into(), input };
    Reply {
        said: calls.into_iter().map(call).collect(),
        after: Duration::default(),
        held: Duration::default(),
        refused: None,
    }
}

/// No answer but an HTTP status.
pub fn refused(status: u16) -> Reply {
    Reply { said: Vec::new(), after: Duration::default(), held: Duration::default(), refused: Some(status) }
}

/// An Agent call.
pub fn spawn(kind: &str, prompt: &str) -> Reply {
    call("Agent", json!({ "description": "do a thing", "prompt": prompt, "subagent_type": kind }))
}

/// The same in the background.
pub fn spawn_behind(kind: &str, prompt: &str) -> Reply {
    let input = json!({
        "description": "do a thing", "prompt": prompt, "subagent_type": kind, "run_in_background": true
    });
    call("Agent", input)
}

impl Reply {
    /// The same after `ms` milliseconds.
    pub fn after(self, ms: u64) -> Self {
        Self { after: Duration::from_millis(ms), ..self }
    }

    /// The same with its last block `ms` milliseconds before its end.
    pub fn held(self, ms: u64) -> Self {
        Self { held: Duration::from_millis(ms), ..self }
    }

    /// The same with a text before everything else.
    pub fn saying(mut self, text: &str) -> Self {
        self.said.insert(0, Said::Text(text.into()));
        self
    }
}

/// Input and output tokens of every answer.
pub const TOKENS: (u64, u64) = (100, 10);

/// The setup of a session.
pub struct Stage {
    pub settings: Settings,
    pub flags: BTreeMap<String, bool>,
    pub mode: Mode,
    pub rules: Rules,
    pub bypass_allowed: bool,
    pub definitions: Vec<Text>,
    pub skills: Skills,
    pub servers: Vec<Server>,
    pub hooks: Hooks,
    pub tools: Tools,
    pub files: Vec<(String, String)>,
    pub shell: Vec<Rule>,
    replies: BTreeMap<String, Vec<Reply>>,
}

/// The results of a session.
pub struct Played<T> {
    pub value: T,
    pub session: Rc<Session>,
    /// Milliseconds and events.
    pub log: Vec<(u64, Event)>,
    /// The questions to the model.
    pub asked: Vec<Question>,
}

impl Stage {
    /// A session with default settings, every tool, the built-in agent types and no files, in which everything is
    /// allowed.
    pub fn new() -> Self {
        Self {
            settings: Settings::default(),
            flags: BTreeMap::new(),
            mode: Mode::BypassPermissions,
            rules: Rules { allow: vec![permission::Rule::parse("Bash").unwrap()], ..Rules::default() },
            bypass_allowed: true,
            definitions: Vec::new(),
            skills: Skills::default(),
            servers: Vec::new(),
            hooks: Hooks::default(),
            tools: tool::every(),
            files: Vec::new(),
            shell: Vec::new(),
            replies: BTreeMap::new(),
        }
    }

    /// The answers of agents of this type, in order; every agent of the type starts with the first.
    pub fn says(mut self, agent_type: &str, replies: Vec<Reply>) -> Self {
        self.replies.insert(agent_type.into(), replies);
        self
    }

    /// A project's agent type, with frontmatter lines after its name and description.
    pub fn agent(mut self, name: &str, frontmatter: &str) -> Self {
        let text = format!("---\nname: {name}\ndescription: tests\n{frontmatter}\n---\nYou are {name}.\n");
        let path = format!("/repo/.claude/agents/{name}.md");
        self.definitions.push(Text { source: Source::Project, path: path.into(), text: text.into() });
        self
    }

    /// A file.
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.into(), text.into()));
        self
    }

    /// A command that takes `ms` milliseconds.
    pub fn command(mut self, command: &str, output: &str, ms: u64) -> Self {
        self.shell.push(Rule { takes: Some(Duration::from_millis(ms)), ..Rule::new(command, output) });
        self
    }

    /// The session has TaskOutput and TaskStop too.
    pub fn with_task_tools(mut self) -> Self {
        self.tools = tool::offered(true, false, false);
        self
    }

    /// The session has SendMessage too.
    pub fn with_messages(mut self) -> Self {
        self.tools = tool::offered(false, true, false);
        self
    }

    /// Other settings.
    pub fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Opens the session, runs `body` to its end, and returns the results.
    pub fn play<T: 'static, F>(self, body: impl FnOnce(Rc<Session>) -> F + 'static) -> Played<T>
    where
        F: Future<Output = T> + 'static,
    {
        let (log, asked) = (Rc::new(Log::default()), Rc::new(RefCell::default()));
        let (sink, keep_log, questions) = (log.clone(), log, Rc::clone(&asked));
        let kept = Rc::new(RefCell::new(None));
        let keep = kept.clone();
        let finished = run(&Plan::default(), move |handle| {
            let session = self.open(handle, sink, questions);
            keep.replace(Some(session.clone()));
            let (body, log) = (body(session), keep_log);
            async move {
                let value = body.await;
                // Cleanup when a run is dropped is not part of the results.
                (value, log.0.take())
            }
        })
        .unwrap();
        let session = kept.take().unwrap();
        let (value, log) = finished.value;
        Played { value, session, log, asked: asked.take() }
    }

    fn open(self, handle: Handle, sink: Rc<Log>, asked: Rc<RefCell<Vec<Question>>>) -> Rc<Session> {
        let model = Rc::new(Clocked { handle: handle.clone(), replies: self.replies, asked });
        let opening = Opening {
            definitions: Definitions::gather(&self.definitions, self.settings.ranking),
            settings: self.settings,
            seed: Seed::new(1),
            model,
            sink,
            flags: self.flags,
            permissions: Permissions::new(self.mode, self.bypass_allowed, self.rules),
            skills: self.skills,
            servers: self.servers,
            tools: self.tools,
            hooks: self.hooks,
            world: World::new(Files::new(self.files), Shell::new(self.shell)),
        };
        opening.open(handle)
    }
}

/// The main agent of a session.
pub fn main_agent(session: &Rc<Session>) -> Rc<Context> {
    Context::main(session, Pool::main(session))
}

/// The user says `text` to `context` and waits for the end of the loop.
pub async fn says(context: &Rc<Context>, text: &str) -> Ended {
    let entry = Entry::user(context.session.ids.next("entry"), text, Nature::Typed);
    context.entries.borrow_mut().push(entry);
    let mut query = query(context.clone());
    loop {
        match query.next().await {
            Step::Yielded(Yielded::Entry(_) | Yielded::Stream(_) | Yielded::Tombstone(_)) => {}
            Step::Ended(ended) => return ended,
        }
    }
}

/// The user moves every synchronous child to the background; returns how many.
pub fn background_all(session: &Session) -> usize {
    session.tasks.in_foreground().iter().filter(|task| session.tasks.background(&task.id)).count()
}

/// Waits for `ms` milliseconds.
pub async fn wait(session: &Session, ms: u64) {
    session.handle.sleep(Duration::from_millis(ms)).await;
}

#[derive(Default)]
struct Log(RefCell<Vec<(u64, Event)>>);

impl Sink for Log {
    fn take(&self, at: Instant, event: &Event) {
        self.0.borrow_mut().push((at.since(Instant::default()).as_millis(), event.clone()));
    }
}

impl<T> Played<T> {
    /// The results of `pick` for the events, in order.
    pub fn find<R>(&self, pick: impl Fn(&Event) -> Option<R>) -> Vec<R> {
        self.log.iter().filter_map(|(_, event)| pick(event)).collect()
    }

    /// The position of the first event for which `is` holds, starting at `from`.
    pub fn place(&self, is: impl Fn(&Event) -> bool) -> usize {
        self.log.iter().position(|(_, event)| is(event)).expect("an event of this kind")
    }

    /// The names of all events, with `task.state` in full, to compare orders.
    pub fn words(&self) -> Vec<String> {
        let line = |(at, event): &(u64, Event)| format!("{at} {}", serde_json::to_string(event).unwrap());
        self.log.iter().map(line).collect()
    }

    /// The questions of agents of this type.
    pub fn asked_by(&self, agent_type: &str) -> Vec<&Question> {
        self.asked.iter().filter(|question| &*question.agent_type == agent_type).collect()
    }

    /// The instant in milliseconds of the first event for which `is` holds.
    pub fn at(&self, is: impl Fn(&Event) -> bool) -> u64 {
        self.log[self.place(is)].0
    }

    /// The number of events for which `is` holds.
    pub fn count(&self, is: impl Fn(&Event) -> bool) -> usize {
        self.log.iter().filter(|(_, event)| is(event)).count()
    }

    /// The ids of the agents that started, in order, without duplicates.
    pub fn agents(&self) -> Vec<Rc<str>> {
        let mut agents = self.find(|event| match event {
            Event::AgentStarted { agent, .. } => Some(agent.clone()),
            _ => None,
        });
        agents.dedup();
        agents
    }

    /// States of tasks in order: task, state, whether in the background.
    pub fn states(&self) -> Vec<(Rc<str>, &'static str, bool)> {
        self.find(|event| match event {
            Event::TaskState { task, state, background, .. } => Some((task.clone(), *state, *background)),
            _ => None,
        })
    }

    /// Cleanup steps of `agent`, and events for a host program except progress, in order.
    pub fn cleaned(&self, of: &str) -> Vec<&'static str> {
        self.find(|event| match event {
            Event::Cleanup { agent, step } if &**agent == of => Some(*step),
            Event::Sdk { agent, kind } if &**agent == of && *kind != "progress" => Some(*kind),
            _ => None,
        })
    }

    /// Texts of the notifications still in the queue of the main thread.
    pub fn notifications(&self) -> Vec<String> {
        let items = self.session.queue.take_for_main("test", |_| true);
        items.into_iter().map(|item| item.text.to_string()).collect()
    }

    /// The tool results at the end of the main agent's last question.
    pub fn results(&self) -> Vec<Value> {
        results(self.asked_by("main").last().expect("a question of the main agent"))
    }
}

/// All tool results in a question.
pub fn results(question: &Question) -> Vec<Value> {
    blocks(question).into_iter().filter(|block| block["type"] == "tool_result").collect()
}

/// All blocks of the messages of a question.
pub fn blocks(question: &Question) -> Vec<Value> {
    let pieces = question.draft.messages.iter().flat_map(|message| &message.content);
    pieces.map(|piece| serde_json::from_str(piece.json()).unwrap()).collect()
}

/// A model with timed answers for each agent.
struct Clocked {
    handle: Handle,
    replies: BTreeMap<String, Vec<Reply>>,
    asked: Rc<RefCell<Vec<Question>>>,
}

impl Model for Clocked {
    fn call(&self, question: Question) -> Calling<'_> {
        Box::pin(async move {
            let of_type = self.replies.get(&*question.agent_type);
            let reply = of_type.and_then(|replies| replies.get(question.turn as usize)).cloned();
            self.asked.borrow_mut().push(question.clone());
            let Some(reply) = reply else { return Err(unscripted(&question)) };
            self.handle.sleep(reply.after).await;
            if let Some(status) = reply.refused {
                let (kind, message) = ("invalid_request_error".into(), "no".into());
                return Err(CallError::Refused { status, kind, message, retry_after: None });
            }
            let said: Vec<Said> = with_ids(reply.said, &question);
            let id = format!("msg-{}-{}", question.agent, question.turn);
            let mut events: VecDeque<model::Event> = Answer::message(&id, &said).events.into();
            events.iter_mut().for_each(spend);
            let hold = Some(Box::pin(self.handle.sleep(reply.held)));
            Ok(Replying::new(Box::new(Arriving { events, hold })))
        })
    }
}

fn spend(event: &mut model::Event) {
    match event {
        model::Event::MessageStart { usage, .. } => *usage = Usage { input_tokens: TOKENS.0, ..Usage::default() },
        model::Event::MessageDelta { usage, .. } => {
            *usage = Usage { input_tokens: TOKENS.0, output_tokens: TOKENS.1, ..Usage::default() };
        }
        _ => {}
    }
}

fn with_ids(said: Vec<Said>, question: &Question) -> Vec<Said> {
    let mut number = 0;
    let mut id = |said| match said {
        Said::ToolUse { name, input, .. } => {
            number += 1;
            let id = format!("{}-{}-{number}", question.agent_type, question.turn).into();
            Said::ToolUse { id, name, input }
        }
        other => other,
    };
    said.into_iter().map(&mut id).collect()
}

fn unscripted(question: &Question) -> CallError {
    let message = format!("nothing is written for answer {} of {}", question.turn, question.agent_type);
    CallError::Refused { status: 400, kind: "invalid_request_error".into(), message: message.into(), retry_after: None }
}

struct Arriving {
    events: VecDeque<model::Event>,
    /// Delays the end of the message.
    hold: Option<Pin<Box<Sleep>>>,
}

impl Events for Arriving {
    fn poll_next(&mut self, waking: &mut Waking<'_>) -> Poll<Option<Result<model::Event, Broken>>> {
        let is_end = matches!(self.events.front(), Some(model::Event::MessageDelta { .. }));
        if let Some(hold) = self.hold.as_mut().filter(|_| is_end) {
            ready!(hold.as_mut().poll(waking));
            self.hold = None;
        }
        Poll::Ready(self.events.pop_front().map(Ok))
    }
}

/// Makes one tool call for `context`, as the loop would, without a model.
pub async fn use_tool(context: &Rc<Context>, name: &str, input: Value) -> Result<Outcome, ToolError> {
    let id = context.session.ids.next("toolu");
    let tool_use = ToolUse { id, name: name.into(), input: Rc::new(input) };
    let tool = context.pool().get(name).expect("a tool of the pool").clone();
    tool.call(Call { tool_use, context: context.clone(), abort: context.abort.clone(), message: None }).await
}
