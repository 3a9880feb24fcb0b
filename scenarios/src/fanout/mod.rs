//! What fan-out costs: N children of one parent, under any launch, placement of breakpoints, lifetime and price.
//!
//! * [`cell`]: one set of parameters, and what is wrong with it.
//! * [`play`](mod@play): a cell goes through the agent runtime, cache and bill; nothing here is a formula. [`voices`] is what its
//!   agents say, [`setup`] the session.
//! * [`closed`]: the same as a formula, and the assumptions under which it holds. [`bound`]: what no policy can go below.
//! * [`policy`]: the policies, each in a line.
//! * [`outcome`]: what came of a cell.
//! * [`trial`]: all that is said of a cell, and which of several is best.
//! * [`breakeven`]: which of two policies is cheaper, and from where on the other one is.
//! * [`grid`]: many cells at once; [`range`]: lists of numbers as they are typed.
//!
//! Source of the formulas: `economics.md` 3, an own derivation; the tests of this room hold them against the runtime.

pub mod bound;
pub mod breakeven;
pub mod cell;
pub mod closed;
pub mod grid;
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
pub use outcome::Outcome;
pub use play::play;
pub use trial::Trial;
