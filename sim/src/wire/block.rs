//! Interned blocks: equal canonical bytes get one id. They are compared byte by byte once, when they enter.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::level::{Level, Role};
use super::number::number;
use super::order::TOOL_REFERENCE;
use super::outline::Outline;
use crate::outside::words;

/// An interned block. Ids are given in order of first appearance and are only meaningful within their [`Blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub(crate) u32);

words! {
    /// Kind of a block, as far as cache rules distinguish kinds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
    pub enum BlockKind {
        /// An entry of `tools`.
        Tool = "tool",
        /// Text of the prompt, in `system` or in a message.
        Text = "text",
        /// `thinking` or `redacted_thinking`: cannot carry a breakpoint.
        Thinking = "thinking",
        /// A call of a client-side tool.
        ToolUse = "tool_use",
        /// The result of a client-side tool.
        ToolResult = "tool_result",
        /// An image or a document.
        Media = "media",
        /// A call of a server-side tool or its result.
        ServerTool = "server_tool",
        /// A level's parameters or a message's own keys: part of the identity, no position of its own.
        Parameters = "parameters",
        /// An unknown type; its bytes count like any other's.
        Opaque = "opaque",
    }
}

/// All distinct blocks of a run.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    ids: HashTable<BlockId>,
    rows: Vec<StoredBlock>,
    bytes: Vec<u8>,
    /// A bit for each kind of which there is a block.
    kinds: u16,
    /// Plain blocks of messages are kept as outlines.
    is_unread: bool,
}

#[derive(Clone, Copy, Debug)]
struct StoredBlock {
    start: usize,
    len: u32,
    hash: u64,
    kind: BlockKind,
    level: Level,
    role: Role,
}

/// A block about to be interned: its bytes and the rest of its identity.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// Level of the prompt.
    pub level: Level,
    /// Role of its message; [`Role::None`] outside messages.
    pub role: Role,
    /// Its kind.
    pub kind: BlockKind,
    /// Canonical bytes.
    pub bytes: &'a [u8],
}

impl<'a> Content<'a> {
    /// The parameters of `level` as a block.
    pub const fn parameters(level: Level, bytes: &'a [u8]) -> Self {
        Self { level, role: Role::None, kind: BlockKind::Parameters, bytes }
    }

    /// Digest of the canonical bytes with level, role and kind, for use outside the process.
    pub fn digest(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&tag(self.level, self.role, self.kind).to_le_bytes());
        hasher.update(self.bytes);
        hasher.finalize()
    }
}

/// Longest block of a message, in canonical bytes, that [`Blocks::unread`] keeps: an outline is shorter.
const UNREAD_MAX: usize = 64;

impl Blocks {
    /// For runs in which messages are not read again: of their texts, calls and results only digest and length are kept.
    /// Two of one length would have to collide in 64 bits to count as one.
    #[must_use]
    pub fn unread(self) -> Self {
        Self { is_unread: true, ..self }
    }

