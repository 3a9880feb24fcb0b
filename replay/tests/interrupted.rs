//! A replay that is stopped keeps what it computed and says that it is a part.

#![allow(clippy::expect_used, clippy::panic)] // A test may stop at once.

use std::cell::Cell;

use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{Options, replay, replay_until};

#[test]
fn what_was_computed_stays_and_is_marked_partial() {
    let inputs = Inputs::sample();
    let whole = replay(&inputs, &Options::default());
    assert!(!whole.partial);
    let asked = Cell::new(0);
    let after_five = || {
        asked.set(asked.get() + 1);
        asked.get() > 5
    };
    let part = replay_until(&inputs, &Options::default(), &after_five);
    assert!(part.partial);
    assert_eq!(part.lines.len(), 5);
    for (line, expected) in part.lines.iter().zip(&whole.lines) {
        assert_eq!(line.predicted, expected.predicted);
        assert_eq!(line.charge, expected.charge);
    }
}
