//! Positions of the tokens that a provider counts besides the blocks.

use std::sync::Arc;

use forkcast_sim::simulation::{Does, Setup, Sizing};
use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{Content, Frame, FrameTokens, TokenCounter, Usage};
use serde_json::json;

use super::stage::{at, calls, finished, says, setup, types};

/// Counts only the frame around the blocks.
#[derive(Debug)]
struct Frames;

impl TokenCounter for Frames {
    fn block_tokens(&self, _: Tokenizer, _: Content<'_>) -> u64 {
        0
    }

    fn frame_tokens(&self, _: &Frame) -> FrameTokens {
        FrameTokens { head: 1_000, message: 10, tail: 1 }
    }
}

/// Tokens of the prompts of a run.
fn prompts(mut setup: Setup) -> Vec<u64> {
    setup.sizing = Sizing::Counted(Arc::new(Frames));
    let entries = finished(setup).entries;
    entries.iter().filter_map(|entry| entry.line.predicted.as_ref()).map(Usage::total_input_tokens).collect()
}

#[test]
fn a_providers_own_tokens_are_at_both_ends_and_around_each_message() {
    let rules = vec![
        calls("main", "Read", json!({ "file_path": "/repo/README.md" })),
        says("main", "Read."),
        says("main", "You are welcome."),
    ];
    let acts = vec![types(0, "Read it."), types(60_000, "Thanks")];
    assert_eq!(
        prompts(setup(rules, acts)),
        [1_011, 1_031, 1_051],
        "one message, three, five; tools and system do not count"
    );
}

#[test]
fn a_message_that_grew_since_the_last_request_is_counted_once() {
    let rules = vec![says("main", "Never heard."), says("main", "Hello.")];
    // The first request is cancelled before its first byte: the second one's only message begins with it.
    let acts = vec![types(0, "Hello"), at(100, Does::Escape), types(10_000, "Hello again")];
    assert_eq!(prompts(setup(rules, acts)), [0, 1_011]);
}
