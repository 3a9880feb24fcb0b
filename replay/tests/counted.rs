//! Counted sizes: who counts, how often, and what they change.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use forkcast_replay::calibrate::LeftOut;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, SizeSource, Sizing, replay};
use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{Content, Frame, FrameTokens, TokenCounter};

/// Counts a hundred tokens for each block, and how often each is requested.
#[derive(Debug, Default)]
struct Fake {
    frames: AtomicU64,
    blocks: Mutex<Vec<(Tokenizer, Vec<u8>)>>,
}

impl TokenCounter for Fake {
    fn block_tokens(&self, tokenizer: Tokenizer, content: Content<'_>) -> u64 {
        self.blocks.lock().unwrap().push((tokenizer, content.bytes.to_vec()));
        100
    }

    fn frame_tokens(&self, _: &Frame) -> FrameTokens {
        self.frames.fetch_add(1, Ordering::Relaxed);
        FrameTokens { head: 10, message: 2, tail: 1 }
    }
}

fn counted_by(fake: &Arc<Fake>, source: SizeSource) -> Options {
    Options { sizing: Sizing { source, counter: fake.clone(), calibration: None }, ..Options::default() }
}

#[test]
fn a_block_is_counted_once_however_many_requests_hold_it() {
    let fake = Arc::new(Fake::default());
    let inputs = Inputs::sample();
    let replayed = replay(&inputs, &counted_by(&fake, SizeSource::Both));
    let mut asked = fake.blocks.lock().unwrap().clone();
    let times = asked.len();
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), times, "a block was counted twice");
    assert_eq!(fake.frames.load(Ordering::Relaxed), replayed.entries.len() as u64);
    assert!(replayed.entries.iter().all(|entry| entry.size.is_some()));
}

#[test]
fn nothing_is_counted_without_a_request_for_it() {
    let fake = Arc::new(Fake::default());
    let replayed = replay(&Inputs::sample(), &counted_by(&fake, SizeSource::Recorded));
    assert!(fake.blocks.lock().unwrap().is_empty());
    assert_eq!(fake.frames.load(Ordering::Relaxed), 0);
    assert!(replayed.entries.iter().all(|entry| entry.size.is_none()));
}

#[test]
fn with_both_the_replay_is_that_of_recorded_sizes() {
    let fake = Arc::new(Fake::default());
    let recorded = replay(&Inputs::sample(), &Options::default());
    let both = replay(&Inputs::sample(), &counted_by(&fake, SizeSource::Both));
    assert_eq!(
        format!("{:?}", recorded.lines().collect::<Vec<_>>()),
        format!("{:?}", both.lines().collect::<Vec<_>>())
    );
}

/// Two requests of one chain; the second repeats the first and its answer.
const TWO: &str = r#"{"v":1,"request":{"model":"claude-sonnet-4-6","system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"b"}]},"response":{"usage":{"input_tokens":20,"cache_creation_input_tokens":2000,"output_tokens":3}}}
{"v":1,"request":{"model":"claude-sonnet-4-6","system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"b"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}]},"response":{"usage":{"input_tokens":40,"cache_read_input_tokens":2000,"output_tokens":3}}}
"#;

#[test]
fn only_counted_sizes_decide_a_prediction() {
    let fake = Arc::new(Fake::default());
    let inputs = Inputs::from_bytes("two.jsonl", TWO.as_bytes(), InputFormat::Auto);
    let replayed = replay(&inputs, &counted_by(&fake, SizeSource::Counted));
    // Head 10 and the system block; then a message of 2 + 100 each; 1 after the last.
    let sizes: Vec<u64> = replayed.entries.iter().map(|entry| entry.size.unwrap().tokens).collect();
    assert_eq!(sizes, [10 + 100 + 102 + 1, 10 + 100 + 3 * 102 + 1]);
    // 110 tokens are below the minimum of 1,024, independent of the bill: nothing is written or read.
    let predicted: Vec<_> = replayed.lines().map(|line| line.predicted.unwrap()).collect();
    assert_eq!(predicted[0].total_input_tokens(), sizes[0]);
    assert_eq!(predicted[1].cache_read_input_tokens, 0);
    // The account still adds up to the bill, to the token.
    for line in replayed.lines() {
        let account = line.explanation.as_ref().unwrap();
        let whole = account.read_tokens + account.new_tokens + account.missed_tokens();
        assert_eq!(whole, line.recorded.unwrap().total_input_tokens());
    }
}

#[test]
fn incomparable_requests_have_a_reason() {
    let cases = [
        (r#"{"input_tokens":213,"output_tokens":3}"#, None),
        (r#"{"input_tokens":60000,"output_tokens":3}"#, Some(LeftOut::NotWhatWasBilled)),
        (r#"{"input_tokens":0,"output_tokens":3}"#, Some(LeftOut::NoUsage)),
    ];
    for (usage, expected) in cases {
        let line = format!(
            r#"{{"v":1,"request":{{"model":"claude-sonnet-4-6","messages":[{{"role":"user","content":"b"}}]}},"response":{{"usage":{usage}}}}}"#
        );
        let inputs = Inputs::from_bytes("one.jsonl", line.as_bytes(), InputFormat::Auto);
        let replayed = replay(&inputs, &counted_by(&Arc::default(), SizeSource::Both));
        assert_eq!(replayed.entries[0].size.unwrap().left_out, expected, "{usage}");
    }
}

#[test]
fn assumptions_are_reported() {
    let remarks = |model: &str, content: &str| {
        let line = format!(
            r#"{{"v":1,"request":{{"model":"{model}","tools":[{{"name":"t","input_schema":{{}}}}],"messages":[{{"role":"user","content":[{content}]}}]}}}}"#
        );
        let inputs = Inputs::from_bytes("one.jsonl", line.as_bytes(), InputFormat::Auto);
        let options = Options { sizing: Sizing::new(SizeSource::Both, None), ..Options::default() };
        replay(&inputs, &options).entries[0].line.remarks.join("; ")
    };
    let text = r#"{"type":"text","text":"a"}"#;
    assert!(!remarks("claude-opus-5", text).contains("counted"));
    assert!(remarks("claude-sonnet-5-5", text).contains("instructions for tools counted as those of claude-sonnet-5"));
    assert!(remarks("claude-nova-9", text).contains("`claude-nova-9` is not known"));
    let image = r#"{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}"#;
    assert!(remarks("claude-opus-5", image).contains("by assumption"));
}

#[test]
fn requests_to_other_makers_are_counted_by_their_own_vocabulary() {
    let line = r#"{"v":1,"request":{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]},"response":{"usage":{"prompt_tokens":8,"completion_tokens":1}}}"#;
    let inputs = Inputs::from_bytes("gpt.jsonl", line.as_bytes(), InputFormat::Auto);
    let options = Options { sizing: Sizing::new(SizeSource::Both, None), ..Options::default() };
    let size = replay(&inputs, &options).entries[0].size.unwrap();
    // One token of text, four for its message and role, three before the answer: the maker's count.
    assert_eq!((size.tokens, size.tokenizer), (8, Tokenizer::O200k));
}
