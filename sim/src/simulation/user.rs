//! The user of a run, and other input from outside: each act at its instant, through the session's public functions.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use tokio::sync::Notify;

use super::log::Log;
use crate::agent::queue::Item;
use crate::agent::session::Rewriting;
use crate::agent::spawn::callers;
use crate::agent::task::{Kind, State, Task};
use crate::agent::{Event, Session};
use crate::time::{Duration, Instant};

/// An act on a session from outside.
#[derive(Clone, Debug)]
pub struct Act {
    /// When. Acts of one instant are done in the order in which they are given.
    pub at: Instant,
    /// The act.
    pub does: Does,
}

/// Kinds of acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// A line is typed and sent.
    Types(Rc<str>),
    /// ESC is pressed.
    Escape,
    /// Synchronous sub-agents are moved to the background: those of this id, name, type or description, or all.
    Background(Option<Rc<str>>),
    /// A permission request is answered: the oldest open one, limited to this tool if one is named; else the oldest one
    /// that ended without an answer (contract PERM-16); else the next one. The run waits for that.
    Answers {
        /// Whether permission is given.
        allow: bool,
        /// The tool; `None` for any.
        tool: Option<Rc<str>>,
    },
    /// Values for remote flags.
    Flips(BTreeMap<String, bool>),
    /// Running tasks of this id, name, type or description are stopped.
    Kills(Rc<str>),
    /// All background tasks are stopped.
    KillsAll,
    /// A dialog of the terminal opens or closes.
    Dialog {
        /// Whether it opens.
        open: bool,
    },
    /// An agent's history becomes one text, as after a compaction: that of the main agent, or of a running sub-agent of
    /// this id, name, type or description.
    Rewrites {
        /// The agent.
        agent: Rc<str>,
        /// The text.
        text: Rc<str>,
        /// How long it takes: then it happens before the next request. Otherwise it happens there too, but for the main
        /// agent before its next turn.
        takes: Option<Duration>,
    },
    /// The main conversation continues before the newest text of the user that contains this one.
    Rewinds(Rc<str>),
    /// A question is asked beside the conversation (contract INTERNAL-07).
    AsksAside(Rc<str>),
    /// The session forgets ended agents of this id, name, type or description, as after a long time or a restart: their
    /// tasks and names, and their transcripts too if `transcript` is set.
    Forgets {
        /// The agents.
        agent: Rc<str>,
        /// Whether their transcripts are lost.
        transcript: bool,
    },
    /// The session connects to a server, or loses its connection.
    Links {
        /// The server.
        server: Rc<str>,
        /// Whether it connects.
        connects: bool,
    },
    /// An item enters the queue. Its agent may be named by id, name or type.
    Arrives(Item),
    /// The user waits until the main agent has nothing to do, and then for `then`. All later acts are put off, or come
    /// sooner, by as much as this ends later or sooner than its own instant.
    Waits {
        /// Until no agent runs in the background either.
        for_agents: bool,
        /// The time after that.
        then: Duration,
    },
}

/// An act without a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The act's position in the list.
    pub act: usize,
    /// When.
    pub at: Instant,
    /// The missing target.
    pub why: String,
}

/// Progress of the user.
#[derive(Debug, Default)]
pub(super) struct Doing {
    is_done: Cell<bool>,
    /// Answers to permission requests that are still to come.
    answering: Cell<usize>,
    changed: Notify,
    idle: RefCell<Vec<Idle>>,
}

impl Doing {
    /// Acts without a target.
    pub fn idle(&self) -> Vec<Idle> {
        self.idle.take()
    }

    /// Whether every act is done.
    pub fn is_done(&self) -> bool {
        self.is_done.get()
    }

    /// Ready at the next change after this call.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }
}

