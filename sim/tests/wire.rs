//! Requests as they are sent, held to what the documents say of their identity: normal forms, broken bodies, respellings,
//! chains, recorded sizes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.
#![allow(clippy::disallowed_methods)] // Random cases can be widened from outside.

#[path = "wire/arena.rs"]
mod arena;
#[path = "wire/bodies.rs"]
mod bodies;
#[path = "wire/broken.rs"]
mod broken;
#[path = "wire/chains.rs"]
mod chains;
#[path = "wire/drafts.rs"]
mod drafts;
#[path = "wire/fuzzed.rs"]
mod fuzzed;
#[path = "wire/harmless.rs"]
mod harmless;
#[path = "wire/identity.rs"]
mod identity;
#[path = "wire/json_text.rs"]
mod json_text;
#[path = "wire/outgoing.rs"]
mod outgoing;
#[path = "wire/prompts.rs"]
mod prompts;
#[path = "wire/respelling.rs"]
mod respelling;
#[path = "wire/sizes.rs"]
mod sizes;
#[path = "wire/stems.rs"]
mod stems;
