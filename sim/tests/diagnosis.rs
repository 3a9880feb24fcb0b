//! Why it missed: each cause from small requests, what two requests differ by, and laws that hold in every conversation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.
#![allow(clippy::disallowed_methods)] // Random cases can be widened from outside, and recorded requests stand in files.

#[path = "diagnosis/accounts.rs"]
mod accounts;
#[path = "diagnosis/alignment.rs"]
mod alignment;
#[path = "diagnosis/body.rs"]
mod body;
#[path = "diagnosis/conversations.rs"]
mod conversations;
#[path = "diagnosis/day.rs"]
mod day;
#[path = "diagnosis/differences.rs"]
mod differences;
#[path = "diagnosis/providers.rs"]
mod providers;
#[path = "diagnosis/recorded_pairs.rs"]
mod recorded_pairs;
#[path = "diagnosis/words.rs"]
mod words;
