//! Repeatable randomness: one random seed, named child seeds, and draws that are the same on every machine.
//!
//! A child seed depends only on its parent and its name, so an additional draw in one place changes nothing elsewhere.
//! Samplers are our own and use the `libm` crate, so runs depend neither on a library's release nor on the processor's
//! arithmetic.

use std::f64::consts::TAU;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A random seed.
///
/// ```
/// use forkcast_sim::seed::Seed;
///
/// let draw = |seed: u64| Seed::new(seed).child("delays").draws().below(1_000);
/// assert_eq!(draw(7), draw(7));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(pub u64);

/// A sequence of draws from one seed.
#[derive(Clone, Debug)]
pub struct Draws(ChaCha8Rng);

impl Seed {
    /// The seed with this number.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The child seed with this name.
    pub fn child(&self, name: &str) -> Self {
        let digest = self.digest(name.as_bytes());
        let mut head = [0; 8];
        head.copy_from_slice(&digest[..8]);
        Self(u64::from_le_bytes(head))
    }

    /// A new sequence of draws from this seed.
    pub fn draws(&self) -> Draws {
        Draws(ChaCha8Rng::from_seed(self.digest(b"")))
    }

    fn digest(&self, name: &[u8]) -> [u8; 32] {
        *blake3::Hasher::new().update(&self.0.to_le_bytes()).update(name).finalize().as_bytes()
    }
}

impl Draws {
    /// A uniformly distributed number below `n`; zero if `n` is zero.
    #[allow(clippy::cast_possible_truncation)] // The two halves of the product are intended.
    pub fn below(&mut self, n: u64) -> u64 {
        // Lemire 2019, "Fast random integer generation in an interval": the few low products that would favour some
        // numbers are drawn again.
        let refused = if n == 0 { 0 } else { n.wrapping_neg() % n };
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(n);
            if product as u64 >= refused {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number from 0 to below 1, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * STEP
    }

    /// A number above 0 and up to 1, so its logarithm is finite.
    fn positive_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// A normally distributed number (Box and Muller 1958; only one of the pair is used, so that no state is kept).
    pub fn normal(&mut self, mean: f64, sd: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.positive_unit()));
        let angle = TAU * self.unit();
        mean + sd * radius * libm::cos(angle)
    }

    /// A number whose logarithm is normally distributed with standard deviation `sigma`, such as the length of a text.
    pub fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        median * libm::exp(self.normal(0.0, sigma))
    }

    /// A uniformly drawn element; `None` if there are none.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        let place = self.below(things.len() as u64);
        // Below the length, so it fits; an empty list gives `None`.
        things.get(place as usize)
    }

    /// True with a probability of `per_million` in a million.
    pub fn chance(&mut self, per_million: u64) -> bool {
        self.below(1_000_000) < per_million
    }
}