/// Performs `acts`; then leaves.
pub(super) async fn act_out(session: Rc<Session>, log: Rc<Log>, acts: Vec<Act>, doing: Rc<Doing>) {
    let mut order: Vec<(usize, Act)> = acts.into_iter().enumerate().collect();
    order.sort_by_key(|(_, act)| act.at);
    // Whoever only waits to stop what still runs leaves once nothing does.
    let last = order.iter().rposition(|(_, act)| !matches!(act.does, Does::Escape)).map_or(0, |at| at + 1);
    let mut clock = Clock::default();
    for (at, (number, act)) in order.into_iter().enumerate() {
        if let Does::Waits { for_agents, then } = act.does {
            idle(&session, for_agents, session.now() + PATIENCE).await;
            session.handle.sleep(then).await;
            clock = Clock { planned: act.at, actual: session.now() };
            continue;
        }
        let due = clock.of(act.at);
        if at >= last && idle(&session, true, due).await {
            break;
        }
        session.handle.sleep_until(due).await;
        if let Does::Answers { allow, tool } = act.does {
            answer_later(&session, &log, &doing, allow, tool);
        } else if let Err(why) = act_now(&session, &log, act.does) {
            doing.idle.borrow_mut().push(Idle { act: number, at: session.now(), why });
        }
    }
    while doing.answering.get() > 0 {
        let _waiting = session.handle.waiting_for("permission requests that are to be answered");
        doing.changed().await;
    }
    doing.is_done.set(true);
    session.front.leave(&session);
    doing.changed.notify_waiters();
}

/// When an instant of the plan comes, since the user last waited.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    planned: Instant,
    actual: Instant,
}

impl Clock {
    fn of(self, at: Instant) -> Instant {
        self.actual + at.since(self.planned)
    }
}

/// The longest wait for an agent.
const PATIENCE: Duration = Duration::from_secs(86_400);

/// Ready when the main agent has nothing to do, and with `for_agents` no agent has, at the latest at an instant. Whether that
/// is so.
async fn idle(session: &Session, for_agents: bool, until: Instant) -> bool {
    let is_idle = || {
        let is_quiet = !for_agents || session.work() == 0;
        is_quiet && session.queue.is_empty() && !session.front.is_active()
    };
    while !is_idle() && session.now() < until {
        let (queue, tasks) = (session.queue.changed(), session.tasks.changed());
        crate::select! {
            () = queue => {}
            () = tasks => {}
            () = session.handle.sleep_until(until) => {}
        }
    }
    is_idle()
}

/// Performs an act; returns the missing target if there is none.
fn act_now(session: &Rc<Session>, log: &Log, does: Does) -> Result<(), String> {
    match does {
        Does::Types(text) => _ = session.front.type_line(session, &text),
        Does::Escape => session.front.escape(session),
        Does::Background(which) => return background(session, log, which.as_deref()),
        Does::Flips(flags) => flags.iter().for_each(|(flag, value)| session.set_flag(flag, *value)),
        Does::Kills(which) => return kill(session, log, &which),
        Does::KillsAll if session.tasks.kill_all() == 0 => return Err("a running background task".to_owned()),
        Does::KillsAll => {}
        Does::Dialog { open } => session.front.set_dialog(session, open),
        Does::AsksAside(question) if !callers::ask_aside(session, &question) => return Err("a conversation".to_owned()),
        Does::AsksAside(_) => {}
        Does::Forgets { agent, transcript } => return forget(session, log, &agent, transcript),
        Does::Arrives(item) => return arrive(session, log, item),
        Does::Rewrites { agent, text, takes } if &*agent == "main" => {
            session.emit(&Event::User { does: "rewrites" });
            session.front.rewrite(Rewriting::Whole { text, takes });
        }
        Does::Rewrites { agent, text, .. } => return rewrite(session, log, &agent, &text),
        Does::Rewinds(text) => {
            session.emit(&Event::User { does: "rewrites" });
            session.front.rewrite(Rewriting::From(text));
        }
        Does::Links { server, connects: true } if !session.servers.connect(&server) => {
            return Err(format!("a server called `{server}`"));
        }
        Does::Links { server, connects: false } if !session.servers.disconnect(&server) => {
            return Err(format!("a connection to a server called `{server}`"));
        }
        Does::Links { .. } | Does::Answers { .. } | Does::Waits { .. } => {}
    }
    Ok(())
}

