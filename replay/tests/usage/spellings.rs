//! The dialect of an exchange: by its address, or, if the format has none, by fields of the answer.

use forkcast_replay::exchange::Dialect::{self, *};
use forkcast_replay::exchange::Exchange;
use forkcast_replay::formats::{Format, read as read_file};
use serde_json::json;

use super::counts;

fn exchange(uri: &str, request: &str, response: &str, headers: &serde_json::Value) -> Option<(Exchange, Vec<String>)> {
    let interaction = json!({
        "request": {"method": "POST", "uri": uri, "body": request},
        "response": {"status": {"code": 200}, "headers": headers, "body": {"string": response}},
    });
    let text = json!({ "interactions": [interaction] }).to_string();
    let reading = read_file(Format::Vcr, "c.json", text.as_bytes());
    let faults = reading.unreadable.iter().map(ToString::to_string).collect();
    reading.exchanges.into_iter().next().map(|exchange| (exchange, faults))
}

fn sorted(uri: &str, model: &str) -> Option<(String, Dialect, Option<String>)> {
    let request = json!({"model": model, "messages": []}).to_string();
    let (exchange, _) = exchange(uri, &request, "{}", &json!({}))?;
    Some((exchange.provider.clone(), exchange.dialect, exchange.region))
}

#[test]
fn addresses_show_provider_dialect_and_region() {
    let cases = [
        ("https://api.openai.com/v1/chat/completions", "gpt-5.4", ("openai", ChatCompletions, None)),
        ("https://eu.api.openai.com/v1/responses", "gpt-5.4", ("openai", Responses, Some("eu"))),
        ("https://api.openai.com/v1/embeddings", "text-embedding-3-small", ("openai", Embeddings, None)),
        (
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
            "",
            ("azure", ChatCompletions, None),
        ),
        ("https://r.services.ai.azure.com/anthropic/v1/messages", "claude-opus-5", ("anthropic", Messages, None)),
        ("https://openrouter.ai/api/v1/chat/completions", "anthropic/claude-opus-5", ("anthropic", OpenRouter, None)),
        (
            "https://openrouter.ai/api/v1/chat/completions",
            "google/gemini-3-flash",
            ("openrouter", ChatCompletions, None),
        ),
        ("https://openrouter.ai/api/v1/responses", "openai/gpt-5.4", ("openrouter", Responses, None)),
        ("https://api.deepseek.com/anthropic/v1/messages", "deepseek-flash", ("deepseek", Messages, None)),
        ("https://api.moonshot.ai/v1/chat/completions", "kimi-k3", ("moonshot", ChatCompletions, None)),
        ("https://api.x.ai/v1/chat/completions", "grok-4.5", ("xai", ChatCompletions, None)),
        ("https://api.groq.com/openai/v1/chat/completions", "llama", ("groq", ChatCompletions, None)),
        ("https://api.z.ai/api/paas/v4/chat/completions", "glm-5.3", ("zai", ChatCompletions, None)),
        ("https://api.cohere.com/v2/chat", "command-a", ("cohere", Cohere, None)),
        ("http://localhost:11434/api/chat", "qwen3", ("localhost", Ollama, None)),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
            "",
            ("gemini", GenerateContent, None),
        ),
        (
            "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-5:streamRawPredict",
            "",
            ("anthropic", Messages, Some("us-east5")),
        ),
        (
            "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/mistralai/models/mistral-large:rawPredict",
            "",
            ("vertex", ChatCompletions, Some("us-central1")),
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0/converse-stream",
            "",
            ("bedrock", BedrockConverse, Some("us-east-1")),
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/meta.llama3/invoke",
            "",
            ("bedrock", BedrockInvoke, Some("us-east-1")),
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/chat/completions",
            "openai.gpt-oss-120b",
            ("bedrock", ChatCompletions, Some("us-east-1")),
        ),
    ];
    for (uri, model, (provider, dialect, region)) in cases {
        assert_eq!(sorted(uri, model), Some((provider.to_owned(), dialect, region.map(str::to_owned))), "{uri}");
    }
    for uri in ["https://api.anthropic.com/v1/messages/count_tokens", "https://api.anthropic.com/v1/messages/batches"] {
        assert_eq!(sorted(uri, "claude-opus-5"), None, "{uri}");
    }
}

/// The body decides as it does alone (`spelled.rs`).
#[test]
fn hosts_that_nobody_knows_say_nothing_of_the_cache() {
    let cases = [
        ("http://localhost:4000/v1/messages", "claude-opus-5", ("anthropic", Messages)),
        ("http://localhost:8080/v1/messages", "qwen3-coder", ("localhost", Messages)),
        ("http://localhost:8080/v1/messages", "local-model", ("localhost", Messages)),
        ("https://api.anthropic.com/v1/messages", "local-model", ("anthropic", Messages)),
        ("http://localhost:4000/v1/chat/completions", "claude-opus-5", ("anthropic", OpenRouter)),
        ("http://localhost:4000/v1/chat/completions", "gpt-5.5", ("openai", ChatCompletions)),
        ("http://localhost:4000/v1/responses", "claude-opus-5", ("localhost", Responses)),
        ("https://api.githubcopilot.com/chat/completions", "claude-opus-5", ("copilot", ChatCompletions)),
    ];
    for (uri, model, (provider, dialect)) in cases {
        assert_eq!(sorted(uri, model), Some((provider.to_owned(), dialect, None)), "{uri} {model}");
    }
}

