//! One request in, one entry out: every command handles requests this way, recorded or simulated.
//!
//! * [`Engine`] takes one request after the other: what the cache reads, why it is not more, what it costs, which
//!   writes were for nothing.
//! * [`Entry`] is the only row: a request's line of the ledger and everything else known about it.
//! * [`Layout`] is how a prompt is divided, and what it shares with the request that it continues.
//! * [`Composition`] is what it is made of: tools, system prompt, results by tool.
//! * [`Agreement`] sums up how well predictions agree with what the provider reported.
//! * [`Fidelity`] measures it so that errors cannot cancel out, beside the naive rule.
//! * [`Delivery`] is a cache with its pending answers.
//! * [`Tariff`] gives the prices of a request, from the facts about it and its answer.

mod agreement;
mod composition;
mod delivery;
mod engine;
mod entry;
mod fidelity;
mod layout;
mod premiums;
mod recorded_usage;
mod size;
mod tariff;

pub use agreement::{Agreement, Compared, FRAME_TOKENS, NotComparable, Verdict};
pub use composition::{Composition, Content, ContentKind, Portion};
pub use delivery::{Delivery, FIRST_BYTE_AFTER, GIVEN_UP, REFUSED, STEP, Times};
pub use engine::{Engine, Grounds, Movement, Reading, SizedRequest};
pub use entry::{AnswerPlace, Entry, Evidence, Hypothetical, Origin};
pub use fidelity::{Fidelity, Step, input_cost};
pub use layout::Layout;
pub use premiums::stretches;
pub use recorded_usage::{BilledUnits, OTHER_MODELS_MAX, OtherPasses, PassKind, Passes, RecordedUsage};
pub use size::{CountedSize, LeftOut};
pub use tariff::{PriceFacts, Quote, Tariff, UNPRICED};
