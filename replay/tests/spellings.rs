//! Requests of other providers in the spelling of the Messages API, and the agents that headers name.

use forkcast_replay::exchange::{Dialect, Exchange, Origin};
use forkcast_replay::http::{self, Headers, Request, Sorted};
use forkcast_replay::source::exchange::spelling;

fn translated(provider: &str, dialect: Dialect, model: &str, body: &str) -> String {
    let body = body.as_bytes().to_vec();
    let exchange = Exchange { dialect, ..Exchange::request_only(Origin::default(), model.to_owned(), body) };
    let exchange = Exchange { provider: provider.to_owned(), ..exchange };
    String::from_utf8(spelling(&exchange).unwrap().body.into_owned()).unwrap()
}

fn gemini(body: &str) -> String {
    translated("gemini", Dialect::GenerateContent, "gemini-2.5-pro", body)
}

fn openai(body: &str) -> String {
    translated("openai", Dialect::Responses, "", body)
}

fn plain(body: &str) -> String {
    translated("bedrock", Dialect::Ollama, "m", body)
}

#[test]
fn camel_case_and_snake_case_give_the_same_body() {
    let camel = r#"{"systemInstruction":{"parts":[{"text":"Be kind."}]},
        "tools":[{"functionDeclarations":[{"name":"read","parameters":{"type":"OBJECT"}}]},{"googleSearch":{}}],
        "contents":[{"role":"user","parts":[{"text":"Why?"},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]},
        {"role":"model","parts":[{"functionCall":{"name":"read","args":{"a":1}},"thoughtSignature":"s"}]},
        {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"out":2}}}]}]}"#;
    let expected = concat!(
        r#"{"model":"gemini-2.5-pro","translated_settings":{},"tools":[{"name":"read","input_schema":{"type":"OBJECT"}},"#,
        r#"{"type":"googleSearch","name":"googleSearch","googleSearch":{}}],"#,
        r#""system":[{"type":"text","text":"Be kind."}],"messages":[{"role":"user","content":["#,
        r#"{"type":"text","text":"Why?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":null,"name":"read","input":{"a":1},"thoughtSignature":"s"}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":null,"name":"read","content":"{\"out\":2}"}]}]}"#,
    );
    assert_eq!(gemini(camel), expected);
    let snake = [
        ("systemInstruction", "system_instruction"),
        ("functionDeclarations", "function_declarations"),
        ("functionCall", "function_call"),
        ("functionResponse", "function_response"),
        ("inlineData", "inline_data"),
        ("mimeType", "mime_type"),
    ];
    let snake = snake.iter().fold(camel.to_owned(), |body, (camel, snake)| body.replace(camel, snake));
    assert_eq!(gemini(&snake), expected);
    assert_eq!(gemini(&format!(r#"{{"project":"p","request":{camel}}}"#)), expected);
}

#[test]
fn items_keep_their_numbers_and_lose_their_ids() {
    let body = r#"{"model":"gpt-5.6-sol","instructions":"Be kind.","stream":true,"input":[
        {"type":"message","id":"msg_1","role":"developer","content":[{"type":"input_text","text":"House rules."}]},
        {"role":"user","content":"Why?"},
        {"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{\"a\":1}","status":"completed"},
        {"type":"function_call_output","call_id":"c1","output":"text"}],
        "tools":[{"type":"function","name":"read","parameters":{}}]}"#;
    let expected = concat!(
        r#"{"model":"gpt-5.6-sol","translated_settings":{},"tools":[{"type":"function","name":"read","parameters":{}}],"#,
        r#""system":[{"type":"text","text":"Be kind."},{"type":"text","text":"House rules."}],"#,
        r#""messages":[{"role":"system","content":[]},{"role":"user","content":[{"type":"text","text":"Why?"}]},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{"arguments":"{\"a\":1}"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"text"}]}]}"#,
    );
    assert_eq!(openai(body), expected);
}

