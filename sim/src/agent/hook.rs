//! Hooks: scripted observers that may interfere at given moments (contract STOP-03, STOP-04, STOP-08..10, CTX-09,
//! CTX-10).
//!
//! A hook of the session acts in every agent, a hook of an agent only in that agent. `script` holds its response for
//! each run, in order; after the last one it says nothing.

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
    /// Names it applies to: tools, or agent types if no tool is involved, separated by `|`. `None` and `*` mean all.
    pub matcher: Option<Rc<str>>,
    /// Runs without being waited for; a block arrives as a notification and wakes an idle model (STOP-10).
    pub in_background: bool,
    /// Its responses, one per run. A hook of a definition has only a name, which selects its script
    /// ([`Hooks::script`]).
    pub script: Vec<HookSays>,
}

/// One response of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSays {
    /// How long the hook takes.
    pub after: Duration,
    /// The response.
    pub word: Word,
}

/// A hook's response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// No objection.
    Nothing,
    /// Stops here: no further iteration (STOP-03), or no prompt at all.
    PreventContinuation,
    /// An error that the model must fix (STOP-04).
    BlockingError(Rc<str>),
    /// Text for the model.
    AddText(Rc<str>),
    /// Blocks this call, for this reason.
    BlockTool(Rc<str>),
}

words! {
    /// When a hook runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Moment {
        /// A user submitted a prompt.
        UserPromptSubmit = "UserPromptSubmit",
        /// A sub-agent is about to start (CTX-09).
        SubagentStart = "SubagentStart",
        /// A tool is about to run.
        PreToolUse = "PreToolUse",
        /// A tool has run.
        PostToolUse = "PostToolUse",
        /// A turn is about to end (STOP-08).
        Stop = "Stop",
    }
}

/// The responses of an agent's stop hooks (STOP-03, STOP-04).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopVerdict {
    /// No further iteration is allowed.
    pub prevent_continuation: bool,
    /// Errors that the model must fix.
    pub blocking_errors: Vec<Rc<str>>,
}

/// The responses of hooks to a user's prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptVerdict {
    /// The prompt is dropped.
    pub is_prevented: bool,
    /// Additional text for the model.
    pub added: Vec<Rc<str>>,
}

/// The hooks of a session and of its current agents.
#[derive(Default)]
pub struct Hooks {
    registered: RefCell<Vec<Rc<Registered>>>,
    /// Scripts of hooks that definitions name.
    scripts: BTreeMap<Rc<str>, Vec<HookSays>>,
    /// Background hooks that have not responded yet.
    pub(in crate::agent) in_background: Cell<usize>,
}

/// A registered hook.
pub(in crate::agent) struct Registered {
    pub hook: Hook,
    /// The agent it acts in; `None` means all.
    agent: Option<Rc<str>>,
    /// How often it has run.
    pub runs: Cell<usize>,
}

impl Hook {
    /// A hook that applies to everything and plays `script`, one response per run.
    pub fn new(name: &str, moment: Moment, script: Vec<HookSays>) -> Self {
        Self { name: name.into(), moment, matcher: None, in_background: false, script }
    }

    /// Reports the outcome of a run in `agent`.
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
    /// Responds with `word` at once.
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

    /// Sets the responses of hooks with this name that have no script of their own.
    pub fn script(&mut self, name: &str, script: Vec<HookSays>) {
        self.scripts.insert(name.into(), script);
    }

    /// Registers hooks that act only in `agent` (CTX-10).
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

    /// Removes the hooks of `agent` when it ends (CTX-10).
    pub fn remove(&self, ground: &Ground, agent: &Rc<str>) {
        let is_own = |registered: &Rc<Registered>| registered.agent.as_ref() == Some(agent);
        let all = std::mem::take(&mut *self.registered.borrow_mut());
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_own);
        *self.registered.borrow_mut() = others;
        for registered in own {
            registered.hook.note(ground, agent, "removed");
        }
    }

    /// The hooks that act in `agent` at this moment and apply to `what`, in order of registration.
    pub(in crate::agent) fn at(&self, agent: &str, moment: Moment, what: &str) -> Vec<Rc<Registered>> {
        let registered = self.registered.borrow();
        let acts = |one: &&Rc<Registered>| {
            let here = one.agent.as_ref().is_none_or(|own| **own == *agent);
            here && one.hook.moment == moment && one.hook.looks_at(what)
        };
        registered.iter().filter(acts).cloned().collect()
    }

    /// Number of registered hooks that belong to one agent, to detect leftovers.
    pub fn of_agents(&self) -> usize {
        self.registered.borrow().iter().filter(|registered| registered.agent.is_some()).count()
    }

    /// Background hooks that may still wake a model; the session waits for them.
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
