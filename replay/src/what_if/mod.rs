//! The cost of the same requests under other conditions, and a lower bound of their cost.
//!
//! * [`WhatIf`]: what to change, parsed from `ttl=1h,model=claude-sonnet-4-6`; [`KEYS`] is the only table for parsing, help and
//!   lists.
//! * [`Columns`]: all what-ifs of a session side by side. Each has a cache of its own over the session's one arena of
//!   prefixes, so memory is bounded by the session times the what-ifs, and a request costs what is new in it.
//! * `same_tokens`: a request whose cache is not modelled, or that goes to a model without one: the tokens that were billed, at
//!   the prices of the other model.
//! * [`Bound`]: the clairvoyant lower bound, which knows the future.
//! * [`actions`]: which of them to do.
//!
//! All of it is fed with [`Dispatch`](crate::rebuild::Dispatch), in order of time, whatever the input was. A hidden request of
//! the client acts on every cache and enters no bill, neither here nor in the recording.

mod action;
mod bound;
mod breakpoints;
mod column;
mod compaction;
mod family;
mod other_model;
mod pings;
mod pricing;
mod same_tokens;
mod spec;
mod timeline;
mod variant;

pub use action::{Action, SessionCosts, Where, actions};
pub use bound::{Bound, BoundPings};
pub use breakpoints::Breakpoints;
pub use column::Columns;
pub use compaction::{INSTRUCTION_TOKENS, KEPT_TOKENS, SUMMARY_TOKENS};
pub use forkcast_sim::service::{Basis, Hypothetical};
pub use other_model::Ratio;
pub(crate) use same_tokens::Billed;
pub use spec::{KEYS, KeepAlive, Key, Lifetimes, WhatIf};
