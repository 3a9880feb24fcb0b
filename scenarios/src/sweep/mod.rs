//! Grids in parts: any scenario, or any fan-out, under every combination of what is given for its fields, by as many
//! processes and machines as there are.
//!
//! ```text
//!  plan ──► plan.json ──► shard 0/n ──► part-….json ─┐
//!  (checked, hashed) ├──► shard 1/n ──► part-….json ─┼──► merge: rows in the order of the plan
//!                    └──► …                          ┘
//! ```
//!
//! * [`axis`]: what is given for one field, as it is typed.
//! * [`subject`]: what is run, a scenario or a fan-out; [`parameter`] is what can be given for a fan-out.
//! * [`prices`]: what stands in the place of list prices.
//! * [`plan`](mod@plan): the grid as a file. Every cell has a hash of all that it is made of, and belongs to one part.
//! * [`shard`]: which parts a process makes.
//! * [`part`]: what came of the cells of a part, as a file that is whole or not there.
//! * [`outcome`]: what came of one cell.
//! * [`work`]: parts are made, on all cores.
//! * [`gather`](mod@gather): parts are put together.
//!
//! Merged rows depend on the plan alone: how many parts a plan has is said in it, a part's bytes hold no instant and no name of
//! a machine, and rows stand in the order of the plan whoever made them when.

pub mod axis;
pub mod gather;
pub mod outcome;
pub mod parameter;
pub mod part;
pub mod plan;
pub mod prices;
pub mod shard;
pub mod subject;
pub mod work;

use std::io;
use std::path::PathBuf;

pub use axis::Axis;
pub use gather::{Gathered, gather};
pub use outcome::CellOutcome;
pub use plan::{Cell, Plan};
pub use prices::Prices;
pub use shard::Shard;
pub use subject::Subject;
pub use work::{Step, Work};

/// A folder or file that the system refuses.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct Refusal {
    /// Folder or file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Half of a BLAKE3 hash in hexadecimal digits: 128 bits tell cells apart for good.
fn hash(of: &impl serde::Serialize) -> String {
    let text = serde_json::to_vec(of);
    let text = text.unwrap_or_else(|error| unreachable!("texts, numbers and lists of them are JSON: {error}"));
    blake3::hash(&text).to_hex()[..32].to_owned()
}
