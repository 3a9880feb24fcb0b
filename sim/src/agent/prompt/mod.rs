//! System prompt, description of the Agent tool, user context (contract PROMPT, LOOP-04). All wording is our own.
//!
//! * `sections` holds the parts of the main system prompt in order; stable parts come before the divider (PROMPT-01,
//!   PROMPT-02). Topics: PROMPT-03, PROMPT-06..12.
//! * [`render_system`] joins them. It is not pure: a flipped flag changes bytes (PROMPT-05).
//! * [`user_context()`] precedes the conversation in every request.
//! * [`agent_tool`] tells a model when to delegate work: PROMPT-15..23, LOOP-24.

pub mod agent_tool;
mod render;
pub mod sections;
mod user_context;

pub use render::render_system;
pub use user_context::user_context;

/// The line that precedes the parts of one session (PROMPT-01).
pub const DIVIDER: &str = "======== Below: this session ========";
