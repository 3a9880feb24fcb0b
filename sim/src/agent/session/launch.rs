//! When the forks of one message ask for the first time (`design.md` 5). What that costs is for the cache to say.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tokio::sync::Notify;

use crate::agent::settings::LaunchPolicy;
use crate::time::{Duration, Handle};

/// The children of one message on their way.
#[derive(Debug, Default)]
pub struct Launching {
    joined: Cell<u32>,
    /// All children before this place have begun, or never will.
    begun: Cell<u32>,
    /// Children behind that place that have.
    ahead: RefCell<BTreeSet<u32>>,
    /// Who waits until the place has moved so far.
    waiting: RefCell<BTreeMap<u32, Rc<Notify>>>,
}

/// A child's place among its siblings. Once it has had its first byte, or can have none any more, the others need not wait
/// for it; dropping it says so too.
#[derive(Debug)]
pub struct Slot {
    /// Zero for the first.
    pub place: u32,
    policy: LaunchPolicy,
    launching: Rc<Launching>,
}

impl Launching {
    /// The next child's place.
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
    /// Waits until it is this child's turn to ask.
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

    /// The child had its first byte, or will have none.
    pub fn begun(&self) {
        self.launching.has_begun(self.place);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.begun();
    }
}
