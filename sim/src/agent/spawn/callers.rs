//! The callers of internal forks: when they run, what they may do, and what becomes of the result (contract
//! INTERNAL-04..10).

use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;

use super::internal::{CacheSafe, run_forked_agent};
use crate::agent::abort::Abort;
use crate::agent::event::Event;
use crate::agent::query::Reason;
use crate::agent::session::{CanUse, Context, Helper, Session};
use crate::agent::settings::Caller;
use crate::agent::task::output::folder;
use crate::time::Duration;

/// Starts the helpers that are due after a turn of the main agent that ended by itself. They run beside the session:
/// nothing waits for them but its end.
pub fn after_turn(main: &Rc<Context>) {
    let session = &main.session;
    if session.settings.helpers.is_empty() {
        return;
    }
    let turns = session.helpers.turn_ended();
    for caller in Caller::AFTER_TURNS {
        let every = session.settings.helpers.get(&caller).copied();
        if every.is_some_and(|every| every > 0 && turns.is_multiple_of(every)) {
            launch(main, caller, caller.prompt().into());
        }
    }
}

/// The user asks a question beside the conversation (INTERNAL-07); returns whether there is a conversation.
pub fn ask_aside(session: &Session, question: &Rc<str>) -> bool {
    session.emit(&Event::User { does: "asks_aside" });
    let main = session.helpers.main();
    main.inspect(|main| launch(main, Caller::SideQuestion, question.clone())).is_some()
}

/// Says what a background agent is doing, as often as the session wants it, until this is dropped (INTERNAL-08); `None`
/// if the session does not want it.
pub fn summaries(context: &Rc<Context>) -> Option<Pin<Box<dyn Future<Output = Infallible>>>> {
    let every_ms = context.session.settings.helpers.get(&Caller::AgentSummary).copied();
    // A teammate says itself what it does, and may wait for ever.
    let every_ms = every_ms.filter(|_| context.teammate.is_none())?;
    let context = Rc::clone(context);
    Some(Box::pin(async move {
        loop {
            context.session.handle.sleep(Duration::from_millis(every_ms.max(1))).await;
            launch(&context, Caller::AgentSummary, Caller::AgentSummary.prompt().into());
        }
    }))
}

/// Summarises the conversation of `context`, which reads it from the cache (contract COMPACT-08); `None` if there is no
/// summary.
pub fn summary(context: Rc<Context>) -> Pin<Box<dyn Future<Output = Option<Rc<str>>>>> {
    Box::pin(async move {
        let caller = Caller::Compact;
        let safe = CacheSafe::of(&context, caller);
        let helper = helper(&context.session, caller);
        let result = run_forked_agent(safe, helper, caller.prompt(), &context.abort).await;
        (result.reason == Reason::Completed && !result.text.trim().is_empty()).then_some(result.text)
    })
}

fn launch(parent: &Rc<Context>, caller: Caller, prompt: Rc<str>) {
    let handle = parent.session.handle.clone();
    // What is shared is taken now, before the parent goes on.
    let safe = CacheSafe::of(parent, caller);
    let running = Running::begin(parent);
    drop(handle.spawn(caller.name(), async move { run(&running.0, safe, caller, &prompt).await }));
}

/// What runs beside a session, and its parent. The session does not end before it is dropped.
pub(super) struct Running(Rc<Context>);

impl Running {
    pub fn begin(parent: &Rc<Context>) -> Self {
        parent.session.helpers.count(true);
        Self(parent.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.session.helpers.count(false);
        self.0.session.queue.wake();
    }
}

async fn run(parent: &Rc<Context>, safe: CacheSafe, caller: Caller, prompt: &str) {
    let session = &parent.session;
    let is_guess = caller == Caller::PromptSuggestion;
    let abort = if is_guess { session.helpers.guessing() } else { Abort::default() };
    let result = run_forked_agent(safe, helper(session, caller), prompt, &abort).await;
    if result.reason == Reason::Aborted {
        return;
    }
    session.helpers.keep(caller, result.text.clone());
    if let Some(kind) = shown(caller) {
        session.emit(&Event::Ui { agent: parent.agent.clone(), kind });
    }
    if is_guess && !result.text.is_empty() && session.settings.helpers.contains_key(&Caller::Speculation) {
        let safe = CacheSafe::of(parent, Caller::Speculation);
        let result = run_forked_agent(safe, helper(session, Caller::Speculation), &result.text, &abort).await;
        session.helpers.keep(Caller::Speculation, result.text);
    }
}

/// What the user sees of a result.
const fn shown(caller: Caller) -> Option<&'static str> {
    match caller {
        Caller::PromptSuggestion => Some("suggestion"),
        Caller::SideQuestion => Some("aside"),
        Caller::AgentSummary => Some("agent_summary"),
        _ => None,
    }
}

/// What a caller allows: memory is written by those who keep it, guesses only read, and the others answer at once.
pub fn helper(session: &Session, caller: Caller) -> Helper {
    let settings = &session.settings;
    let project = format!("{}/.claude/projects/{}", settings.home, folder(&settings.cwd));
    let can_use = match caller {
        Caller::ExtractMemories | Caller::AutoDream => CanUse::Edits(format!("{project}/memory").into()),
        Caller::SessionMemory => CanUse::Edits(format!("{project}/{}/session-memory.md", settings.session).into()),
        Caller::Speculation => CanUse::Reads,
        Caller::Compact | Caller::PromptSuggestion | Caller::SideQuestion | Caller::AgentSummary => CanUse::Nothing,
    };
    Helper { caller, can_use }
}
