//! Transcripts of agents other than Claude Code: their sums against an independent walk over the raw files and against the
//! figures noted with the recordings; fixtures made by hand; near misses; mutations.

mod codex;
mod copilot_cli;
mod gemini_cli;
mod managed_agents;
mod mutations;
mod opencode;
mod pi;
mod raw;
mod swe_agent;
mod tracelab;

use forkcast_replay::exchange::RecordedUsage;
use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::transcript::{Answer, Input, InputOrigin, Item, Session, Sign, What};

use crate::places::fixture;

/// input, read, written, output, reasoning
type Counts = [u64; 5];

/// The result of a fixture: detected as `format`, without any damage.
fn clean(name: &str, format: Format) -> Inputs {
    let inputs = Inputs::from_bytes(name, &fixture(name), InputFormat::Auto);
    assert_eq!(inputs.scopes[0].files[0].format, format, "{name}");
    assert_eq!((&inputs.unreadable, &inputs.repaired), (&vec![], &vec![]), "{name}");
    inputs
}

fn text(name: &str) -> String {
    String::from_utf8(fixture(name)).unwrap()
}

fn read(bytes: &str) -> Inputs {
    Inputs::from_bytes("memory", bytes.as_bytes(), InputFormat::Auto)
}

fn items(session: &Session) -> impl Iterator<Item = &Item> {
    session.agents.iter().flat_map(|agent| &agent.thread.items)
}

fn answers(sessions: &[Session]) -> impl Iterator<Item = &Answer> {
    sessions.iter().flat_map(items).filter_map(|item| match &item.what {
        What::Answer(answer) => Some(&**answer),
        _ => None,
    })
}

/// Answers that count, copies left out.
fn counted(sessions: &[Session]) -> Vec<&Answer> {
    answers(sessions).filter(|answer| !answer.copied).collect()
}

fn counts(recorded: &RecordedUsage) -> Counts {
    let usage = recorded.usage;
    let written = usage.cache_creation_input_tokens();
    [usage.input_tokens, usage.cache_read_input_tokens, written, usage.output_tokens, recorded.reasoning_tokens]
}

/// Sums over the answers that count, and how many of them have usage.
fn sums(sessions: &[Session]) -> (usize, Counts) {
    let used: Vec<Counts> = counted(sessions).iter().filter_map(|answer| answer.usage.as_ref()).map(counts).collect();
    (used.len(), used.iter().fold([0; 5], |sum, one| std::array::from_fn(|i| sum[i] + one[i])))
}

fn signs(session: &Session) -> impl Iterator<Item = &Sign> {
    items(session).filter_map(|item| match &item.what {
        What::Sign(sign) => Some(sign),
        _ => None,
    })
}

fn inputs_of(session: &Session, origin: InputOrigin) -> Vec<&Input> {
    let inputs = items(session).filter_map(|item| match &item.what {
        What::Input(input) => Some(input),
        _ => None,
    });
    inputs.filter(|input| input.origin == origin).collect()
}
