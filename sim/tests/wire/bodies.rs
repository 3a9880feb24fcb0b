//! Bodies that other tests share.

use forkcast_sim::wire::{BlockId, Request, Wire};

/// A body as agents send it: tools with schemas, two system blocks, calls with results, thinking, breakpoints.
pub const REALISTIC: &str = r#"{"model":"claude-opus-4-8","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"<env>\ncwd: /src/app\n</env>"},{"type":"text","text":"Fix the t\u00e9st, please \ud83d\ude00"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"Let me look.","signature":"c2ln"},{"type":"text","text":"I read it."},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"/src/app/a.rs","limit":20,"offset":1.0}},{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"ls -la \"x\" | wc"}}]},{"role":"user","content":[{"tool_use_id":"toolu_2","type":"tool_result","content":"total 0","is_error":false},{"tool_use_id":"toolu_1","type":"tool_result","content":[{"type":"text","text":"fn main() {}"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]},{"role":"system","content":"Be careful.","output_config":{"effort":"low"}},{"role":"assistant","content":"Done."},{"role":"user","content":[{"type":"text","text":"Thanks","cache_control":{"type":"ephemeral","ttl":"5m"}}]}],"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=1;"},{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral","ttl":"1h"}}],"tools":[{"name":"Bash","description":"Runs a command","input_schema":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}},{"name":"Read","description":"Reads a file","input_schema":{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"number"},"offset":{"type":"number"}},"additionalProperties":false}},{"name":"Later","defer_loading":true}],"metadata":{"user_id":"{\"device_id\":\"d\"}"},"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"medium"},"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"stream":true}"#;

/// Reads a valid body.
pub fn read(wire: &mut Wire, body: &str) -> Request {
    wire.read(body.as_bytes(), "scope", "").unwrap_or_else(|error| panic!("{body}: {error}"))
}

/// The blocks of a request in prompt order.
pub fn blocks(wire: &Wire, request: &Request) -> Vec<BlockId> {
    request.nodes.iter().map(|node| wire.prefixes.block(*node).unwrap()).collect()
}

/// A body of text messages: `"user: Hi"`.
pub fn talk(messages: &[&str]) -> String {
    let message = |line: &&str| {
        let (role, text) = line.split_once(": ").unwrap();
        serde_json::json!({"role": role, "content": text})
    };
    serde_json::json!({"messages": messages.iter().map(message).collect::<Vec<_>>()}).to_string()
}
