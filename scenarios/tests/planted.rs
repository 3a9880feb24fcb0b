//! Changes planted in conversations of our own runtime: parents, forks in both profiles, named agents. The changes and
//! the expected findings come from the corpus in `sim/tests/mutations`.
//!
//! `cargo test -p forkcast-scenarios planted:: -- --nocapture` prints the table. `FORKCAST_CASES` sets the number of
//! conversations per kind of change.

#![allow(dead_code)] // Some parts of the corpus are only used by its own tests.

mod found;
mod guarded;
mod talks;

#[path = "../../sim/tests/mutations/case.rs"]
mod case;
#[path = "../../sim/tests/mutations/changes/mod.rs"]
mod changes;
#[path = "../../sim/tests/mutations/generated.rs"]
mod generated;
#[path = "../../sim/tests/mutations/json.rs"]
mod json;
#[path = "../../sim/tests/mutations/judged.rs"]
mod judged;
#[path = "../../sim/tests/mutations/kinds.rs"]
mod kinds;
#[path = "../../sim/tests/mutations/prompt.rs"]
mod prompt;
#[path = "../../sim/tests/mutations/tally.rs"]
mod tally;
#[path = "../../sim/tests/mutations/twin.rs"]
mod twin;
