//! Everything that can be checked: folders of bodies, recordings, transcripts, and what is none of these.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.

#[path = "guarded/bodies.rs"]
mod bodies;
#[path = "guarded/broken.rs"]
mod broken;
#[path = "guarded/dialects.rs"]
mod dialects;
#[path = "guarded/locked.rs"]
mod locked;
#[path = "guarded/openai.rs"]
mod openai;
#[path = "guarded/others.rs"]
mod others;
#[path = "guarded/real.rs"]
mod real;
#[path = "guarded/recordings.rs"]
mod recordings;
#[path = "guarded/stage.rs"]
mod stage;
#[path = "guarded/traces.rs"]
mod traces;
#[path = "guarded/transcripts.rs"]
mod transcripts;
