//! All tests of the readers and of the replay in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

mod agreement;
mod calibration;
mod counted;
mod counted_transcripts;
mod edits;
mod forecast;
mod growth;
mod guarded;
mod habits;
mod independence;
mod interrupted;
mod places;
mod provider_rows;
mod readers;
mod readers_almost_right;
mod readers_bad_input;
mod readers_calls;
mod readers_data;
mod readers_http;
mod readers_logs;
mod readers_mutated;
mod readers_traces;
mod recorded_answers;
mod recordings;
mod reported_costs;
mod serving;
mod shortfalls;
mod spelled;
mod spellings;
mod traces;
mod transcripts;
mod transcripts_data;
mod transcripts_other;
mod usage;
mod weka;
mod what_if;
mod what_if_data;
