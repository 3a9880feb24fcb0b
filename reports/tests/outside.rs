//! What comes from outside: no content in what complains about it, no name that moves a cursor or becomes a link.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

#[path = "outside/content.rs"]
mod content;
#[path = "outside/forms.rs"]
mod forms;
#[path = "outside/hostile.rs"]
mod hostile;
#[path = "outside/planted.rs"]
mod planted;
#[path = "outside/scenarios.rs"]
mod scenarios;
