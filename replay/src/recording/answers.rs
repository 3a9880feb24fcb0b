//! Answers as events: their calls and blocks.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::model::{Answer as Events, Delta, Event, Opened};
use forkcast_sim::wire::BlockKind;
use serde_json::json;

/// A call in an answer.
#[derive(Clone, Debug)]
pub struct Called {
    /// Its id.
    pub id: Rc<str>,
    /// The tool.
    pub name: Rc<str>,
    /// The JSON of its input, as the model wrote it.
    pub input: String,
}

/// The calls in an answer.
pub fn called(answer: &Events) -> Vec<Called> {
    let mut calls: BTreeMap<usize, Called> = BTreeMap::new();
    for event in &answer.events {
        match event {
            Event::BlockStart { index, block: Opened::ToolUse { id, name, .. } } => {
                calls.insert(*index, Called { id: Rc::clone(id), name: Rc::clone(name), input: String::new() });
            }
            Event::BlockDelta { index, delta: Delta::InputJson(more) } => {
                calls.get_mut(index).into_iter().for_each(|call| call.input.push_str(more));
            }
            _ => {}
        }
    }
    calls.into_values().collect()
}

/// The blocks of an answer as JSON, each with the number of its last event.
pub(super) fn blocks(answer: &Events) -> Vec<(String, usize)> {
    let mut blocks: BTreeMap<usize, (BlockKind, String, usize)> = BTreeMap::new();
    for (number, event) in answer.events.iter().enumerate() {
        match event {
            Event::BlockStart { index, block } => {
                let kind = match block {
                    Opened::Text => BlockKind::Text,
                    Opened::Thinking => BlockKind::Thinking,
                    Opened::ToolUse { .. } => BlockKind::ToolUse,
                };
                blocks.insert(*index, (kind, String::new(), number));
            }
            Event::BlockDelta { index, delta } if !matches!(delta, Delta::Signature(_)) => {
                blocks.get_mut(index).into_iter().for_each(|(_, said, last)| {
                    said.push_str(delta.text());
                    *last = number;
                });
            }
            _ => {}
        }
    }
    let mut calls = called(answer).into_iter();
    let json = |(kind, said, last): (BlockKind, String, usize)| {
        let block = match kind {
            BlockKind::Thinking => json!({ "type": "thinking", "thinking": said }),
            BlockKind::ToolUse => {
                let call = calls.next()?;
                let input: serde_json::Value = serde_json::from_str(&call.input).unwrap_or_else(|_| json!({}));
                json!({ "type": "tool_use", "id": *call.id, "name": *call.name, "input": input })
            }
            _ => json!({ "type": "text", "text": said }),
        };
        Some((block.to_string(), last))
    };
    blocks.into_values().filter_map(json).collect()
}