fn background(session: &Session, log: &Log, which: Option<&str>) -> Result<(), String> {
    session.emit(&Event::User { does: "background" });
    let waited_for = session.tasks.in_foreground();
    let meant: Vec<_> = waited_for.iter().filter(|task| which.is_none_or(|which| is_meant(log, task, which))).collect();
    if meant.is_empty() {
        let which = which.map_or_else(String::new, |which| format!(" called `{which}`"));
        return Err(format!("a sub-agent{which} in the foreground"));
    }
    for task in meant {
        session.tasks.background(&task.id);
    }
    Ok(())
}

fn kill(session: &Session, log: &Log, which: &str) -> Result<(), String> {
    session.emit(&Event::User { does: "kills" });
    let meant = running(session, log, which);
    if meant.is_empty() {
        return Err(format!("a running task called `{which}`"));
    }
    for task in meant {
        let killed = session.tasks.kill(&task.id);
        debug_assert!(killed.is_ok(), "a running task can be killed");
    }
    Ok(())
}

fn arrive(session: &Session, log: &Log, mut item: Item) -> Result<(), String> {
    if let Some(which) = item.agent.take() {
        let running = running(session, log, &which).into_iter().next();
        item.agent = Some(running.ok_or_else(|| format!("a running agent called `{which}`"))?.id.clone());
    }
    session.queue.enqueue(item);
    Ok(())
}

fn rewrite(session: &Session, log: &Log, which: &str, text: &Rc<str>) -> Result<(), String> {
    session.emit(&Event::User { does: "rewrites" });
    let mut meant = running(session, log, which);
    meant.retain(|task| task.kind == Kind::Agent);
    if meant.is_empty() {
        return Err(format!("a running agent called `{which}`"));
    }
    meant.iter().for_each(|task| task.rewrite(text.clone()));
    Ok(())
}

fn forget(session: &Session, log: &Log, which: &str, transcript: bool) -> Result<(), String> {
    session.emit(&Event::User { does: "forgets" });
    let mut meant = tasks(session, log, which);
    meant.retain(|task| task.kind == Kind::Agent && session.tasks.forget(&task.id));
    if meant.is_empty() {
        return Err(format!("an ended agent called `{which}`"));
    }
    for task in meant.iter().filter(|_| transcript) {
        session.transcripts.remove(&task.id);
    }
    Ok(())
}

/// The running tasks matching `which`.
fn running(session: &Session, log: &Log, which: &str) -> Vec<Rc<Task>> {
    let mut meant = tasks(session, log, which);
    meant.retain(|task| task.state() == State::Running);
    meant
}

/// The tasks matching `which`.
fn tasks(session: &Session, log: &Log, which: &str) -> Vec<Rc<Task>> {
    let named = session.tasks.names.get(which);
    let is_meant = |task: &Rc<Task>| named.as_ref() == Some(&task.id) || is_meant(log, task, which);
    session.tasks.all().into_iter().filter(is_meant).collect()
}

fn is_meant(log: &Log, task: &Task, which: &str) -> bool {
    *task.id == *which || *task.description == *which || log.type_of(&task.id).as_deref() == Some(which)
}

/// Answers a request as soon as there is one, while the user continues with the next act.
fn answer_later(session: &Rc<Session>, log: &Rc<Log>, doing: &Rc<Doing>, allow: bool, tool: Option<Rc<str>>) {
    let session = session.clone();
    let log = log.clone();
    let doing = doing.clone();
    doing.answering.set(doing.answering.get() + 1);
    let handle = session.handle.clone();
    drop(handle.spawn("user's answer", async move {
        let waiting =
            tool.as_ref().map_or("a permission request".to_owned(), |tool| format!("a permission request of `{tool}`"));
        let _waiting = session.handle.waiting_for(&waiting);
        let request = loop {
            let asked = log.asked();
            match log.request_to_answer(&session, tool.as_deref()) {
                Some(request) => break request,
                None => asked.await,
            }
        };
        session.emit(&Event::User { does: "answers" });
        session.permissions.answer(&session.queue, request, allow);
        doing.answering.set(doing.answering.get() - 1);
        doing.changed.notify_waiters();
    }));
}
