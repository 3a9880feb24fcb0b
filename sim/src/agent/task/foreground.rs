//! The signal that moves a synchronous child to the background (contract SYNC-06, SYNC-12).

use std::cell::Cell;

use tokio::sync::Notify;

/// A signal that is given at most once, and kept until it is seen.
#[derive(Debug, Default)]
pub struct Signal {
    given: Cell<Option<&'static str>>,
    changed: Notify,
}

impl Signal {
    /// Gives the signal; `from` is `user` or `timer`. Returns `false` if it was given before.
    pub fn give(&self, from: &'static str) -> bool {
        if self.given.get().is_some() {
            return false;
        }
        self.given.set(Some(from));
        self.changed.notify_waiters();
        true
    }

    /// Ready when it was given; returns by whom.
    pub async fn given(&self) -> &'static str {
        loop {
            let changed = self.changed.notified();
            match self.given.get() {
                Some(from) => return from,
                None => changed.await,
            }
        }
    }
}
