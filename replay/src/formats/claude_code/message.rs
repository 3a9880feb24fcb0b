//! The message of a line: the model, the usage, and its blocks, measured.

use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;

use crate::formats::json::{ScanError, Scanner};
use crate::transcript::{Measuring, Part, Wording, call_id};

/// The message of a line. Its blocks are in [`Blocks`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Message<'a> {
    /// The provider's id of the answer.
    pub id: Option<&'a [u8]>,
    /// The model as spelled.
    pub model: Option<&'a [u8]>,
    /// `stop_reason`; `None` also if it is null.
    pub stop: Option<&'a [u8]>,
    /// The usage object, raw.
    pub usage: Option<&'a [u8]>,
    /// `diagnostics`, raw.
    pub diagnostics: Option<&'a [u8]>,
    /// `context_management`, raw.
    pub context: Option<&'a [u8]>,
}

/// A call of a tool as written.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawCall<'a> {
    /// Hash of its id.
    pub id: u64,
    /// The tool.
    pub tool: &'a [u8],
    /// Its input, raw.
    pub input: &'a [u8],
}

/// Lengths of the parts of an answer, in bytes as written: the basis of its estimated tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lengths {
    /// Text.
    pub text: u64,
    /// Readable thinking.
    pub thinking: u64,
    /// Signatures of thinking, and unreadable thinking.
    pub signature: u64,
    /// Blocks of thinking.
    pub thoughts: u64,
    /// Inputs of tools.
    pub input: u64,
    /// Calls of tools.
    pub calls: u64,
}

impl Lengths {
    /// Adds the lengths of another line.
    pub const fn add(&mut self, other: Self) {
        self.text = self.text.saturating_add(other.text);
        self.thinking = self.thinking.saturating_add(other.thinking);
        self.signature = self.signature.saturating_add(other.signature);
        self.thoughts = self.thoughts.saturating_add(other.thoughts);
        self.input = self.input.saturating_add(other.input);
        self.calls = self.calls.saturating_add(other.calls);
    }
}

/// The blocks of one message, in buffers that are reused for every line.
#[derive(Debug, Default)]
pub(super) struct Blocks<'a> {
    /// The blocks.
    pub parts: Vec<Part>,
    /// The calls among them.
    pub calls: Vec<RawCall<'a>>,
    /// The first text, escapes as written.
    pub head: Option<&'a [u8]>,
    /// The number of tool results.
    pub results: usize,
    /// The call of the first result.
    pub answers_call: u64,
    /// For the estimate of output.
    pub lengths: Lengths,
    /// A server tool ran.
    pub server_tool: bool,
    /// Counts tokens if counted sizes were requested.
    pub measuring: Option<&'a Measuring>,
    /// Keeps the JSON of blocks in `raw`.
    pub keeps_content: bool,
    /// The JSON of each block, in step with `parts`; empty unless content is kept.
    pub raw: Vec<&'a [u8]>,
}

impl Blocks<'_> {
    /// The blocks as recorded at `at`, if content is kept.
    pub fn wording(&self, at: Option<Instant>) -> Vec<Wording> {
        self.raw.iter().map(|json| Wording::new(json, at)).collect()
    }

    /// Empties the buffers.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.raw.clear();
        self.calls.clear();
        (self.head, self.results, self.answers_call) = (None, 0, 0);
        (self.lengths, self.server_tool) = (Lengths::default(), false);
    }
}

impl<'a> Message<'a> {
    /// Reads the message at the cursor; `None` for another value.
    pub fn read(cursor: &mut Scanner<'a>, blocks: &mut Blocks<'a>) -> Result<Option<Self>, ScanError> {
        if !cursor.enter(b'{')? {
            return Ok(None);
        }
        blocks.clear();
        let mut message = Self::default();
        while let Some(key) = cursor.key()? {
            match key {
                b"id" => message.id = cursor.string()?,
                b"model" => message.model = cursor.string()?,
                b"stop_reason" => message.stop = cursor.string()?,
                b"usage" => message.usage = not_null(cursor.value()?),
                b"diagnostics" => message.diagnostics = not_null(cursor.value()?),
                b"context_management" => message.context = not_null(cursor.value()?),
                b"content" => content(cursor, blocks)?,
                _ => {
                    cursor.value()?;
                }
            }
        }
        Ok(Some(message))
    }
}

