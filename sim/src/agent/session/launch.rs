//! When the agents of one message send their first requests (`design.md` 5): forks among themselves, named agents among
//! those of their type, for these share a prefix. The cost is determined by the cache.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};

use tokio::sync::Notify;

use super::tool::Call;
use crate::agent::settings::LaunchPolicy;
use crate::time::{Duration, Handle};

/// The launches of a session with children that still wait or run, by message and type of agent.
#[derive(Debug, Default)]
pub struct Launches(RefCell<BTreeMap<[Rc<str>; 2], Weak<Launching>>>);

impl Launches {
    /// The next position for the agent of this type that `call` starts.
    pub fn join(&self, call: &Call, agent_type: &Rc<str>) -> Slot {
        let context = &call.context;
        // A call that starts while its message streams has no message yet; its turn is not counted yet either.
        let message = match &call.message {
            Some(message) => message.uuid.clone(),
            None => format!("{} {}", context.agent, context.turns.get()).into(),
        };
        let policy = context.session.settings.forks.launch;
        let group = if policy == LaunchPolicy::Serial { Rc::default() } else { agent_type.clone() };
        let mut known = self.0.borrow_mut();
        let key = [message, group];
        let launching = known.get(&key).and_then(Weak::upgrade).unwrap_or_else(|| {
            known.retain(|_, launching| launching.strong_count() > 0);
            let launching = Rc::new(Launching::default());
            known.insert(key, Rc::downgrade(&launching));
            launching
        });
        launching.join(policy)
    }
}

/// The children of one message and type that are being launched.
#[derive(Debug, Default)]
struct Launching {
    joined: Cell<u32>,
    /// All children before this position have their first byte (if they go one at a time: their end), or never will.
    begun: Cell<u32>,
    /// Children after that position that have theirs.
    ahead: RefCell<BTreeSet<u32>>,
    /// Waiters for a position.
    waiting: RefCell<BTreeMap<u32, Rc<Notify>>>,
}

/// A child's position among its siblings. Once it has its first byte, or can no longer get one, the others need not
/// wait for it. Dropping it also reports this.
#[derive(Debug)]
pub struct Slot {
    /// Zero for the first.
    pub place: u32,
    policy: LaunchPolicy,
    launching: Rc<Launching>,
}

impl Launching {
    fn join(self: &Rc<Self>, policy: LaunchPolicy) -> Slot {
        let place = self.joined.replace(self.joined.get() + 1);
        Slot { place, policy, launching: self.clone() }
    }

    fn has_begun(&self, place: u32) {
        let mut ahead = self.ahead.borrow_mut();
        if place >= self.begun.get() {
            ahead.insert(place);
        }
        while ahead.remove(&self.begun.get()) {
            self.begun.set(self.begun.get() + 1);
        }
        let mut waiting = self.waiting.borrow_mut();
        while let Some(first) = waiting.first_entry().filter(|first| *first.key() <= self.begun.get()) {
            first.remove().notify_waiters();
        }
    }

    async fn until(&self, begun: u32) {
        while self.begun.get() < begun {
            let changed = self.waiting.borrow_mut().entry(begun).or_default().clone();
            changed.notified().await;
        }
    }
}

impl Slot {
    /// Waits until this child may send its first request.
    pub async fn turn(&self, handle: &Handle) {
        match self.policy {
            LaunchPolicy::Burst => {}
            LaunchPolicy::Primed => self.launching.until(self.place.min(1)).await,
            LaunchPolicy::Stagger(span) => {
                handle.sleep(Duration(span.0.saturating_mul(self.place.into()))).await;
            }
            LaunchPolicy::Waves(size) => self.launching.until(self.place / size * size).await,
            LaunchPolicy::Serial => self.launching.until(self.place).await,
        }
    }

    /// Reports that the child has its first byte, or will get none.
    pub fn begun(&self) {
        if self.policy != LaunchPolicy::Serial {
            self.ended();
        }
    }

    /// Reports that the child has ended.
    pub fn ended(&self) {
        self.launching.has_begun(self.place);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.ended();
    }
}
