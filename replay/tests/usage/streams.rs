//! Streamed answers, whole and broken off, in each framing.

use forkcast_replay::exchange::Dialect::{self, *};
use forkcast_replay::formats::{Format, read as read_file};

use super::{answer, clean, counts, refusal};

fn sse(events: &[&str]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

const FINISHED: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}"#;

#[test]
fn the_last_chunk_with_usage_counts_whichever_provider_repeats_it() {
    // xAI and OpenRouter once sent cumulative usage with every chunk; OpenAI sends it once, after the end.
    let once = sse(&[
        FINISHED,
        r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}"#,
        "[DONE]",
    ]);
    let every = sse(&[
        r#"{"choices":[{"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}"#,
        r#"{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}"#,
    ]);
    for stream in [once, every] {
        let usage = clean(ChatCompletions, &stream);
        assert_eq!((counts(&usage), usage.output_is_start_value), ([9, 0, 0, 0, 4], false), "{stream}");
    }
}

#[test]
fn groq_puts_the_usage_of_a_stream_into_a_field_of_its_own() {
    let stream = sse(&[
        r#"{"choices":[{"finish_reason":null}],"x_groq":{"id":"req_1"}}"#,
        r#"{"choices":[{"finish_reason":"stop"}],"x_groq":{"id":"req_1","usage":{"queue_time":0.06,"prompt_tokens":18,"completion_tokens":439,"total_tokens":457}}}"#,
        "[DONE]",
    ]);
    assert_eq!(counts(&clean(ChatCompletions, &stream)), [18, 0, 0, 0, 439]);
}