/// `None` for a null.
pub(super) fn not_null(raw: &[u8]) -> Option<&[u8]> {
    (raw != b"null").then_some(raw)
}

fn content<'a>(cursor: &mut Scanner<'a>, blocks: &mut Blocks<'a>) -> Result<(), ScanError> {
    match cursor.peek() {
        Some(b'"') => {
            let start = cursor.offset();
            let text = cursor.string()?.unwrap_or_default();
            blocks.head = Some(text);
            blocks.lengths.text += text.len() as u64;
            blocks.put(BlockKind::Text, cursor.since(start), 0);
        }
        Some(b'[') => {
            cursor.enter(b'[')?;
            while cursor.element()? {
                block(cursor, blocks)?;
            }
        }
        _ => {
            cursor.value()?;
        }
    }
    Ok(())
}

/// The fields of a block.
#[derive(Default)]
struct Raw<'a> {
    kind: &'a [u8],
    id: Option<&'a [u8]>,
    answers: Option<&'a [u8]>,
    name: &'a [u8],
    input: &'a [u8],
    text: Option<&'a [u8]>,
    thinking: u64,
    signature: u64,
}

fn block<'a>(cursor: &mut Scanner<'a>, blocks: &mut Blocks<'a>) -> Result<(), ScanError> {
    cursor.peek();
    let start = cursor.offset();
    if !cursor.enter(b'{')? {
        blocks.put(BlockKind::Text, cursor.since(start), 0);
        return Ok(());
    }
    let mut raw = Raw::default();
    while let Some(key) = cursor.key()? {
        match key {
            b"type" => raw.kind = cursor.string()?.unwrap_or_default(),
            b"id" => raw.id = cursor.string()?,
            b"tool_use_id" => raw.answers = cursor.string()?,
            b"name" => raw.name = cursor.string()?.unwrap_or_default(),
            b"input" => raw.input = cursor.value()?,
            b"text" => raw.text = cursor.string()?,
            b"thinking" => raw.thinking = length(cursor.string()?),
            b"signature" | b"data" => raw.signature = length(cursor.string()?),
            _ => {
                cursor.value()?;
            }
        }
    }
    blocks.add(&raw, cursor.since(start));
    Ok(())
}

fn length(text: Option<&[u8]>) -> u64 {
    text.map_or(0, |text| text.len() as u64)
}

impl<'a> Blocks<'a> {
    fn add(&mut self, raw: &Raw<'a>, json: &'a [u8]) {
        let mut call = 0;
        let kind = match raw.kind {
            b"text" => {
                self.head = self.head.or(raw.text);
                self.lengths.text += length(raw.text);
                BlockKind::Text
            }
            b"thinking" | b"redacted_thinking" => {
                self.lengths.thinking += raw.thinking;
                self.lengths.signature += raw.signature;
                self.lengths.thoughts += 1;
                BlockKind::Thinking
            }
            b"tool_use" => {
                call = raw.id.map_or(0, call_id);
                self.lengths.input += raw.input.len() as u64;
                self.lengths.calls += 1;
                self.calls.push(RawCall { id: call, tool: raw.name, input: raw.input });
                BlockKind::ToolUse
            }
            b"tool_result" => {
                call = raw.answers.map_or(0, call_id);
                if self.results == 0 {
                    self.answers_call = call;
                }
                self.results += 1;
                BlockKind::ToolResult
            }
            b"image" | b"document" => BlockKind::Media,
            kind if is_of_server(kind) => {
                self.server_tool |= kind == b"server_tool_use";
                BlockKind::ServerTool
            }
            _ => BlockKind::Opaque,
        };
        self.put(kind, json, call);
    }

    fn put(&mut self, kind: BlockKind, json: &'a [u8], call: u64) {
        let mut part = Part { call, ..Part::of(kind, json) };
        if let Some(measuring) = self.measuring {
            measuring.measure(&mut part, json);
        }
        self.parts.push(part);
        if self.keeps_content {
            self.raw.push(json);
        }
    }
}

/// `server_tool_use`, and results such as `web_search_tool_result`.
fn is_of_server(kind: &[u8]) -> bool {
    kind == b"server_tool_use" || kind.ends_with(b"_tool_result")
}
