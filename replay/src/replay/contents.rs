//! What the blocks of prompts are, for reports that show what prompts were made of.

use std::collections::HashMap;
use std::sync::Arc;

use forkcast_sim::diagnosis::Subject;
use forkcast_sim::service::{Composition, Content, ContentKind};
use forkcast_sim::wire::{BlockId, BlockKind, Level, Role, Usage, Wire};
use serde_json::Value;

use crate::rebuild::history::History;
use crate::source::transcript::Piece;
use crate::transcript::{Call, Session};

/// Contents of the blocks of a stream, and the tools of its calls by their ids.
#[derive(Debug, Default)]
pub(super) struct Contents {
    of_block: HashMap<BlockId, Content>,
    tools: HashMap<String, Arc<str>>,
}

impl Contents {
    /// What a recorded request is made of.
    pub fn of_request(&mut self, wire: &Wire, subject: &Subject, usage: &Usage) -> Composition {
        let blocks = || subject.request.nodes.iter().filter_map(|node| wire.prefixes.block(*node));
        for block in blocks() {
            if !self.of_block.contains_key(&block) {
                let content = self.read(wire, block);
                self.of_block.insert(block, content);
            }
        }
        let contents = blocks().map(|block| &self.of_block[&block]);
        Composition::new(contents.zip(subject.cumulative.iter().copied()), usage, &ContentKind::Input.into())
    }

    fn read(&mut self, wire: &Wire, block: BlockId) -> Content {
        let kind = kind(wire.blocks.level(block), wire.blocks.role(block), wire.blocks.kind(block));
        let json = || serde_json::from_slice::<Value>(wire.blocks.bytes(block)).ok();
        let text = |json: &Value, keys: &[&str]| keys.iter().find_map(|key| json[key].as_str()).map(str::to_owned);
        match kind {
            ContentKind::Calls => {
                let json = json().unwrap_or(Value::Null);
                let name = text(&json, &["name"]).or_else(|| text(&json["function"], &["name"]));
                if let Some((id, name)) = text(&json, &["call_id", "id"]).zip(name) {
                    self.tools.insert(id, name.into());
                }
                kind.into()
            }
            ContentKind::Results => {
                let id = json().and_then(|json| text(&json, &["tool_use_id", "call_id", "tool_call_id"]));
                Content { kind, tool: id.and_then(|id| self.tools.get(&id).cloned()) }
            }
            kind => kind.into(),
        }
    }
}

/// The same for a session of a transcript, whose blocks are known by their kind.
#[derive(Debug, Default)]
pub(super) struct SessionContents {
    of_block: HashMap<BlockId, Content>,
    /// Tools of calls, by the hashes of their ids.
    tools: HashMap<u64, Arc<str>>,
}

impl SessionContents {
    /// Those of a session; none are noted before.
    pub fn new(session: &Session) -> Self {
        let answers = session.agents.iter().flat_map(|agent| &agent.thread.items).filter_map(|item| item.answer());
        let tools = answers.flat_map(|answer| &answer.calls).map(|Call { id, tool, .. }| (*id, tool.clone()));
        Self { tools: tools.collect(), of_block: HashMap::new() }
    }

    /// Notes a part that becomes a block.
    pub fn note(&mut self, block: BlockId, piece: &Piece<'_>) {
        let kind = kind(Level::Messages, piece.role, piece.part.kind);
        let tool = self.tools.get(&piece.part.call).filter(|_| kind == ContentKind::Results).cloned();
        self.of_block.insert(block, Content { kind, tool });
    }

    /// What a request with this history after `head` hidden tokens is made of.
    pub fn of_history(&self, history: &History, head: u64, usage: &Usage) -> Composition {
        let [hidden, input] = [ContentKind::Hidden, ContentKind::Input].map(Content::from);
        let known = history
            .entries()
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((self.of_block.get(&entry.block).unwrap_or(&input), history.end(at)?)));
        Composition::new(std::iter::once((&hidden, head)).chain(known), usage, &input)
    }
}

fn kind(level: Level, role: Role, kind: BlockKind) -> ContentKind {
    match (level, kind) {
        (Level::Tools, _) => ContentKind::Tools,
        (Level::System, _) => ContentKind::System,
        (_, BlockKind::Thinking) => ContentKind::Thinking,
        (_, BlockKind::ToolUse | BlockKind::ServerTool) => ContentKind::Calls,
        (_, BlockKind::ToolResult) => ContentKind::Results,
        _ if role == Role::Assistant => ContentKind::Answers,
        _ => ContentKind::Input,
    }
}
