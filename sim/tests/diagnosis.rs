//! Why it missed: each cause from small requests, what two requests differ by, and laws that hold in every conversation.

#![allow(clippy::disallowed_methods)] // Recorded requests stand in files.

mod accounts;
mod alignment;
mod body;
mod conversations;
mod day;
mod differences;
mod providers;
mod recorded_pairs;
mod words;
