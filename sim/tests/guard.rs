//! The prefix guard: what breaks a prefix, what does not, and what is said of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.

#[path = "guard/assertions.rs"]
mod assertions;
#[path = "guard/breakpoints.rs"]
mod breakpoints;
#[path = "guard/budget.rs"]
mod budget;
#[path = "guard/chains.rs"]
mod chains;
#[path = "guard/clock.rs"]
mod clock;
#[path = "guard/conversation.rs"]
mod conversation;
#[path = "guard/refused.rs"]
mod refused;
#[path = "guard/replaced.rs"]
mod replaced;
#[path = "guard/retold.rs"]
mod retold;
#[path = "guard/rules.rs"]
mod rules;
#[path = "guard/stability.rs"]
mod stability;
#[path = "guard/traps.rs"]
mod traps;
#[path = "guard/twin.rs"]
mod twin;
#[path = "guard/uncached.rs"]
mod uncached;
