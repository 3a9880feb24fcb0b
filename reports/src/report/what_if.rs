//! Names of the what-ifs of a replay.

use forkcast_replay::replay::{Options, Replay};

/// Names of what was asked, in the order of [`Replay::hypotheticals`].
pub(super) fn names(options: &Options, replay: &Replay) -> Vec<String> {
    let answered = replay.hypotheticals.iter().map(Vec::len).max().unwrap_or(0);
    options.what_if.iter().take(answered).map(ToString::to_string).collect()
}
