//! How an agent's test suite holds its prompt prefix: run it with
//! `cargo test --no-default-features --features guard --example prefix_test`.

use forkcast_sim::guard::{Guard, Rules};
use serde_json::{Value, json};

/// The agent under test: it builds the body of each request.
struct Agent {
    messages: Vec<Value>,
}

impl Agent {
    fn new() -> Self {
        Self { messages: Vec::new() }
    }

    fn body(&mut self, user: &str) -> String {
        self.messages.push(json!({"role": "user", "content": user}));
        let body = json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 1024,
            "cache_control": {"type": "ephemeral"},
            "tools": [{"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"}}],
            "system": "You are careful and brief.",
            "messages": self.messages,
        });
        self.messages.push(json!({"role": "assistant", "content": "Done."}));
        body.to_string()
    }
}

fn main() {
    // Two requests.
    let mut agent = Agent::new();
    forkcast_sim::assert_prefix_stable!(agent.body("Read a.txt"), agent.body("Now b.txt"));

    // A whole conversation, under rules of one's own.
    let rules = Rules { requests_per_day: Some(10_000), ..Rules::default() };
    let mut guard = Guard::new(Rules { in_tests: true, ..rules });
    let mut agent = Agent::new();
    for user in ["Read a.txt", "Now b.txt", "What do they share?"] {
        guard.assert_next(&agent.body(user));
    }
    let report = guard.finish();
    println!("{} requests, {} findings", report.requests, report.findings.len());
}

#[cfg(test)]
mod tests {
    use super::Agent;

    #[test]
    fn the_agent_keeps_its_prefix() {
        let mut agent = Agent::new();
        forkcast_sim::assert_prefix_stable!(agent.body("Read a.txt"), agent.body("Now b.txt"));
    }
}