/// Only the counts of `usage` differ between a Messages answer and one of the Responses API; the fields around them
/// decide.
#[test]
fn without_an_address_marks_in_the_answer_show_its_dialect() {
    let subset = r#""usage":{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4}}"#;
    let cases = [
        (format!(r#"{{"object":"chat.completion","choices":[],{subset}}}"#), [6, 4, 0, 0, 1]),
        (format!("{{{subset}}}"), [6, 4, 0, 0, 1]),
        (r#"{"object":"response","usage":{"input_tokens":10,"output_tokens":1,"input_tokens_details":{"cached_tokens":4}}}"#.to_owned(), [6, 4, 0, 0, 1]),
        (r#"{"type":"message","usage":{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":1}}"#.to_owned(), [6, 4, 0, 0, 1]),
        (r#"{"candidates":[],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":1}}"#.to_owned(), [6, 4, 0, 0, 1]),
        (r#"{"output":{},"usage":{"inputTokens":6,"cacheReadInputTokens":4,"outputTokens":1}}"#.to_owned(), [6, 4, 0, 0, 1]),
        (r#"{"message":{},"usage":{"tokens":{"input_tokens":10,"output_tokens":1},"cached_tokens":4}}"#.to_owned(), [6, 4, 0, 0, 1]),
        (r#"{"message":{},"done":true,"prompt_eval_count":10,"eval_count":1}"#.to_owned(), [10, 0, 0, 0, 1]),
    ];
    for model in ["claude-opus-5", "gpt-5.4"] {
        for (response, expected) in &cases {
            let line = format!(
                r#"{{"v":1,"request":{{"model":"{model}","messages":[]}},"response":{response},"status":200}}"#
            );
            let reading = read_file(Format::ExchangeLog, "log", line.as_bytes());
            let usage = reading.exchanges[0].usage.unwrap_or_else(|| panic!("{response}: {:?}", reading.unreadable));
            assert_eq!(counts(&usage), *expected, "{model}: {response}");
        }
    }
}

#[test]
fn bedrock_answers_in_the_spelling_of_each_maker() {
    let cases = [
        (
            r#"{"usage":{"inputTokens":10,"outputTokens":5,"totalTokens":115,"cacheReadInputTokenCount":100,"cacheWriteInputTokenCount":0}}"#,
            [10, 100, 0, 0, 5],
        ),
        (r#"{"generation":"x","prompt_token_count":10,"generation_token_count":5}"#, [10, 0, 0, 0, 5]),
        (r#"{"inputTextTokenCount":10,"results":[{"tokenCount":3},{"tokenCount":2}]}"#, [10, 0, 0, 0, 5]),
        (r#"{"embedding":[],"inputTextTokenCount":10}"#, [10, 0, 0, 0, 0]),
        (r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}"#, [10, 0, 0, 0, 5]),
    ];
    for (response, expected) in cases {
        let uri = "https://bedrock-runtime.us-east-1.amazonaws.com/model/vendor.model/invoke";
        let (exchange, faults) = exchange(uri, "{}", response, &json!({})).unwrap();
        assert_eq!((exchange.usage.map(|usage| counts(&usage)), faults), (Some(expected), vec![]), "{response}");
    }
}

/// The provider does not document what the headers count, so they are listed and not billed.
#[test]
fn counts_in_headers_are_reported_if_the_body_has_none() {
    let uri = "https://bedrock-runtime.us-east-1.amazonaws.com/model/cohere.command-r-v1%3A0/invoke";
    let headers = json!({"x-amzn-bedrock-input-token-count": ["4"], "x-amzn-bedrock-output-token-count": ["50"]});
    let (exchange, faults) = exchange(uri, "{}", r#"{"text":"a"}"#, &headers).unwrap();
    assert_eq!(exchange.usage, None);
    assert!(
        faults[0].contains("answer has no `usage`; its headers count 4 input, 50 output tokens; no page says how"),
        "{faults:?}"
    );
}

#[test]
fn the_answer_names_the_model_if_the_request_does_not() {
    let uri = "https://x.openai.azure.com/openai/deployments/mine/chat/completions";
    let response = r#"{"model":"gpt-5.4-2026-03-05","usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    assert_eq!(exchange(uri, "{}", response, &json!({})).unwrap().0.model, "gpt-5.4-2026-03-05");
    assert_eq!(exchange(uri, r#"{"model":"m"}"#, response, &json!({})).unwrap().0.model, "m");
}
