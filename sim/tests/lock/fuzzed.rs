//! The lock format as a fuzz target: `cargo test` replays `__fuzz__/locks/crashes`. Random bytes with
//! `BOLERO_RANDOM_ITERATIONS=100000`; coverage-guided with `cargo bolero test -p forkcast-sim --test all
//! lock::fuzzed::locks`.

use bolero::check;

use super::mutated::use_up;

#[test]
fn locks() {
    check!(name = "locks").with_iterations(0).for_each(|bytes: &[u8]| use_up(&String::from_utf8_lossy(bytes)));
}
