//! A session on the executor, with a model that plays replies, a log, and a user who acts at given instants.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::definition::{Definitions, Ranking, Source, Text};
use forkcast_sim::agent::event::{Event, Sink};
use forkcast_sim::agent::hook::Hooks;
use forkcast_sim::agent::input::{headless, repl};
use forkcast_sim::agent::permission::Permissions;
use forkcast_sim::agent::session::{Opening, Session, Skills};
use forkcast_sim::agent::settings::Settings;
use forkcast_sim::agent::tool::{self, Pool, Tool, Tools};
use forkcast_sim::agent::world::World;
use forkcast_sim::agent::{Context, Entry};
use forkcast_sim::seed::Seed;
use forkcast_sim::time::{Duration, Handle, Instant, Limits, Plan, run};
use serde_json::Value;

use super::probe::Probe;
use super::reply::{Asked, Play, Reply};

/// What a user does.
pub type Act = Box<dyn FnOnce(&Rc<Session>)>;

/// A session before its start.
pub struct Theatre {
    /// Options.
    pub settings: Settings,
    /// What the model says: (type or id of agent, reply).
    pub replies: Vec<(String, Reply)>,
    /// Warm flags.
    pub flags: BTreeMap<String, bool>,
    /// Rules and modes.
    pub permissions: Permissions,
    /// Agent types.
    pub definitions: Definitions,
    /// Skills.
    pub skills: Skills,
    /// Additional tools.
    pub tools: Vec<Rc<dyn Tool>>,
    /// Hooks.
    pub hooks: Hooks,
    /// Files and shell.
    pub world: World,
    /// The main conversation before the session.
    pub history: Vec<Rc<Entry>>,
    /// What the user does: (milliseconds, act).
    pub acts: Vec<(u64, Act)>,
}

/// A session that is over.
pub struct Played {
    /// Events: (milliseconds, event as in the log).
    pub events: Vec<(u64, Value)>,
    /// Requests in order.
    pub asked: Vec<Asked>,
    /// The main agent.
    pub main: Rc<Context>,
    /// When it ended, in milliseconds.
    pub at_ms: u64,
}

struct Log(RefCell<Vec<(u64, Value)>>);

impl Sink for Log {
    fn take(&self, at: Instant, event: &Event) {
        let line = serde_json::to_value(event).expect("an event is JSON");
        self.0.borrow_mut().push((Duration(at.0).as_millis(), line));
    }
}

impl Theatre {
    /// A session in which the model says these replies to the main agent, one after the other.
    pub fn new(replies: Vec<Reply>) -> Self {
        Self {
            settings: Settings::default(),
            replies: replies.into_iter().map(|reply| ("main".to_owned(), reply)).collect(),
            flags: BTreeMap::new(),
            permissions: Permissions::default(),
            definitions: Definitions::default(),
            skills: Skills::default(),
            tools: vec![Rc::new(Probe { name: "Probe", waits: false }), Rc::new(Probe { name: "Late", waits: true })],
            hooks: Hooks::default(),
            world: World::default(),
            history: Vec::new(),
            acts: Vec::new(),
        }
    }

    /// Adds agent types: (name, additional frontmatter).
    pub fn kinds(mut self, kinds: &[(&str, &str)]) -> Self {
        let text = |(name, rest): &(&str, &str)| Text {
            source: Source::Project,
            path: format!("/repo/.claude/agents/{name}.md").into(),
            text: format!("---\nname: {name}\ndescription: for tests\n{rest}\n---\nYou are {name}.\n").into(),
        };
        let texts: Vec<Text> = kinds.iter().map(text).collect();
        self.definitions = Definitions::gather(&texts, Ranking::default());
        self
    }

    /// The model says `reply` to agents of this type or id.
    pub fn reply(mut self, agent: &str, reply: Reply) -> Self {
        self.replies.push((agent.to_owned(), reply));
        self
    }

