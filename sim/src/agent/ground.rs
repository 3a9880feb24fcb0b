//! What everything in a session stands on: the clock, whoever watches, and ids. Stores know nothing else of their session.

use std::cell::Cell;
use std::rc::Rc;

use super::event::{Event, Sink};
use crate::seed::Seed;
use crate::time::{Handle, Instant};

/// The ground of a session; everything in it holds the same.
pub struct Ground {
    /// The clock and the executor.
    pub handle: Handle,
    /// Ids, drawn from the seed.
    pub ids: Ids,
    sink: Rc<dyn Sink>,
}

/// Ids from counters and the seed: the same run gives the same ids (contract G22).
#[derive(Debug)]
pub struct Ids {
    seed: Seed,
    given: Cell<u64>,
}

impl Ground {
    /// The ground of a run with this seed on this clock; `sink` watches.
    pub fn new(handle: Handle, seed: &Seed, sink: Rc<dyn Sink>) -> Rc<Self> {
        Rc::new(Self { handle, ids: Ids { seed: seed.child("ids"), given: Cell::new(0) }, sink })
    }

    /// The instant.
    pub fn now(&self) -> Instant {
        self.handle.now()
    }

    /// Tells the watcher of `event`.
    pub fn emit(&self, event: &Event) {
        self.sink.take(self.now(), event);
    }
}

impl Ids {
    /// The next id that begins with `prefix`: `agent-` and eight hexadecimal digits, say.
    pub fn next(&self, prefix: &str) -> Rc<str> {
        let number = self.number();
        let drawn = self.seed.child(prefix).child(&number.to_string()).draws().below(1 << 32);
        format!("{prefix}-{drawn:08x}").into()
    }

    /// The next number.
    pub fn number(&self) -> u64 {
        self.given.replace(self.given.get() + 1)
    }
}
