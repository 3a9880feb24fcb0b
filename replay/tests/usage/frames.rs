//! Streams of Bedrock in binary frames, made here from the specification of their layout.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forkcast_replay::exchange::Dialect::*;
use forkcast_replay::response::read;

use super::counts;

/// CRC-32 as the specification of gzip gives it (RFC 1952, 8), bit by bit: no table, no library.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    (!crc).to_be_bytes()
}

fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).unwrap());
        head.extend(name.as_bytes());
        head.push(7);
        head.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        head.extend(value.as_bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
    let mut out = [length(16 + head.len() + payload.len()), length(head.len())].concat();
    out.extend(checksum(&out));
    out.extend(head);
    out.extend(payload);
    out.extend(checksum(&out));
    out
}

fn chunk(event: &str) -> Vec<u8> {
    let payload = format!("{{\"bytes\":\"{}\",\"p\":\"abc\"}}", STANDARD.encode(event));
    frame(
        &[(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")],
        payload.as_bytes(),
    )
}

fn converse(kind: &str, payload: &str) -> Vec<u8> {
    frame(&[(":event-type", kind), (":message-type", "event")], payload.as_bytes())
}

const START: &str = r#"{"type":"message_start","message":{"model":"claude-haiku-4-5","usage":{"input_tokens":7,"cache_read_input_tokens":14486,"cache_creation_input_tokens":2238,"output_tokens":1}}}"#;
const DELTA: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":126}}"#;
const STOP: &str = r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":7,"outputTokenCount":126,"cacheReadInputTokenCount":14486,"cacheWriteInputTokenCount":2238}}"#;

#[test]
fn claude_streams_its_own_events_inside_the_frames() {
    let body = [chunk(START), chunk(DELTA), chunk(STOP)].concat();
    let answer = read(BedrockInvoke, &body);
    assert_eq!((answer.faults.len(), answer.repairs.len()), (0, 0), "{answer:?}");
    assert_eq!(counts(&answer.usage.unwrap()), [7, 14_486, 2_238, 0, 126]);
}

#[test]
fn the_final_counts_are_used_if_the_beginning_is_lost() {
    let answer = read(BedrockInvoke, &[chunk(r#"{"type":"message_start","message":{}}"#), chunk(STOP)].concat());
    assert_eq!(counts(&answer.usage.unwrap()), [7, 14_486, 2_238, 0, 126]);
}

#[test]
fn other_makers_count_in_the_metrics_of_the_last_chunk() {
    let last = r#"{"outputText":"","amazon-bedrock-invocationMetrics":{"inputTokenCount":10,"outputTokenCount":55,"invocationLatency":1}}"#;
    let answer = read(BedrockInvoke, &[chunk(r#"{"outputText":"a"}"#), chunk(last)].concat());
    assert_eq!((answer.repairs.len(), counts(&answer.usage.unwrap())), (0, [10, 0, 0, 0, 55]));
}

#[test]
fn converse_sends_its_usage_after_the_message() {
    let usage = r#"{"usage":{"inputTokens":433,"cacheReadInputTokens":2752,"cacheWriteInputTokens":0,"outputTokens":16,"totalTokens":3201},"metrics":{"latencyMs":1}}"#;
    let body = [converse("messageStop", r#"{"stopReason":"end_turn"}"#), converse("metadata", usage)].concat();
    let answer = read(BedrockConverse, &body);
    assert_eq!((answer.repairs.len(), counts(&answer.usage.unwrap())), (0, [433, 2_752, 0, 0, 16]));
}

#[test]
fn a_frame_with_a_wrong_checksum_is_passed_over_and_named() {
    let mut damaged = chunk(DELTA);
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let answer = read(BedrockInvoke, &[chunk(START), damaged, chunk(STOP)].concat());
    assert_eq!(answer.faults, ["frame 1: its checksum is wrong"]);
    let usage = answer.usage.unwrap();
    assert_eq!((counts(&usage), usage.output_is_start_value), ([7, 14_486, 2_238, 0, 1], true));
}

#[test]
fn a_stream_that_ends_inside_a_frame_or_with_an_exception_breaks_off() {
    let whole = [chunk(START), chunk(DELTA)].concat();
    let cut = read(BedrockInvoke, &whole[..whole.len() - 9]);
    assert!(cut.repairs[0].contains("(frame 1: found "), "{:?}", cut.repairs);
    let exception = frame(&[(":exception-type", "throttlingException"), (":message-type", "exception")], b"{}");
    let answer = read(BedrockInvoke, &[chunk(START), exception].concat());
    assert_eq!(answer.repairs, ["the stream breaks off after 1 events (the provider sent `throttlingException`)"]);
    assert!(answer.usage.unwrap().output_is_start_value);
}
