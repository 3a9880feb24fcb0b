//! Grids in parts: any scenario or fan-out, under every combination of the given field values, on any number of
//! processes and machines.
//!
//! ```text
//!  plan ──► plan.json ──► shard 0/n ──► part-….json ─┐
//!  (checked, hashed) ├──► shard 1/n ──► part-….json ─┼──► merge: rows in the order of the plan
//!                    └──► … ┘
//! ```
//!
//! * [`axis`]: the values of one field, as typed.
//! * [`subject`]: the scenario or fan-out to run; [`parameter`]: parameters of a fan-out.
//! * [`prices`]: changes to list prices.
//! * [`plan`](mod@plan): the grid as a file. Every cell is computed from its index, has a hash of all its inputs, and
//!   belongs to one part.
//! * [`outline`]: its fields and their meanings, from which its schema is made.
//! * [`shard`]: the parts that a process computes.
//! * [`part`]: the results of a part's cells, as a file that is either complete or absent.
//! * [`outcome`]: the result of one cell.
//! * [`work`]: computes parts on all cores.
//! * [`gather`](mod@gather): collects the parts.
//!
//! Merged rows depend only on the plan: the plan fixes the number of parts, a part's bytes contain neither time nor
//! machine name, and rows are in plan order.

pub mod axis;
pub mod gather;
pub mod outcome;
pub mod outline;
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
pub use gather::{Gathered, Rows, gather};
pub use outcome::CellOutcome;
pub use plan::{Cell, Plan};
pub use prices::Prices;
pub use shard::Shard;
pub use subject::Subject;
pub use work::{Step, Work};

/// A folder or file that cannot be accessed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct Refusal {
    /// Folder or file.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

/// Half of a BLAKE3 hash in hexadecimal digits; 128 bits are enough to distinguish cells.
fn hash(of: &impl serde::Serialize) -> String {
    let text = serde_json::to_vec(of);
    let text = text.unwrap_or_else(|error| unreachable!("texts, numbers and lists of them are JSON: {error}"));
    blake3::hash(&text).to_hex()[..32].to_owned()
}