#[test]
fn a_stream_without_requested_usage_is_reported() {
    let stream = sse(&[FINISHED, "[DONE]"]);
    assert_eq!(refusal(ChatCompletions, &stream), "found no `usage` in any chunk of the stream");
    let cassette = |request: &str| {
        let quoted = |text: &str| serde_json::to_string(text).unwrap();
        let text = format!(
            r#"{{"interactions":[{{"request":{{"method":"POST","uri":"https://api.openai.com/v1/chat/completions","body":{}}},
               "response":{{"status":{{"code":200}},"body":{{"string":{}}}}}}}]}}"#,
            quoted(request),
            quoted(&stream)
        );
        read_file(Format::Vcr, "c.json", text.as_bytes()).unreadable[0].to_string()
    };
    let without = cassette(r#"{"model":"gpt-5.4","stream":true}"#);
    assert!(without.contains("the request did not ask for it (`stream_options.include_usage`)"), "{without}");
    let with = cassette(r#"{"model":"gpt-5.4","stream":true,"stream_options":{"include_usage":true}}"#);
    assert!(!with.contains("did not ask"), "{with}");
}

#[test]
fn a_truncated_stream_keeps_its_counts_and_is_reported() {
    let cut = sse(&[
        r#"{"choices":[{"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}"#,
        r#"{"choices":[{"fini"#,
    ]);
    let answer = answer(ChatCompletions, &cut);
    let usage = answer.usage.unwrap();
    assert_eq!((counts(&usage), usage.output_is_start_value), ([9, 0, 0, 0, 1], true));
    assert!(answer.repairs[0].starts_with("the stream breaks off after 2 events (event 1: "), "{:?}", answer.repairs);
    let before = refusal(ChatCompletions, &sse(&[r#"{"choices":[{"finish_reason":null}]}"#]));
    assert_eq!(before, "found no `usage` in any chunk of the stream, which breaks off after 1 events");
}

#[test]
fn a_response_ends_complete_or_incomplete_and_both_are_billed() {
    for end in ["completed", "incomplete"] {
        let last = format!(
            r#"{{"type":"response.{end}","response":{{"model":"gpt-5.6-sol","service_tier":"flex","usage":{{"input_tokens":4020,"output_tokens":5,"total_tokens":4025,"input_tokens_details":{{"cached_tokens":0,"cache_write_tokens":4012}}}}}}}}"#
        );
        let stream = sse(&[r#"{"type":"response.created","response":{"usage":null}}"#, &last]);
        let answer = answer(Responses, &stream);
        assert_eq!((answer.faults.len(), answer.model.as_deref()), (0, Some("gpt-5.6-sol")));
        assert_eq!(counts(&answer.usage.unwrap()), [8, 0, 4_012, 0, 5]);
        assert_eq!(answer.usage.unwrap().tier.unwrap().word(), "flex");
    }
    let cut = sse(&[r#"{"type":"response.created","response":{"usage":null}}"#]);
    assert!(refusal(Responses, &cut).ends_with("of the stream, which breaks off after 1 events"));
}

#[test]
fn gemini_streams_as_events_or_as_a_list_which_may_break_off() {
    let first = r#"{"candidates":[{"content":{}}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":1,"totalTokenCount":21}}"#;
    let last = r#"{"candidates":[{"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["q"]}}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":30,"thoughtsTokenCount":50,"totalTokenCount":100}}"#;
    for whole in [sse(&[first, last]), format!("[{first},\r\n{last}\n]")] {
        let usage = clean(GenerateContent, &whole);
        assert_eq!((counts(&usage), usage.web_search_requests), ([20, 0, 0, 0, 80], 1));
    }
    let cut = answer(GenerateContent, &format!("[{first},\r\n{{\"candidates\":[{{"));
    assert_eq!(counts(&cut.usage.unwrap()), [20, 0, 0, 0, 1]);
    assert!(cut.repairs[0].contains("the text ends inside"), "{:?}", cut.repairs);
}

#[test]
fn lines_of_json_are_a_stream_too() {
    let ollama = "{\"model\":\"qwen3\",\"message\":{\"content\":\"a\"},\"done\":false}\n{\"model\":\"qwen3\",\"done\":true,\"prompt_eval_count\":26,\"eval_count\":298}\n";
    assert_eq!(counts(&clean(Ollama, ollama)), [26, 0, 0, 0, 298]);
    let unknown = refusal(Ollama, r#"{"model":"qwen3","done":true,"eval_count":298}"#);
    assert!(unknown.starts_with("usage has no `prompt_eval_count`"), "{unknown}");
    let cohere = "{\"event_type\":\"stream-start\"}\n{\"event_type\":\"stream-end\",\"response\":{\"meta\":{\"billed_units\":{\"input_tokens\":5,\"output_tokens\":9},\"tokens\":{\"input_tokens\":70,\"output_tokens\":9}}}}\n";
    assert_eq!(counts(&clean(Cohere, cohere)), [70, 0, 0, 0, 9]);
    let version_2 = sse(&[
        r#"{"type":"message-end","delta":{"usage":{"billed_units":{"input_tokens":5,"output_tokens":9},"tokens":{"input_tokens":70,"output_tokens":9},"cached_tokens":64}}}"#,
        "[DONE]",
    ]);
    assert_eq!(counts(&clean(Cohere, &version_2)), [6, 64, 0, 0, 9]);
}

/// The counts of `message_delta` repeat those before them; adding them up would bill 25 twice.
#[test]
fn cumulative_counts_are_replaced_and_never_added() {
    let stream = sse(&[
        r#"{"type":"message_start","message":{"model":"claude-opus-5","usage":{"input_tokens":25,"cache_read_input_tokens":100,"cache_creation_input_tokens":0,"output_tokens":1}}}"#,
        r#"{"type":"message_delta","delta":{},"usage":{"input_tokens":25,"cache_read_input_tokens":100,"output_tokens":7}}"#,
        r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":15,"cache_read_input_tokens":null}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let answer = answer(Messages, &stream);
    assert_eq!((counts(&answer.usage.unwrap()), answer.model.as_deref()), ([25, 100, 0, 0, 15], Some("claude-opus-5")));
}

#[test]
fn the_start_value_of_the_output_is_marked_as_one() {
    let stream = sse(&[
        r#"{"type":"message_start","message":{"usage":{"input_tokens":25,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","content_block":{"type":"text"}}"#,
    ]);
    let answer = answer(Messages, &stream);
    assert!(answer.usage.unwrap().output_is_start_value);
    assert_eq!(answer.repairs, ["the stream breaks off after 2 events (no `message_stop`)"]);
}

#[test]
fn a_body_that_is_neither_answer_nor_stream_is_reported_with_its_kind() {
    let cases: [(Dialect, &str, &str); 4] = [
        (ChatCompletions, "", "found an empty answer, expected JSON or a stream"),
        (Responses, "<html>", "found `<`, expected an answer in JSON or a stream of events"),
        (GenerateContent, "{\"usageMetadata\":", "answer is no JSON: EOF while parsing a value"),
        (Embeddings, "data: {}\n\n", "found a stream, expected one object with embeddings"),
    ];
    for (dialect, body, reason) in cases {
        assert_eq!(refusal(dialect, body), reason);
    }
}
