//! The cost of fan-outs: N children of one parent, under any launch policy, breakpoint placement, TTL and price.
//!
//! * [`cell`]: one set of parameters, and their checks.
//! * [`play`](mod@play): runs a cell through agent runtime, cache and bill, without formulas. [`voices`] is the script
//!   of its agents, [`setup`] the session.
//! * [`closed`]: the same as a formula, with its assumptions. [`bound`]: the lower bound for all policies.
//! * [`policy`]: descriptions of the policies.
//! * [`options`]: what the cells of a grid compare. [`outcome`]: the result of a cell.
//! * [`trial`]: a cell with its result, formula and bound; the one ranking of several, by the cost with the parent.
//! * [`breakeven`]: which of two policies is cheaper, and where the break-even point is.
//! * [`grid`]: many cells at once; [`range`]: parsing of lists and ranges.
//!
//! Source of the formulas: `economics.md` 3, an own derivation; tests compare them with the runtime.

pub mod bound;
pub mod breakeven;
pub mod cell;
pub mod closed;
pub mod grid;
pub mod options;
pub mod outcome;
pub mod play;
pub mod policy;
pub mod range;
pub mod setup;
pub mod trial;
pub mod voices;

pub use cell::{Cell, Spawn};
pub use closed::Assumption;
pub use grid::Grid;
pub use options::Options;
pub use outcome::Outcome;
pub use play::play;
pub use trial::Trial;
