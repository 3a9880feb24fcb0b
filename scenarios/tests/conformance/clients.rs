//! Requests of real clients (`clients.md` 1, client versions of 2026-11), rebuilt by hand with our own text, and the
//! resulting cards.

use forkcast_sim::time::Instant;
use serde_json::{Value, json};

use super::capture::{Capture, card, failed};

/// How a client forks: whether its billing header precedes the system prompt, whether the header identifies children,
/// and whether a fork keeps only its own call.
#[derive(Clone, Copy)]
struct Client {
    billing: bool,
    own_call_only: bool,
    /// The provider does not know the header, so it is part of the prompt.
    unknown_header: bool,
    /// Parent and fork spell some blocks differently: as a string and as a list.
    flips: bool,
    /// A fork has fewer tools than its parent.
    fewer_tools: bool,
    /// The fork's message is marked before its own instruction.
    marks_before_directive: bool,
}

const PLAIN: Client = Client {
    billing: false,
    own_call_only: true,
    unknown_header: false,
    flips: false,
    fewer_tools: false,
    marks_before_directive: false,
};

/// A client, its failed checks, and whether a harmless difference is reported.
const CLIENTS: [(&str, Client, &[&str], bool); 7] = [
    ("client-2026, header switched off", PLAIN, &[], false),
    ("client-2026, header on", Client { billing: true, ..PLAIN }, &[], true),
    ("the whole message is kept", Client { own_call_only: false, ..PLAIN }, &[], false),
    ("string and list", Client { flips: true, ..PLAIN }, &[], true),
    ("another header in the prompt", Client { unknown_header: true, ..PLAIN }, &["system_reused"], false),
    ("fewer tools", Client { fewer_tools: true, ..PLAIN }, &["tools_order"], false),
    ("marked before the directive", Client { marks_before_directive: true, ..PLAIN }, &[], false),
];

#[test]
fn each_clients_card_shows_the_shared_parts() {
    let mut wrong = Vec::new();
    for (name, client, expected, noted) in CLIENTS {
        let card = card(&client.captures());
        let notes = card.rows.iter().any(|row| !row.notes.is_empty());
        if card.forks != 2 || failed(&card) != *expected || notes != noted {
            wrong.push(format!("{name}\n{card}"));
        }
        assert!(card.rows.iter().all(|row| row.passed.is_some()), "{name}\n{card}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

impl Client {
    /// A parent that forks twice in one message, both forks, and the parent's next request, all within 7 ms.
    fn captures(self) -> Vec<Capture> {
        let agents =
            [("main", None, 0, 2_000), ("one", Some("main"), 5_075, 6_000), ("two", Some("main"), 5_078, 6_000)];
        let mut captures: Vec<Capture> = agents
            .into_iter()
            .map(|(chain, parent, at, first_byte)| capture(chain, parent, (at, first_byte), &self.body(chain)))
            .collect();
        captures.push(capture("main", None, (5_082, 6_000), &self.body("next")));
        captures
    }

    fn body(self, who: &str) -> Value {
        let is_fork = ["one", "two"].contains(&who);
        let mut system = vec![
            json!({"type": "text", "text": "You work in a terminal.", "cache_control": {"type": "ephemeral"}}),
            json!({"type": "text", "text": "Be brief and exact. ".repeat(400), "cache_control": {"type": "ephemeral"}}),
        ];
        let suffix = if is_fork { " cc_is_subagent=true;" } else { "" };
        if self.billing {
            let words = format!("x-anthropic-billing-header: cc_version=1.2.3.abc; cc_entrypoint=cli;{suffix}");
            system.insert(0, json!({"type": "text", "text": words}));
        }
        if self.unknown_header {
            system.insert(0, json!({"type": "text", "text": format!("x-own-header: v=1;{suffix}")}));
        }
        let mut tools: Vec<Value> = ["Agent", "Bash", "Read"].map(tool).to_vec();
        if self.fewer_tools && is_fork {
            tools.remove(0);
        }
        json!({
            "model": "claude-opus-5-5",
            "messages": self.messages(who),
            "system": system,
            "tools": tools,
            "metadata": {"user_id": format!("{{\"agent\":\"{who}\"}}")},
            "max_tokens": 64_000,
            "thinking": {"type": "adaptive", "display": if is_fork { "omitted" } else { "updates" }},
            "output_config": {"effort": "medium"},
            "stream": true,
        })
    }

    fn messages(self, who: &str) -> Vec<Value> {
        let environment = json!([{"type": "text", "text": "cwd /srv/shop, branch main"}]);
        let flipped = if self.flips && who != "main" { environment[0]["text"].clone() } else { environment };
        let mut messages = vec![
            json!({"role": "user", "content": [{"type": "text", "text": "Look for floats in both modules."}]}),
            json!({"role": "system", "content": flipped, "output_config": {"effort": "medium"}}),
        ];
        match who {
            "main" => mark(messages.last_mut().unwrap()),
            "next" => {
                messages.push(self.answer(None));
                let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "started"});
                messages.push(json!({"role": "user", "content": [result("toolu_one"), result("toolu_two")]}));
                mark(messages.last_mut().unwrap());
            }
            fork => self.directive(fork, &mut messages),
        }
        messages
    }

    /// The fork's instructions after the history.
    fn directive(self, fork: &str, messages: &mut Vec<Value>) {
        messages.push(self.answer(self.own_call_only.then_some(fork)));
        let words = format!("<fork-boilerplate>You are a fork.</fork-boilerplate>\nLook at part {fork}.");
        let own = format!("toolu_{fork}");
        let content = if self.own_call_only {
            let result = json!({"type": "tool_result", "tool_use_id": own, "content": "That fork is you."});
            json!([result, {"type": "text", "text": words}])
        } else {
            let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "A fork started."});
            json!([result("toolu_one"), result("toolu_two"), {"type": "text", "text": words}])
        };
        messages.push(json!({"role": "user", "content": content}));
        let marked = messages.len() - if self.marks_before_directive { 2 } else { 1 };
        mark(&mut messages[marked]);
    }

    fn answer(self, own: Option<&str>) -> Value {
        let call = |part: &str| {
            let input = json!({"prompt": format!("Look at part {part}."), "subagent_type": "fork"});
            json!({"type": "tool_use", "id": format!("toolu_{part}"), "name": "Agent", "input": input})
        };
        let content = match own {
            Some(part) => json!([call(part)]),
            None => json!([{"type": "text", "text": "Two at once."}, call("one"), call("two")]),
        };
        json!({"role": "assistant", "content": content})
    }
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("{name} does what it says. ").repeat(40), "input_schema": {"type": "object"}})
}

/// A breakpoint on the last block of a message; a string cannot carry one.
fn mark(message: &mut Value) {
    if let Some(block) = message["content"].as_array_mut().and_then(|content| content.last_mut()) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn capture(chain: &str, parent: Option<&str>, (at_ms, first_byte_ms): (u64, u64), body: &Value) -> Capture {
    Capture {
        chain: Some(chain.to_owned()),
        parent: parent.map(str::to_owned),
        scope: "workspace".to_owned(),
        body: body.to_string(),
        at: Some(Instant::from_millis(at_ms)),
        first_byte_at: Some(Instant::from_millis(first_byte_ms)),
    }
}
