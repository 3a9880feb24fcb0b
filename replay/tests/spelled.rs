//! Whose cache a body meets, and how it is spelled, where no address says it.

use forkcast_replay::exchange::Dialect::{self, BedrockConverse, ChatCompletions, Messages, OpenRouter, Responses};
use forkcast_replay::input::{InputFormat, Inputs};
use serde_json::{Value, json};

/// Provider and spelling of a body alone; an error if it is read as none.
fn read(body: &Value) -> Result<(String, Dialect), String> {
    let inputs = Inputs::from_bytes("body.json", body.to_string().as_bytes(), InputFormat::Auto);
    let found = inputs.exchanges().next().map(|exchange| (exchange.provider.clone(), exchange.dialect));
    found.ok_or_else(|| format!("{:?}", inputs.unreadable))
}

const MARKER: &str = r#"{"type":"ephemeral"}"#;

fn chat(model: &str, is_marked: bool) -> Value {
    let mut text = json!({"type": "text", "text": "Be kind."});
    if is_marked {
        text["cache_control"] = serde_json::from_str(MARKER).unwrap();
    }
    json!({"model": model, "messages": [{"role": "system", "content": [text]}, {"role": "user", "content": "Why?"}]})
}

fn messages(model: &str, is_marked: bool) -> Value {
    let mut body = chat(model, is_marked);
    body["system"] = body["messages"][0]["content"].take();
    body["messages"] = json!([{"role": "user", "content": "Why?"}]);
    body
}

fn converse(model: &str, is_marked: bool) -> Value {
    let mut system = vec![json!({"text": "Be kind."})];
    if is_marked {
        system.push(json!({"cachePoint": {"type": "default"}}));
    }
    json!({"modelId": model, "system": system, "messages": [{"role": "user", "content": [{"text": "Why?"}]}]})
}

fn responses(model: &str) -> Value {
    json!({"model": model, "input": [{"role": "user", "content": "Why?"}]})
}

/// A name, and the provider of its bodies with and without markers.
const NAMES: [(&str, &str, &str); 24] = [
    ("claude-opus-5", "anthropic", "anthropic"),
    ("anthropic/claude-sonnet-4.5", "anthropic", "anthropic"),
    ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic", "anthropic"),
    ("sonnet", "anthropic", "anthropic"),
    ("opus-proxy", "anthropic", "anthropic"),
    ("gpt-5.5", "openai", "openai"),
    ("gpt4o-prod-eastus", "openai", "openai"),
    ("ft:gpt-4.1:acme", "openai", "openai"),
    ("azure/gpt-5", "openai", "openai"),
    ("us.amazon.nova-pro-v1:0", "bedrock", "bedrock"),
    ("us.meta.llama4-scout", "meta", "meta"),
    ("unsloth/Qwen3.6-27B-GGUF", "alibaba", "alibaba"),
    ("mistral-opus", "mistral", "mistral"),
    ("default", "unknown", "anthropic"),
    ("local-model", "unknown", "anthropic"),
    ("auto", "unknown", "anthropic"),
    ("my-azure-deployment", "unknown", "anthropic"),
    ("phi-4", "unknown", "anthropic"),
    ("nova-pro", "unknown", "anthropic"),
    ("hermes-4-70b", "unknown", "anthropic"),
    ("ep-20260901123456-abcde", "unknown", "anthropic"),
    ("/models/current", "unknown", "anthropic"),
    ("opossum", "unknown", "anthropic"),
    ("arn:aws:bedrock:us-east-1:1:application-inference-profile/x1", "unknown", "anthropic"),
];

#[test]
fn a_name_that_nobody_knows_is_claude_only_if_the_body_is_marked_for_it() {
    for (model, plain, marked) in NAMES {
        for (is_marked, provider) in [(false, plain), (true, marked)] {
            let is_claude = provider == "anthropic";
            let spelled = if is_claude { OpenRouter } else { ChatCompletions };
            assert_eq!(read(&chat(model, is_marked)), Ok((provider.to_owned(), spelled)), "{model}");
            assert_eq!(read(&messages(model, is_marked)), Ok((provider.to_owned(), Messages)), "{model}");
            assert_eq!(read(&converse(model, is_marked)), Ok((provider.to_owned(), BedrockConverse)), "{model}");
        }
    }
}

#[test]
fn a_list_of_items_is_a_response_whatever_its_model_is_called() {
    for (model, plain, _) in NAMES {
        // Whose cache Claude meets behind a gateway with this API is not known.
        let provider = if plain == "anthropic" { "unknown" } else { plain };
        let told = json!({"model": model, "instructions": "Be kind.", "input": "Why?"});
        for body in [responses(model), told] {
            assert_eq!(read(&body), Ok((provider.to_owned(), Responses)), "{body}");
        }
    }
    for input in [json!("Why?"), json!(["Why?"])] {
        assert!(read(&json!({"model": "text-embedding-3-small", "input": input})).is_err(), "{input}");
    }
}

#[test]
fn a_body_without_a_name_has_it_in_its_address() {
    let mut body = messages("", false);
    body.as_object_mut().unwrap().remove("model");
    body["anthropic_version"] = json!("bedrock-2023-05-31");
    assert_eq!(read(&body), Ok(("anthropic".to_owned(), Messages)));
    body["model"] = json!("my-alias");
    assert_eq!(read(&body), Ok(("anthropic".to_owned(), Messages)));
}

#[test]
fn a_marker_beside_a_role_marks_nothing() {
    let mut body = chat("local-model", false);
    body["messages"][0]["cache_control"] = serde_json::from_str(MARKER).unwrap();
    assert_eq!(read(&body), Ok(("unknown".to_owned(), ChatCompletions)));
    body["messages"][0]["content"][0]["text"] = json!("A prompt about \"cache_control\": it is a field.");
    assert_eq!(read(&body), Ok(("unknown".to_owned(), ChatCompletions)));
}
