//! Sessions of Claude Code, by a fixture made by hand and by texts that are damaged, hostile or repeated.

mod damage;
mod doubles;
mod renamed;
mod signs;

use forkcast_replay::formats::{self, Format, Reading};
use forkcast_replay::transcript::{Answer, Item, Thread, What};

const FIXTURE: &str = include_str!("fixtures/claude-code.jsonl");

fn read(text: impl AsRef<[u8]>) -> Reading {
    formats::read(Format::ClaudeCode, "folder/session.jsonl", text.as_ref())
}

fn answers(thread: &Thread) -> Vec<(&Item, &Answer)> {
    let found = thread.items.iter().filter_map(|item| match &item.what {
        What::Answer(answer) => Some((item, &**answer)),
        _ => None,
    });
    found.collect()
}

/// A line with an answer of one text block.
fn answer(id: &str, uuid: u32, parent: u32, output: u64) -> String {
    format!(
        "{{\"parentUuid\":\"{parent:036}\",\"isSidechain\":false,\"sessionId\":\"s\",\"version\":\"2.1.217\",\"message\":{{\"model\":\"claude-opus-5\",\"id\":\"{id}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"done\"}}],\"stop_reason\":\"end_turn\",\"usage\":{{\"input_tokens\":2,\"cache_creation_input_tokens\":30,\"cache_read_input_tokens\":400,\"cache_creation\":{{\"ephemeral_5m_input_tokens\":0,\"ephemeral_1h_input_tokens\":30}},\"output_tokens\":{output},\"service_tier\":\"standard\"}}}},\"type\":\"assistant\",\"uuid\":\"{uuid:036}\",\"timestamp\":\"2026-07-24T04:57:{uuid:02}.000Z\"}}"
    )
}

/// A line with a prompt.
fn prompt(uuid: u32, parent: u32) -> String {
    format!(
        "{{\"parentUuid\":\"{parent:036}\",\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"go on\"}},\"uuid\":\"{uuid:036}\",\"timestamp\":\"2026-07-24T04:57:{uuid:02}.000Z\"}}"
    )
}
