//! Mailboxes: a file of letters for each teammate and for the leader (SWARM-13..17, SWARM-23).
//!
//! A letter is written at once and read at the receiver's next poll (SWARM-17). Senders of a full mailbox wait (SWARM-15).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use serde::Serialize;
use tokio::sync::Notify;

use super::Letter;
use crate::agent::abort::Abort;
use crate::agent::event::Event;
use crate::agent::ground::Ground;
use crate::agent::settings::{Settings, Teams};
use crate::agent::world::World;
use crate::time::{Duration, Instant};

/// A mailbox.
pub struct Mailbox {
    ground: Rc<Ground>,
    world: Rc<World>,
    /// The agent that reads it.
    pub owner: Rc<str>,
    file: String,
    audit: String,
    capacity: usize,
    poll: Duration,
    began: Instant,
    /// When each unread letter was put.
    put_at: RefCell<VecDeque<Instant>>,
    closed: Cell<Option<&'static str>>,
    changed: Notify,
}

/// Why a letter was not put into a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// The receiver has left: the state of its task.
    Closed(&'static str),
    /// The sender was stopped while it waited.
    Stopped,
}

impl Undelivered {
    /// The word in logs.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Closed(why) => why,
            Self::Stopped => "sender_stopped",
        }
    }
}

/// A line of the audit.
#[derive(Serialize)]
struct Audit<'a> {
    at_ms: u64,
    mailbox: &'a str,
    does: &'static str,
    #[serde(flatten)]
    letter: &'a Letter,
}

impl Mailbox {
    /// The empty mailbox of `owner`, which reads it from now on.
    pub(super) fn new(ground: Rc<Ground>, world: Rc<World>, settings: &Settings, owner: &Rc<str>) -> Self {
        let folder = format!("{}/.claude/teams/{}", settings.home, settings.session);
        let Teams { capacity, poll, .. } = settings.teams.clone().unwrap_or_default();
        Self {
            began: ground.now(),
            ground,
            world,
            owner: owner.clone(),
            file: format!("{folder}/inboxes/{owner}.jsonl"),
            audit: format!("{folder}/audit.jsonl"),
            capacity: capacity.max(1),
            poll,
            put_at: RefCell::default(),
            closed: Cell::default(),
            changed: Notify::new(),
        }
    }

    /// Whether its owner still reads it.
    pub const fn is_open(&self) -> bool {
        self.closed.get().is_none()
    }

    /// Number of unread letters.
    pub fn unread(&self) -> usize {
        self.put_at.borrow().len()
    }

    /// Puts a letter into the mailbox, as soon as there is room (SWARM-15).
    ///
    /// # Errors
    /// If its owner has left, or `abort` stops the sender first.
    pub async fn put(&self, letter: &Letter, abort: &Abort) -> Result<(), Undelivered> {
        let mut has_waited = false;
        loop {
            let changed = self.changed.notified();
            if let Some(why) = self.closed.get() {
                return Err(Undelivered::Closed(why));
            }
            if self.unread() < self.capacity {
                break;
            }
            if !has_waited {
                has_waited = true;
                let (mailbox, from) = (self.owner.clone(), letter.from.clone());
                self.ground.emit(&Event::MailboxFull { mailbox, message: letter.number, from });
            }
            let _waiting = self.ground.handle.waiting_for("room in a mailbox");
            crate::select! {
                () = abort.given() => return Err(Undelivered::Stopped),
                () = changed => {}
            }
        }
        self.world.files.append(&self.file, &line(letter));
        self.put_at.borrow_mut().push_back(self.ground.now());
        self.record("put", letter);
        self.ground.emit(&Event::MailboxPut {
            mailbox: self.owner.clone(),
            message: letter.number,
            from: letter.from.clone(),
            kind: letter.content.kind(),
            unread: self.unread(),
        });
        self.changed.notify_waiters();
        Ok(())
    }

    /// All unread letters, at the next poll that finds some; `None` once the mailbox is closed.
    pub async fn poll(&self) -> Option<Vec<Letter>> {
        loop {
            let changed = self.changed.notified();
            if !self.is_open() {
                return None;
            }
            if self.unread() > 0 {
                break;
            }
            let _waiting = self.ground.handle.waiting_for("a message in a mailbox");
            changed.await;
        }
        self.ground.handle.sleep_until(self.next_poll()).await;
        let (taken, put_at) = self.empty();
        for (letter, put_at) in taken.iter().zip(put_at) {
            self.record("take", letter);
            self.ground.emit(&Event::MailboxTake {
                mailbox: self.owner.clone(),
                message: letter.number,
                waited_ms: self.ground.now().since(put_at).as_millis(),
            });
        }
        self.changed.notify_waiters();
        Some(taken)
    }

    /// The owner has left: nothing more is read. Returns what is unread.
    pub(super) fn close(&self, why: &'static str) -> Vec<Letter> {
        self.closed.set(Some(why));
        let (unread, _) = self.empty();
        for letter in &unread {
            self.record("return", letter);
            self.ground.emit(&Event::MailboxReturned { mailbox: self.owner.clone(), message: letter.number, why });
        }
        self.changed.notify_waiters();
        unread
    }

    /// The next instant at which the owner looks.
    fn next_poll(&self) -> Instant {
        let now = self.ground.now();
        match now.since(self.began).0.checked_next_multiple_of(self.poll.0) {
            Some(after) => self.began + Duration(after),
            None => now,
        }
    }

    /// Takes everything out of the file.
    fn empty(&self) -> (Vec<Letter>, VecDeque<Instant>) {
        let text = self.world.files.read(&self.file);
        self.world.files.remove(&self.file);
        let letters: Vec<Letter> =
            text.iter().flat_map(|text| text.lines()).filter_map(|line| serde_json::from_str(line).ok()).collect();
        let put_at = self.put_at.take();
        debug_assert_eq!(letters.len(), put_at.len(), "every letter can be read again");
        (letters, put_at)
    }

    fn record(&self, does: &'static str, letter: &Letter) {
        let at_ms = Duration(self.ground.now().0).as_millis();
        self.world.files.append(&self.audit, &line(&Audit { at_ms, mailbox: &self.owner, does, letter }));
    }
}

/// A line of a file; letters consist of texts and numbers, so they can always be written.
fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).map_or_else(|_| String::new(), |line| line + "\n")
}
