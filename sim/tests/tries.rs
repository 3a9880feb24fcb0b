//! The number of random cases, and their seed.

#![allow(clippy::disallowed_methods)] // The number of cases that a machine can afford is not known here.

use std::env;

use proptest::test_runner::{Config, RngSeed};

/// `cases` random cases, the same in every run. `FORKCAST_CASES` and `FORKCAST_SEED` override number and seed.
pub fn tries(cases: u32) -> Config {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    Config {
        cases: number("FORKCAST_CASES").and_then(|cases| u32::try_from(cases).ok()).unwrap_or(cases),
        rng_seed: RngSeed::Fixed(number("FORKCAST_SEED").unwrap_or(0)),
        failure_persistence: None,
        ..Config::default()
    }
}
