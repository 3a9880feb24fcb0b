//! The one queue: user input, notifications, scheduled prompts, late permission replies (contract QUEUE-01..17).
//!
//! Items leave by priority, and in order of arrival within one (QUEUE-03, QUEUE-17). Who takes them: `input` for the
//! main thread (QUEUE-13, QUEUE-14, QUEUE-16), the loop of a sub-agent between two of its rounds (QUEUE-15).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::event::Event;
use super::ground::Ground;
use crate::outside::words;

words! {
    /// What an item is (QUEUE-02).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Mode {
        /// Text for the model.
        Prompt = "prompt",
        /// A shell command of the user.
        Bash = "bash",
        /// A background task has something to tell.
        TaskNotification = "task-notification",
        /// An answer to a permission request that is gone.
        OrphanedPermission = "orphaned-permission",
    }
}

words! {
    /// Which items leave first (QUEUE-03).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Priority {
        /// Before everything else.
        Now = "now",
        /// The default (QUEUE-04).
        #[default]
        Next = "next",
        /// After everything else: notifications (QUEUE-05).
        Later = "later",
    }
}

/// An item of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its number.
    pub id: u64,
    /// What it is.
    pub mode: Mode,
    /// When it leaves.
    pub priority: Priority,
    /// The agent that it is for; `None` for the main thread (QUEUE-15, QUEUE-16).
    pub agent: Option<Rc<str>>,
    /// Its text.
    pub text: Rc<str>,
    /// Where it came from (QUEUE-06..12): `user`, `agent`, `shell`, `monitor`, `remote`, `cron`, `channel`, `hook`,
    /// `permission`.
    pub source: &'static str,
}

/// The queue of a session.
pub struct Queue {
    ground: Rc<Ground>,
    items: RefCell<Vec<Item>>,
    /// How many of them wait for each sub-agent: most wait for none, and no sub-agent looks through the others'.
    addressed: RefCell<BTreeMap<Rc<str>, usize>>,
    changed: Notify,
}

impl Item {
    /// An item; its number comes when it enters the queue.
    pub fn new(mode: Mode, priority: Priority, agent: Option<Rc<str>>, text: &str, source: &'static str) -> Self {
        Self { id: 0, mode, priority, agent, text: text.into(), source }
    }

    /// Text for the main thread's model, with the default priority (QUEUE-04): a scheduled prompt (QUEUE-09), a push of a
    /// channel (QUEUE-10), the user's input (QUEUE-06).
    pub fn prompt(text: &str, source: &'static str) -> Self {
        Self::new(Mode::Prompt, Priority::default(), None, text, source)
    }

    /// What a background task of `agent` tells: it never overtakes user input (`enqueuePendingNotification`, QUEUE-05).
    pub fn notification(agent: Option<Rc<str>>, text: &str, source: &'static str) -> Self {
        Self::new(Mode::TaskNotification, Priority::Later, agent, text, source)
    }

    /// An answer to a permission request that is gone (QUEUE-12, PERM-16).
    pub fn orphaned_permission(text: &str) -> Self {
        Self::new(Mode::OrphanedPermission, Priority::default(), None, text, "permission")
    }
}

impl Queue {
    /// An empty queue.
    pub fn new(ground: Rc<Ground>) -> Self {
        Self { ground, items: RefCell::default(), addressed: RefCell::default(), changed: Notify::new() }
    }

    /// Puts an item in; gives its number.
    pub fn enqueue(&self, mut item: Item) -> u64 {
        item.id = self.ground.ids.number();
        let id = item.id;
        self.ground.emit(&Event::Enqueued {
            item: id,
            mode: item.mode.name(),
            priority: item.priority.name(),
            agent: item.agent.clone(),
            source: item.source,
        });
        if let Some(agent) = &item.agent {
            *self.addressed.borrow_mut().entry(agent.clone()).or_default() += 1;
        }
        let mut items = self.items.borrow_mut();
        let at = items.partition_point(|waiting| waiting.priority <= item.priority);
        items.insert(at, item);
        drop(items);
        self.wake();
        id
    }

    /// Takes what has come for the running sub-agent `agent`: its notifications, in order (QUEUE-15).
    pub fn take_for(&self, agent: &str) -> Vec<Item> {
        let is_own = |item: &Item| item.agent.as_deref() == Some(agent) && item.mode == Mode::TaskNotification;
        let mut addressed = self.addressed.borrow_mut();
        let Some(waiting) = addressed.get_mut(agent) else { return Vec::new() };
        let all = std::mem::take(&mut *self.items.borrow_mut());
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_own);
        *self.items.borrow_mut() = others;
        *waiting -= own.len();
        if *waiting == 0 {
            addressed.remove(agent);
        }
        drop(addressed);
        for item in &own {
            self.note(item, "sub-agent");
        }
        own
    }

    /// Takes what the main thread serves next: the first item of the highest priority, and with it those of its mode that
    /// stand right behind it in that priority, where `joins` says that they can be served together. Items of sub-agents
    /// stay (QUEUE-16).
    pub fn take_for_main(&self, consumer: &'static str, joins: impl Fn(&Item) -> bool) -> Vec<Item> {
        let mut taken: Vec<Item> = Vec::new();
        let mut is_over = false;
        self.items.borrow_mut().retain(|item| {
            let fits = match taken.first() {
                _ if is_over || item.agent.is_some() => return true,
                None => true,
                Some(first) => {
                    first.mode == item.mode && first.priority == item.priority && joins(first) && joins(item)
                }
            };
            if fits {
                taken.push(item.clone());
            } else {
                is_over = true;
            }
            !fits
        });
        for item in &taken {
            self.note(item, consumer);
        }
        taken
    }

    /// Hands what waits for a sub-agent that has ended over to the main thread: nobody else would take it.
    pub fn hand_over(&self, agent: &str) {
        if self.addressed.borrow_mut().remove(agent).is_some() {
            for item in &mut *self.items.borrow_mut() {
                if item.agent.as_deref() == Some(agent) {
                    item.agent = None;
                }
            }
        }
        self.wake();
    }

    /// Items that wait, for the main thread and for sub-agents.
    pub fn len(&self) -> usize {
        self.items.borrow().len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets whoever waits for the queue look again: something else that it waits for has changed, a task ended, a dialog
    /// closed.
    pub fn wake(&self) {
        self.changed.notify_waiters();
    }

    /// Ready at the next change after this call.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    fn note(&self, item: &Item, consumer: &'static str) {
        self.ground.emit(&Event::Dequeued {
            item: item.id,
            mode: item.mode.name(),
            priority: item.priority.name(),
            agent: item.agent.clone(),
            consumer,
        });
    }
}
