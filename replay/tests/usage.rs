//! Usage of every provider in one convention: against recordings, against known traps, and as laws over generated counts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.

#[path = "usage/crude.rs"]
mod crude;
#[path = "usage/frames.rs"]
mod frames;
#[path = "usage/laws.rs"]
mod laws;
#[path = "usage/recorded.rs"]
mod recorded;
#[path = "usage/spellings.rs"]
mod spellings;
#[path = "usage/streams.rs"]
mod streams;
#[path = "usage/traps.rs"]
mod traps;

use forkcast_replay::exchange::{Dialect, RecordedUsage};
use forkcast_replay::response::{Answer, read};

/// input, read, written for five minutes, written for an hour, output
type Counts = [u64; 5];

fn counts(recorded: &RecordedUsage) -> Counts {
    let usage = recorded.usage;
    [
        usage.input_tokens,
        usage.cache_read_input_tokens,
        usage.ephemeral_5m_input_tokens,
        usage.ephemeral_1h_input_tokens,
        usage.output_tokens,
    ]
}

fn answer(dialect: Dialect, body: &str) -> Answer {
    read(dialect, body.as_bytes())
}

/// Usage of an answer of which nothing else is to be said.
fn clean(dialect: Dialect, body: &str) -> RecordedUsage {
    let answer = answer(dialect, body);
    assert_eq!((&answer.faults, &answer.repairs), (&vec![], &vec![]), "{body}");
    answer.usage.unwrap()
}

/// The one reason why an answer has no usage.
fn refusal(dialect: Dialect, body: &str) -> String {
    let answer = answer(dialect, body);
    assert_eq!((answer.usage, answer.faults.len()), (None, 1), "{body}: {:?}", answer.faults);
    answer.faults.into_iter().next().unwrap()
}
