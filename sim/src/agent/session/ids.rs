//! Ids from counters and the seed: the same run gives the same ids (contract G22).

use std::cell::Cell;
use std::rc::Rc;

use crate::seed::Seed;

/// Gives ids.
#[derive(Debug)]
pub struct Ids {
    seed: Seed,
    given: Cell<u64>,
}

impl Ids {
    /// Ids of a run with this seed.
    pub fn new(seed: &Seed) -> Self {
        Self { seed: seed.child("ids"), given: Cell::new(0) }
    }

    /// The next id that begins with `prefix`: `agent-` and eight hexadecimal digits, say.
    pub fn next(&self, prefix: &str) -> Rc<str> {
        let number = self.given.replace(self.given.get() + 1);
        let drawn = self.seed.child(prefix).child(&number.to_string()).draws().below(1 << 32);
        format!("{prefix}-{drawn:08x}").into()
    }

    /// The next number.
    pub fn number(&self) -> u64 {
        self.given.replace(self.given.get() + 1)
    }
}