    /// The user acts.
    pub fn act(mut self, at_ms: u64, act: impl FnOnce(&Rc<Session>) + 'static) -> Self {
        self.acts.push((at_ms, Box::new(act)));
        self
    }

    /// The user types a line.
    pub fn types(self, at_ms: u64, line: &str) -> Self {
        let line = line.to_owned();
        self.act(at_ms, move |session| {
            session.front.type_line(session, &line);
        })
    }

    /// The user presses ESC.
    pub fn escapes(self, at_ms: u64) -> Self {
        self.act(at_ms, |session| session.front.escape(session))
    }

    /// Plays the session: the user leaves after the last act, and the session ends when no work remains.
    pub fn play(self) -> Played {
        let log = Rc::new(Log(RefCell::default()));
        let asked = Rc::new(RefCell::default());
        let plan = Plan { limits: Limits { steps: 1_000_000, ..Limits::default() }, ..Plan::default() };
        let (inner_log, inner_asked) = (Rc::clone(&log), Rc::clone(&asked));
        let finished = run(&plan, move |handle| self.perform(handle, inner_log, inner_asked)).expect("the run ends");
        let events = log.0.take();
        Played { events, asked: asked.take(), main: finished.value, at_ms: Duration(finished.at.0).as_millis() }
    }

    async fn perform(self, handle: Handle, log: Rc<Log>, asked: Rc<RefCell<Vec<Asked>>>) -> Rc<Context> {
        let tools = tool::every().all().iter().cloned().chain(self.tools).collect();
        let interactive = self.settings.interactive;
        let opening = Opening {
            settings: self.settings,
            seed: Seed::new(1),
            model: Rc::new(Play::new(handle.clone(), self.replies, asked)),
            sink: log,
            flags: self.flags,
            permissions: self.permissions,
            definitions: self.definitions,
            skills: self.skills,
            servers: Vec::new(),
            tools: Tools::new(tools),
            hooks: self.hooks,
            world: self.world,
        };
        let session = opening.open(handle);
        let main = Context::main(&session, Pool::main(&session));
        main.entries.borrow_mut().extend(self.history);
        let user = session.handle.spawn("user", perform_acts(Rc::clone(&session), self.acts));
        if interactive {
            repl(Rc::clone(&main)).await;
        } else {
            user.await.expect("the user acts to the end");
            headless(Rc::clone(&main)).await;
        }
        main
    }
}

async fn perform_acts(session: Rc<Session>, mut acts: Vec<(u64, Act)>) {
    acts.sort_by_key(|(at_ms, _)| *at_ms);
    for (at_ms, act) in acts {
        session.handle.sleep_until(Instant::from_millis(at_ms)).await;
        act(&session);
    }
    session.front.leave(&session);
}

impl Played {
    /// The events with this name.
    pub fn events(&self, word: &str) -> Vec<&Value> {
        self.events.iter().map(|(_, event)| event).filter(|event| event["event"] == word).collect()
    }

    /// When the first event with all of these fields happened.
    pub fn at(&self, fields: &[(&str, &str)]) -> Option<u64> {
        self.position(fields).map(|at| self.events[at].0)
    }

    /// The position in the log of the first event with all of these fields.
    pub fn position(&self, fields: &[(&str, &str)]) -> Option<usize> {
        let fits = |event: &Value| fields.iter().all(|(key, value)| event[*key] == *value);
        self.events.iter().position(|(_, event)| fits(event))
    }

    /// A field of all events with this name.
    pub fn words(&self, word: &str, field: &str) -> Vec<String> {
        let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.events(word).into_iter().map(|event| said(&event[field])).collect()
    }

    /// The main conversation.
    pub fn entries(&self) -> Vec<Rc<Entry>> {
        self.main.entries.borrow().to_vec()
    }

    /// How the main agent's loops ended.
    pub fn reasons(&self) -> Vec<String> {
        let ends = self.events("query.end").into_iter().filter(|event| event["agent"] == "main");
        ends.map(|event| event["reason"].as_str().unwrap().to_owned()).collect()
    }
}
