//! One request in, one entry out: what every door does with a request, whoever sends it.
//!
//! * [`Engine`] takes one request after the other: what the cache gives, why it is not more, what it costs, what was written
//!   for nothing.
//! * [`Entry`] is the only row: a request's line of the ledger and all that is known beside it.
//! * [`Layout`] is how a prompt is divided, and what it shares with the request that it continues.
//! * [`Agreement`] sums up how well predictions agree with what the provider reported.
//! * [`Delivery`] is a cache with the answers that it is yet to be told of.
//! * [`Tariff`] gives the prices of a request, by what is known of it and of its answer.

mod agreement;
mod delivery;
mod engine;
mod entry;
mod layout;
mod premiums;
mod recorded_usage;
mod size;
mod tariff;

pub use agreement::{Agreement, Compared, FRAME_TOKENS, NotComparable, Verdict};
pub use delivery::{Answers, Delivery, FIRST_BYTE_AFTER, STEP, Times};
pub use engine::{Engine, Grounds, Movement, Reading, SizedRequest};
pub use entry::{AnswerPlace, CostRange, Entry, Evidence, Hypothetical, Origin};
pub use layout::Layout;
pub use premiums::stretches;
pub use recorded_usage::{BilledUnits, RecordedUsage};
pub use size::{CountedSize, LeftOut};
pub use tariff::{PriceFacts, Quote, Tariff, UNPRICED};
