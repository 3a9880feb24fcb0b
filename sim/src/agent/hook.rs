//! Hooks: scripted things that look on and may interfere at given moments (contract STOP-03, STOP-04, STOP-08..10,
//! CTX-09, CTX-10).
//!
//! A hook of the session acts in every agent, one of an agent in that agent alone. What a hook says each time it runs
//! is scripted: `script` word by word, then nothing any more.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::event::Event;
use super::ground::Ground;
use crate::outside::words;
use crate::time::Duration;

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Its name.
    pub name: Rc<str>,
    /// When it runs.
    pub moment: Moment,
    /// What it looks at: names of tools, or of types of agents where no tool is concerned, with `|` between them.
    /// Nothing and `*` mean all.
    pub matcher: Option<Rc<str>>,
    /// Nobody waits for it; what it blocks comes as a notification and wakes an idle model (STOP-10).
    pub in_background: bool,
    /// What it says, time by time. A hook of a definition has only a name: what it says is scripted under that
    /// ([`Hooks::script`]).
    pub script: Vec<HookSays>,
}

/// What a hook says once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSays {
    /// How long it takes.
    pub after: Duration,
    /// What it says then.
    pub word: Word,
}

/// A hook's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Nothing against it.
    Nothing,
    /// Nothing may follow: no further iteration (STOP-03), or no prompt at all.
    PreventContinuation,
    /// The model must mend this (STOP-04).
    BlockingError(Rc<str>),
    /// Text for the model.
    AddText(Rc<str>),
    /// This call may not be made, for this reason.
    BlockTool(Rc<str>),
}

words! {
    /// When a hook runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Moment {
        /// A user's prompt was submitted.
        UserPromptSubmit = "UserPromptSubmit",
        /// A sub-agent is about to begin (CTX-09).
        SubagentStart = "SubagentStart",
        /// A tool is about to run.
        PreToolUse = "PreToolUse",
        /// A tool has run.
        PostToolUse = "PostToolUse",
        /// A turn is about to end (STOP-08).
        Stop = "Stop",
    }
}

/// What the stop hooks of an agent say (STOP-03, STOP-04).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopVerdict {
    /// Nothing may follow.
    pub prevent_continuation: bool,
    /// What the model must mend.
    pub blocking_errors: Vec<Rc<str>>,
}

/// What hooks say to a prompt of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptVerdict {
    /// The prompt is dropped.
    pub is_prevented: bool,
    /// Text for the model beside it.
    pub added: Vec<Rc<str>>,
}

/// The hooks of a session, and those of its agents as they come and go.
#[derive(Default)]
pub struct Hooks {
    registered: RefCell<Vec<Rc<Registered>>>,
    /// What hooks say that definitions name.
    scripts: BTreeMap<Rc<str>, Vec<HookSays>>,
    /// Hooks in the background that have not said their word yet.
    pub(in crate::agent) in_background: Cell<usize>,
}

/// A hook in force.
pub(in crate::agent) struct Registered {
    pub hook: Hook,
    /// The agent that it acts in; `None` is all.
    agent: Option<Rc<str>>,
    /// How often it has run.
    pub runs: Cell<usize>,
}

impl Hook {
    /// A hook that looks at everything and says `script`, time by time.
    pub fn new(name: &str, moment: Moment, script: Vec<HookSays>) -> Self {
        Self { name: name.into(), moment, matcher: None, in_background: false, script }
    }

    /// Tells what became of it in `agent`.
    pub(in crate::agent) fn note(&self, ground: &Ground, agent: &Rc<str>, outcome: &'static str) {
        let agent = agent.clone();
        let hook = self.name.clone();
        ground.emit(&Event::Hook { agent, hook, moment: self.moment.name(), outcome });
    }

    fn looks_at(&self, what: &str) -> bool {
        let names = self.matcher.as_deref().unwrap_or("*");
        names == "*" || names.split('|').any(|name| name.trim() == what)
    }
}

impl HookSays {
    /// Says `word` at once.
    pub const fn at_once(word: Word) -> Self {
        Self { after: Duration(0), word }
    }
}

impl Word {
    /// The word in logs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::PreventContinuation => "prevent_continuation",
            Self::BlockingError(_) => "blocking_error",
            Self::AddText(_) => "add_text",
            Self::BlockTool(_) => "block_tool",
        }
    }
}

impl Hooks {
    /// Hooks of a session.
    pub fn new(hooks: Vec<Hook>) -> Self {
        let registered = hooks.into_iter().map(|hook| Registered::new(hook, None)).collect();
        Self { registered: RefCell::new(registered), ..Self::default() }
    }

    /// Says what hooks of this name say that have no script of their own.
    pub fn script(&mut self, name: &str, script: Vec<HookSays>) {
        self.scripts.insert(name.into(), script);
    }

    /// Registers hooks that act in `agent` alone (CTX-10).
    pub fn register(&self, ground: &Ground, agent: &Rc<str>, hooks: &[Hook]) {
        for hook in hooks {
            hook.note(ground, agent, "registered");
            let mut hook = hook.clone();
            if let Some(script) = self.scripts.get(&hook.name).filter(|_| hook.script.is_empty()) {
                hook.script.clone_from(script);
            }
            self.registered.borrow_mut().push(Registered::new(hook, Some(agent.clone())));
        }
    }

    /// Removes the hooks of `agent`: it has ended (CTX-10).
    pub fn remove(&self, ground: &Ground, agent: &Rc<str>) {
        let is_own = |registered: &Rc<Registered>| registered.agent.as_ref() == Some(agent);
        let all = std::mem::take(&mut *self.registered.borrow_mut());
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_own);
        *self.registered.borrow_mut() = others;
        for registered in own {
            registered.hook.note(ground, agent, "removed");
        }
    }

    /// The hooks that act in `agent` at this moment and look at `what`, in the order of registration.
    pub(in crate::agent) fn at(&self, agent: &str, moment: Moment, what: &str) -> Vec<Rc<Registered>> {
        let registered = self.registered.borrow();
        let acts = |one: &&Rc<Registered>| {
            let here = one.agent.as_ref().is_none_or(|own| **own == *agent);
            here && one.hook.moment == moment && one.hook.looks_at(what)
        };
        registered.iter().filter(acts).cloned().collect()
    }

    /// Hooks in force for one agent alone, for whoever looks for leftovers.
    pub fn of_agents(&self) -> usize {
        self.registered.borrow().iter().filter(|registered| registered.agent.is_some()).count()
    }

    /// Hooks in the background that may still wake a model: a session does not end before them.
    pub fn running(&self) -> usize {
        self.in_background.get()
    }
}

impl Registered {
    fn new(hook: Hook, agent: Option<Rc<str>>) -> Rc<Self> {
        Rc::new(Self { hook, agent, runs: Cell::new(0) })
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registered = self.registered.borrow();
        f.debug_list().entries(registered.iter().map(|registered| &registered.hook.name)).finish()
    }
}
