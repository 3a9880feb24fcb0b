//! Handmade conversations, and their locks.

use forkcast_sim::guard::lock::{Lock, Recorder, Recording, RequestRecord};
use forkcast_sim::guard::{Facts, Guard, Rules, Sent};
use forkcast_sim::wire::Usage;
use serde_json::{Value, json};

/// A text longer than the cache's minimum, with words that depend on `word`.
pub fn long(word: &str) -> String {
    (0..1_500).map(|at| format!("{word} {at} ")).collect()
}

/// A tool.
pub fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "input_schema": {"type": "object", "properties": {}}})
}

/// The parts of a conversation.
#[derive(Clone)]
pub struct Talk {
    pub model: &'static str,
    pub tools: Vec<Value>,
    pub system: Vec<Value>,
    pub messages: Vec<Value>,
    pub thinking: Option<Value>,
}

impl Talk {
    /// Two tools, a system prompt, a question, a call, its result, an answer, a question.
    pub fn new() -> Self {
        Self {
            model: "claude-opus-4-8",
            tools: vec![tool("Read", "Reads a file."), tool("Write", "Writes a file.")],
            system: vec![
                json!({"type": "text", "text": long("rule"), "cache_control": {"type": "ephemeral", "ttl": "1h"}}),
            ],
            messages: vec![
                json!({"role": "user", "content": [{"type": "text", "text": "What does the parser do?"}]}),
                json!({"role": "assistant", "content": [
                    {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "parser.rs"}}]}),
                json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": long("line")}]}),
                json!({"role": "assistant", "content": [{"type": "text", "text": "It reads tokens."}]}),
                json!({"role": "user", "content": [{"type": "text", "text": "Which ones?"}]}),
            ],
            thinking: None,
        }
    }

    /// The body with the first `messages` messages; the last block has a breakpoint.
    pub fn body(&self, messages: usize) -> Vec<u8> {
        let mut messages = self.messages[..messages].to_vec();
        let last = messages.last_mut().unwrap()["content"].as_array_mut().unwrap().last_mut().unwrap();
        last["cache_control"] = json!({"type": "ephemeral"});
        let mut body = json!({"model": self.model, "max_tokens": 100, "tools": self.tools, "system": self.system,
            "messages": messages});
        if let Some(thinking) = &self.thinking {
            body["thinking"] = thinking.clone();
        }
        body.to_string().into_bytes()
    }

    /// Its requests: one per question or result.
    pub fn requests(&self) -> Vec<Vec<u8>> {
        (1..=self.messages.len()).step_by(2).map(|messages| self.body(messages)).collect()
    }

    /// Its lock, as chain `main`.
    pub fn lock(&self) -> Lock {
        lock_of(&Recording::default(), &[("main", None, self.requests())])
    }
}

/// A chain: its name, its parent, its bodies.
pub type Agent<'a> = (&'a str, Option<&'a str>, Vec<Vec<u8>>);

/// The lock of these chains, one after the other.
pub fn lock_of(recording: &Recording, agents: &[Agent<'_>]) -> Lock {
    let mut guard = Guard::new(Rules::default());
    let mut recorder =
        Recorder::new(Recording { preset: "docs-2026-09".into(), prices: "2026-11-21".into(), ..recording.clone() });
    for (chain, parent, bodies) in agents {
        for body in bodies {
            let sent = Sent {
                facts: Facts { chain: Some(chain), parent: *parent, scope: "here", ..Facts::default() },
                ..Sent::body(body)
            };
            let checked = guard.take(&sent).unwrap();
            let seen = guard.seen(&checked, *parent).unwrap();
            // All tokens are plain input, so that figures depend on the prompts and not on the cache.
            let usage = Usage { input_tokens: *seen.cumulative.last().unwrap(), ..Usage::default() };
            let cost = seen.rates.map(|rates| rates.bill(&usage, &[]).total);
            recorder.take(&RequestRecord { usage, cost, ..seen });
        }
    }
    recorder.finish()
}
