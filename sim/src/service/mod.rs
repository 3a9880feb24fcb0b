//! One request in, one entry out: what every door does with a request, whoever sends it.
//!
//! * [`Delivery`] is a cache with the answers that it is yet to be told of.
//! * [`Premiums`] follow what was written until somebody reads it.

mod delivery;
mod premiums;

pub use delivery::{Answers, Delivery, Times};
pub use premiums::{Premiums, premium, stretches};
