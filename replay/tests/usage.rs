//! Usage of every provider in one convention: against recordings, against known traps, and as laws over generated counts.

mod crude;
mod frames;
mod laws;
mod passes;
mod recorded;
mod spellings;
mod streams;
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

/// Usage of an answer without any notes.
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
