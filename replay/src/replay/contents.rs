//! What the blocks of prompts are, for reports that show what prompts were made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use forkcast_sim::diagnosis::Subject;
use forkcast_sim::service::{Composition, Content, ContentKind};
use forkcast_sim::wire::{BlockId, BlockKind, Index, Level, Role, Usage, Wire};
use serde_json::Value;

use crate::rebuild::history::History;
use crate::source::transcript::Piece;
use crate::transcript::{Call, Session};

/// Distinct contents, and which of them each block has.
#[derive(Debug)]
struct Table {
    contents: Vec<Content>,
    of_block: Index<BlockId, usize>,
}

/// Places of contents that every table has.
const INPUT: usize = 0;
const HIDDEN: usize = 1;

impl Default for Table {
    fn default() -> Self {
        let contents = [ContentKind::Input, ContentKind::Hidden].map(Content::from);
        Self { contents: contents.to_vec(), of_block: Index::default() }
    }
}

impl Table {
    fn set(&mut self, block: BlockId, content: Content) {
        let place = self.contents.iter().position(|known| *known == content);
        let place = place.unwrap_or_else(|| {
            self.contents.push(content);
            self.contents.len() - 1
        });
        self.of_block.insert(block, place);
    }

    fn place(&self, block: BlockId) -> usize {
        self.of_block.get(&block).copied().unwrap_or(INPUT)
    }
}

/// Contents of the blocks of a stream, and the tools of its calls by their ids.
#[derive(Debug, Default)]
pub(super) struct Contents {
    table: Table,
    tools: BTreeMap<String, Arc<str>>,
}

impl Contents {
    /// What a recorded request is made of.
    pub fn of_request(&mut self, wire: &Wire, subject: &Subject, usage: &Usage) -> Composition {
        let blocks = || subject.request.nodes.iter().filter_map(|node| wire.prefixes.block(*node));
        for block in blocks() {
            if !self.table.of_block.contains(&block) {
                let content = self.read(wire, block);
                self.table.set(block, content);
            }
        }
        let places = blocks().map(|block| self.table.place(block));
        Composition::new(places.zip(subject.cumulative.iter().copied()), &self.table.contents, usage, INPUT)
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
#[derive(Debug)]
pub(super) struct SessionContents {
    table: Table,
    /// Tools of calls, by the hashes of their ids.
    tools: BTreeMap<u64, Arc<str>>,
}

impl SessionContents {
    /// Those of a session; no block is noted yet.
    pub fn new(session: &Session) -> Self {
        let answers = session.agents.iter().flat_map(|agent| &agent.thread.items).filter_map(|item| item.answer());
        let tools = answers.flat_map(|answer| &answer.calls).map(|Call { id, tool, .. }| (*id, tool.clone()));
        Self { tools: tools.collect(), table: Table::default() }
    }

    /// Notes a part that becomes a block.
    pub fn note(&mut self, block: BlockId, piece: &Piece<'_>) {
        let kind = kind(Level::Messages, piece.role, piece.part.kind);
        let tool = self.tools.get(&piece.part.call).filter(|_| kind == ContentKind::Results).cloned();
        self.table.set(block, Content { kind, tool });
    }

    /// What a request with this history after `head` hidden tokens is made of.
    pub fn of_history(&self, history: &History, head: u64, usage: &Usage) -> Composition {
        let entries = history.entries().iter().enumerate();
        let known = entries.filter_map(|(at, entry)| Some((self.table.place(entry.block), history.end(at)?)));
        Composition::new(std::iter::once((HIDDEN, head)).chain(known), &self.table.contents, usage, INPUT)
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
