//! Forks in pictures, tables and machine formats: five, and five hundred.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

#[path = "forks/fan.rs"]
mod fan;
#[path = "forks/picture.rs"]
mod picture;
#[path = "forks/told.rs"]
mod told;
