//! What every store of a session uses: the clock, the sink of events, and ids. Stores know nothing else of their
//! session.

use std::cell::Cell;
use std::rc::Rc;

use super::event::{Event, Sink};
use crate::seed::Seed;
use crate::time::{Handle, Instant};

/// The shared base of a session.
pub struct Ground {
    /// The clock and the executor.
    pub handle: Handle,
    /// Ids, drawn from the random seed.
    pub ids: Ids,
    sink: Rc<dyn Sink>,
}

/// Ids from counters and the random seed: equal runs get equal ids (contract G22).
#[derive(Debug)]
pub struct Ids {
    seed: Seed,
    given: Cell<u64>,
}

impl Ground {
    /// The base of a run with this seed and clock; events go to `sink`.
    pub fn new(handle: Handle, seed: &Seed, sink: Rc<dyn Sink>) -> Rc<Self> {
        Rc::new(Self { handle, ids: Ids { seed: seed.child("ids"), given: Cell::new(0) }, sink })
    }

    /// The current instant.
    pub fn now(&self) -> Instant {
        self.handle.now()
    }

    /// Sends `event` to the sink.
    pub fn emit(&self, event: &Event) {
        self.sink.take(self.now(), event);
    }
}

impl Ids {
    /// The next id with this prefix, such as `agent-` and eight hexadecimal digits.
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