#[test]
fn settings_are_included_unless_they_are_the_default() {
    let body = r#"{"model":"m","input":"a","service_tier":"auto","prompt_cache_key":"k","parallel_tool_calls":true,
        "reasoning":{"effort":"low","summary":"auto"},"text":{"verbosity":"low","format":{"type":"text"}}}"#;
    let told = r#""translated_settings":{"prompt_cache_key":"k","reasoning.effort":"low","text.verbosity":"low"}"#;
    assert!(openai(body).contains(told), "{}", openai(body));
}

#[test]
fn a_prompt_is_one_message() {
    let expected = concat!(
        r#"{"model":"m","system":[{"type":"text","text":"Be kind."}],"messages":[{"role":"user","content":["#,
        r#"{"type":"list","value":"[1,2]"},{"type":"text","text":"Why?"}]}]}"#
    );
    assert_eq!(plain(r#"{"prompt":"Why?","system":"Be kind.","context":[1,2],"stream":true}"#), expected);
}

#[test]
fn a_history_comes_before_the_newest_message() {
    let expected = concat!(
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"Yes?"}]},"#,
        r#"{"role":"user","content":[{"type":"text","text":"Why?"}]}]}"#
    );
    let body =
        r#"{"message":"Why?","chat_history":[{"role":"USER","message":"Hi"},{"role":"CHATBOT","message":"Yes?"}]}"#;
    assert_eq!(plain(body), expected);
}

#[test]
fn headers_name_the_agent_and_its_parent() {
    type Lines = &'static [(&'static str, &'static str)];
    let table: [(Lines, bool, Option<&str>, Option<&str>); 9] = [
        (&[("X-Claude-Code-Session-Id", "s")], true, None, None),
        (&[("X-Claude-Code-Session-Id", "s"), ("x-claude-code-agent-id", "a")], true, Some("s/a"), None),
        (&[("x-session-id", "child"), ("x-parent-session-id", "s")], true, Some("child"), Some("s")),
        (&[("x-session-id", "s")], true, Some("s"), None),
        // A request for a title.
        (&[("x-session-id", "s"), ("x-session-affinity", "s")], false, None, None),
        (&[("session-id", "s"), ("thread-id", "t")], true, Some("t"), None),
        (&[("Thread-Id", "t"), ("X-Codex-Parent-Thread-Id", "s")], false, Some("t"), Some("s")),
        (&[("x-parent-session-id", "s")], true, None, None),
        (&[("thread-id", "")], true, None, None),
    ];
    for (lines, has_tools, chain, parent) in table {
        let found = sent(lines, has_tools);
        assert_eq!((found.chain.as_deref(), found.parent.as_deref()), (chain, parent), "{lines:?}");
    }
}

/// The exchange of a request with these headers.
fn sent(lines: &[(&'static str, &'static str)], has_tools: bool) -> Exchange {
    let mut headers = Headers::default();
    lines.iter().for_each(|(name, value)| headers.push(*name, *value));
    let tools = if has_tools { r#"[{"name":"read"}]"# } else { "[]" };
    let body = format!(r#"{{"model":"claude-opus-4-8","tools":{tools},"messages":[]}}"#).into_bytes();
    let uri = "https://api.anthropic.com/v1/messages";
    let request = Request { method: "POST".into(), uri: uri.into(), headers, body: Ok(body.into()) };
    match http::exchange(Origin::default(), &request).unwrap() {
        Sorted::Model(exchange) => *exchange,
        Sorted::Elsewhere(reason) => panic!("{reason}"),
    }
}

#[test]
fn the_first_product_is_the_client() {
    for (header, found) in [
        ("claude-cli/2.1.63 (external, cli)", Some("claude-cli/2.1.63")),
        ("Anthropic/Python 0.28.1", Some("Anthropic/Python 0.28.1")),
        ("Boto3/1.38.26 md/Botocore#1.38.26 ua/2.1", Some("Boto3/1.38.26")),
        ("Faraday v2.14.3", Some("Faraday v2.14.3")),
        ("X-USER-AGENT", None),
        ("Mozilla (like 4.0)", None),
        ("", None),
    ] {
        assert_eq!(sent(&[("User-Agent", header)], false).client.as_deref(), found, "{header}");
    }
}
