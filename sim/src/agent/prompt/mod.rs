//! System prompt, description of the Agent tool, user context (contract PROMPT, LOOP-04). All wording is our own.
//!
//! * `sections` holds the parts of the main system prompt in their order; what is stable precedes the divider
//!   (PROMPT-01, PROMPT-02). Topics: PROMPT-03, PROMPT-06..12.
//! * [`render_system`] puts them together. It is not pure: a flag that flips changes bytes (PROMPT-05).
//! * [`user_context()`] is what precedes the conversation in every request.
//! * [`agent_tool`] says to a model when to hand work on: PROMPT-15..23, LOOP-24.

pub mod agent_tool;
mod render;
mod sections;
mod user_context;

pub use render::render_system;
pub use user_context::user_context;

/// The line behind which the parts of a session stand (PROMPT-01).
pub const DIVIDER: &str = "======== Below: this session ========";
