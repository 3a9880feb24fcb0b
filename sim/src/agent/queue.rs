//! The queue of a session: user input, notifications, scheduled prompts, late permission replies (contract
//! QUEUE-01..17).
//!
//! Items leave by priority, and FIFO within a priority (QUEUE-03, QUEUE-17). Consumers are `input` for the main thread
//! (QUEUE-13, QUEUE-14, QUEUE-16), and the loop of a sub-agent between two rounds (QUEUE-15).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::event::Event;
use super::ground::Ground;
use crate::outside::words;

words! {
    /// The kind of an item (QUEUE-02).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Mode {
        /// Text for the model.
        Prompt = "prompt",
        /// A shell command of the user.
        Bash = "bash",
        /// A notification of a background task.
        TaskNotification = "task-notification",
        /// An answer to a closed permission request.
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
    /// Its kind.
    pub mode: Mode,
    /// Its priority.
    pub priority: Priority,
    /// The receiving agent; `None` for the main thread (QUEUE-15, QUEUE-16).
    pub agent: Option<Rc<str>>,
    /// Its text.
    pub text: Rc<str>,
    /// Where it came from (QUEUE-06..12): `user`, `agent`, `shell`, `monitor`, `remote`, `cron`, `channel`, `hook`,
    /// `permission`, `slash`, `mailbox`.
    pub source: &'static str,
    /// The message of a teammate that it brings.
    pub message: Option<u64>,
    /// No user typed it: it is no command, and no hook sees it (contract SLASH-07).
    pub is_hidden: bool,
}

/// The queue of a session.
pub struct Queue {
    ground: Rc<Ground>,
    items: RefCell<Vec<Item>>,
    /// Number of waiting items per sub-agent. Usually there are none, so a sub-agent need not search the items of
    /// others.
    addressed: RefCell<BTreeMap<Rc<str>, usize>>,
    changed: Notify,
}

impl Item {
    /// An item; it gets its number when it is enqueued.
    pub fn new(mode: Mode, priority: Priority, agent: Option<Rc<str>>, text: &str, source: &'static str) -> Self {
        Self { id: 0, mode, priority, agent, text: text.into(), source, message: None, is_hidden: false }
    }

    /// Text for the main thread's model, with the default priority (QUEUE-04): a scheduled prompt (QUEUE-09), a push of a
    /// channel (QUEUE-10), the user's input (QUEUE-06).
    pub fn prompt(text: &str, source: &'static str) -> Self {
        Self::new(Mode::Prompt, Priority::default(), None, text, source)
    }

    /// A notification of a background task of `agent`. It never overtakes user input (`enqueuePendingNotification`,
    /// QUEUE-05).
    pub fn notification(agent: Option<Rc<str>>, text: &str, source: &'static str) -> Self {
        Self::new(Mode::TaskNotification, Priority::Later, agent, text, source)
    }

    /// Text for the main thread's model that no user typed. It never overtakes user input.
    pub fn hidden(text: &str, source: &'static str) -> Self {
        Self { is_hidden: true, ..Self::new(Mode::Prompt, Priority::Later, None, text, source) }
    }

    /// An answer to a closed permission request (QUEUE-12, PERM-16).
    pub fn orphaned_permission(text: &str) -> Self {
        Self::new(Mode::OrphanedPermission, Priority::default(), None, text, "permission")
    }
}

impl Queue {
    /// An empty queue.
    pub fn new(ground: Rc<Ground>) -> Self {
        Self { ground, items: RefCell::default(), addressed: RefCell::default(), changed: Notify::new() }
    }

    /// Enqueues an item; returns its number.
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

    /// Takes the notifications of the running sub-agent `agent`, in order (QUEUE-15).
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

    /// Takes the items that the main thread serves next: the first item of the highest priority, together with the
    /// items right after it in that priority that have the same mode and that `joins` accepts. Items of sub-agents stay
    /// (QUEUE-16).
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

    /// Takes what the main agent receives between two rounds of a turn: notifications and typed text. Commands, shell
    /// lines and late answers to permission requests wait for the end of the turn.
    pub fn take_in_turn(&self) -> Vec<Item> {
        let fits = |item: &Item| match item.mode {
            Mode::Prompt => !item.text.starts_with('/'),
            Mode::TaskNotification => true,
            Mode::Bash | Mode::OrphanedPermission => false,
        };
        let all = std::mem::take(&mut *self.items.borrow_mut());
        let (taken, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|item| item.agent.is_none() && fits(item));
        *self.items.borrow_mut() = others;
        for item in &taken {
            self.note(item, "main-in-turn");
        }
        taken
    }

    /// Moves the items of an ended sub-agent to the main thread, which is the only consumer left for them.
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

    /// Number of waiting items for sub-agents.
    pub fn addressed(&self) -> usize {
        self.addressed.borrow().values().sum()
    }

    /// Number of waiting items, for the main thread and for sub-agents.
    pub fn len(&self) -> usize {
        self.items.borrow().len()
    }

    /// Whether no items wait.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wakes the consumers to look again after another change: a task ended, a dialog closed.
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
