//! A block in a lock.

use super::digest::Digest;
use crate::diagnosis::{signs, tool_name};
use crate::wire::{BlockId, BlockKind, Level, PART_BYTES, Role, Wire, json, part_digest};

/// A block without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Level of the prompt.
    pub level: Level,
    /// Its kind.
    pub kind: BlockKind,
    /// The tool of a definition or a call; the role of a message's text or of a block of unknown type; the fields of
    /// parameters, each with the digest of its value, as `thinking#0a1b2c3d effort#4e5f6071`. After it the [`signs`] of
    /// the content, as `user summary#0a1b2c3d`, `Edit#0a1b2c3d`, `cleared`.
    pub name: String,
    /// Length of the canonical bytes; without content, of the content that was not kept.
    pub bytes: u64,
    /// Digest of the canonical bytes with level, role and kind.
    pub digest: Digest,
    /// Digests of each 256 canonical bytes, in order; none if the content was not kept.
    pub chunks: Vec<u32>,
    /// The canonical bytes as text, if the lock was asked to show them.
    pub content: Option<String>,
}

/// Hexadecimal digits of an id that replaces a name; the same length as in all anonymised output.
const ID_DIGITS: usize = 10;

impl Block {
    /// The block `id` of `wire`.
    pub(super) fn of(wire: &Wire, id: BlockId, show_content: bool, anonymous: bool) -> Self {
        let bytes = if wire.blocks.is_outline(id) { &[] } else { wire.blocks.bytes(id) };
        Self {
            level: wire.blocks.level(id),
            kind: wire.blocks.kind(id),
            name: name(wire, id, anonymous),
            bytes: wire.blocks.len_bytes(id),
            digest: Digest::of(&wire.blocks.digest(id)),
            chunks: bytes.chunks(PART_BYTES).map(part_digest).collect(),
            content: (show_content && !bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// Parameters, each with the digest of its value.
    pub(super) fn parameters(&self) -> Vec<(&str, &str)> {
        match self.kind {
            BlockKind::Parameters => self.name.split(' ').filter_map(|field| field.rsplit_once('#')).collect(),
            _ => Vec::new(),
        }
    }
}

fn name(wire: &Wire, id: BlockId, anonymous: bool) -> String {
    match wire.blocks.kind(id) {
        BlockKind::Tool | BlockKind::ToolUse | BlockKind::ServerTool => {
            let name = tool_name(&wire.blocks, id).unwrap_or_default();
            let shown = if anonymous && !name.is_empty() { anonymised("tool", &name) } else { name };
            format!("{shown}{}", signs(&wire.blocks, id))
        }
        BlockKind::Text | BlockKind::Opaque if wire.blocks.role(id) != Role::None => {
            format!("{} {}", wire.blocks.role(id).name(), signs(&wire.blocks, id)).trim_end().to_owned()
        }
        BlockKind::Text | BlockKind::ToolResult | BlockKind::Media => signs(&wire.blocks, id),
        BlockKind::Parameters => {
            let field = |(key, value): (&[u8], &[u8])| {
                // Fields are separated by blanks, so a key must not contain one.
                let key = json::string(key).unwrap_or_default().replace(' ', "_");
                format!("{key}#{:08x}", part_digest(value))
            };
            json::members(wire.blocks.bytes(id)).flatten().map(field).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

/// A stable id instead of a name: equal names have equal ids.
pub(super) fn anonymised(kind: &str, name: &str) -> String {
    let digest = blake3::hash(name.as_bytes()).to_hex();
    format!("{kind}-{}", digest.as_str().get(..ID_DIGITS).unwrap_or_default())
}