    /// No blocks yet, with capacity for this many bytes of them.
    pub fn with_bytes(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// The id of `content`, new or existing.
    pub fn intern(&mut self, content: Content<'_>) -> BlockId {
        let Content { level, role, kind, bytes } = content;
        if self.is_unread && level == Level::Messages && bytes.len() > UNREAD_MAX && is_plain(&content) {
            let (digest, len_bytes) = (xxh3_64(bytes), bytes.len() as u64);
            return self.outlined(Outline { level, role, kind, digest, len_bytes });
        }
        let hash = xxh3_64(bytes) ^ tag(level, role, kind);
        let rows = &self.rows;
        let bytes = &self.bytes;
        let known = self.ids.find(hash, |id| same(&rows[id.0 as usize], bytes, &content));
        if let Some(id) = known {
            return *id;
        }
        self.append(content, hash)
    }

    /// The id of an opaque block: its content is not known, only that equal numbers in one namespace mean equal
    /// content. It never equals a block with known content.
    pub fn opaque(&mut self, namespace: u64, id: u128, kind: BlockKind, level: Level) -> BlockId {
        // No canonical JSON begins with a zero byte.
        let mut bytes = [0; 25];
        bytes[1..9].copy_from_slice(&namespace.to_le_bytes());
        bytes[9..].copy_from_slice(&id.to_le_bytes());
        self.intern(Content { level, role: Role::None, kind, bytes: &bytes })
    }

    fn append(&mut self, content: Content<'_>, hash: u64) -> BlockId {
        let id = BlockId(number(self.rows.len()));
        self.kinds |= 1 << content.kind as u16;
        self.rows.push(StoredBlock {
            start: self.bytes.len(),
            len: number(content.bytes.len()),
            hash,
            kind: content.kind,
            level: content.level,
            role: content.role,
        });
        self.bytes.extend_from_slice(content.bytes);
        let rows = &self.rows;
        self.ids.insert_unique(hash, id, |id| rows[id.0 as usize].hash);
        id
    }

    /// Canonical bytes of a block: its JSON in the normal spelling, without the breakpoint.
    pub fn bytes(&self, id: BlockId) -> &[u8] {
        let row = self.row(id);
        &self.bytes[row.start..row.start + row.len as usize]
    }

    /// Kind of the block.
    pub fn kind(&self, id: BlockId) -> BlockKind {
        self.row(id).kind
    }

    /// Whether any block has this kind.
    pub const fn has_kind(&self, kind: BlockKind) -> bool {
        self.kinds & (1 << kind as u16) != 0
    }

    /// Level of the prompt that the block belongs to.
    pub fn level(&self, id: BlockId) -> Level {
        self.row(id).level
    }

    /// Role of the block's message.
    pub fn role(&self, id: BlockId) -> Role {
        self.row(id).role
    }

    /// Digest of the canonical bytes with level, role and kind, for use outside the process.
    pub fn digest(&self, id: BlockId) -> blake3::Hash {
        let StoredBlock { kind, level, role, .. } = *self.row(id);
        Content { level, role, kind, bytes: self.bytes(id) }.digest()
    }

    /// A hash of the canonical bytes with level, role and kind, only to be compared for equality, also between runs.
    pub(super) fn content_hash(&self, id: BlockId) -> u64 {
        self.row(id).hash
    }

    /// How many distinct blocks there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no block was interned.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of all blocks together.
    pub fn total_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn row(&self, id: BlockId) -> &StoredBlock {
        &self.rows[id.0 as usize]
    }
}

/// Whether length and digest of a block of a message suffice for every rule: results may name tools or hold images.
fn is_plain(content: &Content<'_>) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(content.bytes, word).is_some();
    match content.kind {
        BlockKind::Text | BlockKind::ToolUse => true,
        BlockKind::ToolResult => !has(TOOL_REFERENCE) && !has(b"\"image/"),
        _ => false,
    }
}

fn same(row: &StoredBlock, bytes: &[u8], content: &Content<'_>) -> bool {
    row.level == content.level
        && row.role == content.role
        && row.kind == content.kind
        && bytes[row.start..row.start + row.len as usize] == *content.bytes
}

/// Level, role and kind as a number, so that equal bytes with another meaning are different blocks: the keys of a
/// message are no content, though both are JSON objects.
const fn tag(level: Level, role: Role, kind: BlockKind) -> u64 {
    (level as u64) << 16 | (role as u64) << 8 | kind as u64
}

#[cfg(test)]
mod tests {
    use super::{BlockKind, Blocks, Content, Level, Role};

    #[test]
    fn opaque_blocks_equal_only_themselves() {
        let mut blocks = Blocks::default();
        let one = blocks.opaque(1, 7, BlockKind::Opaque, Level::Messages);
        assert_eq!(blocks.opaque(1, 7, BlockKind::Opaque, Level::Messages), one);
        assert_ne!(blocks.opaque(2, 7, BlockKind::Opaque, Level::Messages), one);
        assert_ne!(blocks.opaque(1, 8, BlockKind::Opaque, Level::Messages), one);
        let text = Content { level: Level::Messages, role: Role::None, kind: BlockKind::Opaque, bytes: b"7" };
        assert_ne!(blocks.intern(text), one);
    }
}
