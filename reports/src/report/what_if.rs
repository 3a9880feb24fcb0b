//! Names of the what-ifs of a replay, and what each of them may be used for.

use forkcast_replay::replay::{Options, Replay};

/// Names of what was asked, in the order of [`Replay::hypotheticals`].
pub(super) fn names(_options: &Options, replay: &Replay) -> Vec<String> {
    let asked = replay.hypotheticals.iter().map(Vec::len).max().unwrap_or(0);
    (1..=asked).map(|number| format!("what-if-{number}")).collect()
}
