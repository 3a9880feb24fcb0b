//! Why a cache missed: each cause in small requests, the differences of two requests, and laws of every conversation.

#![allow(clippy::disallowed_methods)] // Recorded requests are in files.

mod accounts;
mod alignment;
mod body;
mod conversations;
mod day;
mod differences;
mod providers;
mod recorded_pairs;
mod words;
