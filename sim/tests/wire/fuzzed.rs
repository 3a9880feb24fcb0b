//! The scanner of bodies as a target of a fuzzer: `cargo test` replays `__fuzz__/bodies/crashes`. Random bytes with
//! `BOLERO_RANDOM_ITERATIONS=100000`; led by coverage with `cargo bolero test -p forkcast-sim --test all
//! wire::fuzzed::bodies`.

use bolero::check;
use forkcast_sim::diagnosis::compare;
use forkcast_sim::wire::{Wire, spelling};

/// Laws for any bytes: read twice they are the same prompt, and equal to themselves.
fn holds(bytes: &[u8]) {
    let mut wire = Wire::default();
    let (Ok(first), Ok(second)) = (wire.read(bytes, "scope", ""), wire.read(bytes, "scope", "")) else { return };
    assert_eq!(first.nodes, second.nodes);
    assert!(compare(&wire, &first, &second).differences.is_empty());
    assert!(spelling::notes(bytes, bytes, wire.forms()).unwrap().is_empty());
}

#[test]
fn bodies() {
    check!(name = "bodies").with_iterations(0).for_each(holds);
}
