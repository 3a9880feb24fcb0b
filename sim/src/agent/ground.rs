//! What every store of a session uses: the clock, the sink of events, and ids. Stores know nothing else of their
//! session.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::event::{Event, Sink};
use crate::seed::Seed;
use crate::time::{Handle, Instant};
use crate::wire::Index;

/// The shared base of a session.
pub struct Ground {
    /// The clock and the executor.
    pub handle: Handle,
    /// Ids, drawn from the random seed.
    pub ids: Ids,
    sink: Rc<dyn Sink>,
}

/// Ids from counters and the random seed: equal runs get equal ids, and no id is given twice (contract G22).
#[derive(Debug)]
pub struct Ids {
    seed: Seed,
    given: Cell<u64>,
    drawn: RefCell<Drawn>,
}

/// What was drawn so far.
#[derive(Debug, Default)]
struct Drawn {
    prefixes: Vec<Box<str>>,
    /// The place of the prefix, and the bits drawn for it.
    ids: Index<u64, ()>,
}

impl Drawn {
    /// Notes a draw; returns whether it is the first of its kind.
    fn is_new(&mut self, prefix: &str, bits: u64) -> bool {
        let known = self.prefixes.iter().position(|known| **known == *prefix);
        let place = known.unwrap_or_else(|| {
            self.prefixes.push(prefix.into());
            self.prefixes.len() - 1
        });
        self.ids.insert((place as u64) << 32 | bits, ()).is_none()
    }
}

impl Ground {
    /// The base of a run with this seed and clock; events go to `sink`.
    pub fn new(handle: Handle, seed: &Seed, sink: Rc<dyn Sink>) -> Rc<Self> {
        Rc::new(Self {
            handle,
            ids: Ids { seed: seed.child("ids"), given: Cell::new(0), drawn: RefCell::default() },
            sink,
        })
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
    /// The next id with this prefix, such as `agent-` and eight hexadecimal digits. Of 100,000 draws some repeat an
    /// earlier one; those are drawn again.
    pub fn next(&self, prefix: &str) -> Rc<str> {
        loop {
            let number = self.number();
            let drawn = self.seed.child(prefix).child(&number.to_string()).draws().below(1 << 32);
            if self.drawn.borrow_mut().is_new(prefix, drawn) {
                return format!("{prefix}-{drawn:08x}").into();
            }
        }
    }

    /// The next number.
    pub fn number(&self) -> u64 {
        self.given.replace(self.given.get() + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeSet;

    use super::{Ids, Seed};

    #[test]
    fn no_id_is_given_twice() {
        let mut repeated = 0;
        for seed in 0..3 {
            let ids = Ids { seed: Seed::new(seed), given: Cell::new(0), drawn: RefCell::default() };
            let given: BTreeSet<_> = (0..100_000).map(|_| ids.next("agent")).collect();
            assert_eq!(given.len(), 100_000);
            repeated += ids.given.get() - 100_000;
        }
        assert!(repeated > 0, "some draws repeat an earlier one");
    }
}
