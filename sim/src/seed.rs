//! Repeatable randomness: one random seed, named child seeds, and draws that are the same on every machine.
//!
//! A child seed depends only on its parent and its name, so an additional draw in one place changes nothing elsewhere.
//! Draws are whole numbers, so runs do not depend on the processor's arithmetic.

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
}
