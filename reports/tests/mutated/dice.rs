//! Chance with a name: the same name and number give the same case on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Draws of one case.
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The dice of case `number` of the campaign `seed`.
    pub fn of(seed: &str, number: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(seed.as_bytes()).update(&number.to_le_bytes());
        Self(ChaCha8Rng::from_seed(hasher.finalize().into()))
    }

    /// A number below `end`; zero if that is zero.
    pub fn below(&mut self, end: usize) -> usize {
        let drawn = self.0.next_u64() % (end.max(1) as u64);
        usize::try_from(drawn).unwrap()
    }

    /// True once in `times` draws on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// One of several texts.
    pub fn word<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// Puts a list into a drawn order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for end in (1..all.len()).rev() {
            all.swap(end, self.below(end + 1));
        }
    }
}
