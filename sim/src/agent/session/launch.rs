//! When the forks of one message send their first requests (`design.md` 5). The cost is determined by the cache.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tokio::sync::Notify;

use crate::agent::settings::LaunchPolicy;
use crate::time::{Duration, Handle};

/// The children of one message that are being launched.
#[derive(Debug, Default)]
pub struct Launching {
    joined: Cell<u32>,
    /// All children before this position have their first byte, or never will.
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
    /// The next child's position.
    pub fn join(self: &Rc<Self>, policy: LaunchPolicy) -> Slot {
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
        }
    }

    /// Reports that the child has its first byte, or will get none.
    pub fn begun(&self) {
        self.launching.has_begun(self.place);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.begun();
    }
}
