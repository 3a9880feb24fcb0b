//! The conformance suite beside a check.

use forkcast_sim::cache::Rules;
use forkcast_sim::guard::conformance::{Card, Suite};
use forkcast_sim::guard::{Facts, Sent};
use forkcast_sim::wire::{BodyError, Request, Wire};

/// A suite for all bodies, and one for each rebuilt recording, because each has its own wire.
#[derive(Debug)]
pub(super) struct Suites {
    rules: Rules,
    bodies: Numbered,
    rebuilt: Option<Numbered>,
    cards: Vec<(Card, Vec<usize>)>,
}

/// A suite, and the numbers of its requests among all.
#[derive(Debug)]
struct Numbered {
    suite: Suite,
    numbers: Vec<usize>,
}

impl Numbered {
    fn new(rules: Rules) -> Self {
        Self { suite: Suite::new(rules), numbers: Vec::new() }
    }

    fn card(self) -> (Card, Vec<usize>) {
        (self.suite.card(), self.numbers)
    }
}

impl Suites {
    /// Suites without requests.
    pub fn new(rules: Rules) -> Self {
        Self { rules, bodies: Numbered::new(rules), rebuilt: None, cards: Vec::new() }
    }

    /// Takes request `number`.
    pub fn body(&mut self, number: usize, sent: &Sent<'_>) -> Result<(), BodyError> {
        self.bodies.suite.take(sent)?;
        self.bodies.numbers.push(number);
        Ok(())
    }

    /// Takes request `number` of the recording that is being rebuilt.
    pub fn rebuilt(&mut self, number: usize, wire: &Wire, request: Request, facts: &Facts<'_>) {
        let rebuilt = self.rebuilt.get_or_insert_with(|| Numbered::new(self.rules));
        rebuilt.suite.watch(wire, request, None, facts);
        rebuilt.numbers.push(number);
    }

    /// The recording is over.
    pub fn end_rebuilt(&mut self) {
        self.cards.extend(self.rebuilt.take().map(Numbered::card));
    }

    /// The card of each suite, with the numbers of its requests; that of bodies first.
    pub fn finish(mut self) -> Vec<(Card, Vec<usize>)> {
        self.end_rebuilt();
        let is_shown = !self.bodies.numbers.is_empty() || self.cards.is_empty();
        let bodies = is_shown.then(|| self.bodies.card());
        bodies.into_iter().chain(self.cards).collect()
    }
}
