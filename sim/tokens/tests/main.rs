//! All tests of the token counts in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may panic.

mod blocks;
mod vocabularies;
