//! Blocks without their content: digest, length, and digests of their parts.

use super::block::{BlockId, BlockKind, Blocks, Content};
use super::level::{Level, Role};
use super::number::number;

/// A block without its content, known by digest and length.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// Level of the prompt.
    pub level: Level,
    /// Role of its message; [`Role::None`] outside messages.
    pub role: Role,
    /// Its kind.
    pub kind: BlockKind,
    /// Digest of its content: blocks with equal digests count as equal.
    pub digest: u64,
    /// Length of its content; zero if unknown.
    pub len_bytes: u64,
}

/// Canonical bytes that one digest covers: the precision of offsets without content.
pub const PART_BYTES: usize = 256;

/// The first byte of an outline: no canonical JSON begins with it.
const OUTLINE: u8 = 1;

/// Bytes of an outline before its name: the mark, digest, length, and the length of the name.
const HEAD_BYTES: usize = 21;

/// The digest of a part: the first 32 bits of the digest of its bytes.
pub fn part_digest(bytes: &[u8]) -> u32 {
    blake3::hash(bytes).as_bytes().iter().take(4).fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

impl Blocks {
    /// The id of a block that is known by its outline. It never equals a block with content.
    pub fn outlined(&mut self, outline: Outline) -> BlockId {
        self.outlined_in_parts(outline, "", &[])
    }

    /// The same for a block with a name (of its tool) and digests of its parts of [`PART_BYTES`] each.
    pub fn outlined_in_parts(&mut self, outline: Outline, name: &str, parts: &[u32]) -> BlockId {
        let Outline { level, role, kind, digest, len_bytes } = outline;
        let name_bytes = number(name.len());
        let mut bytes = Vec::with_capacity(HEAD_BYTES + name.len() + parts.len() * 4);
        bytes.push(OUTLINE);
        bytes.extend_from_slice(&digest.to_le_bytes());
        bytes.extend_from_slice(&len_bytes.to_le_bytes());
        bytes.extend_from_slice(&name_bytes.to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
        parts.iter().for_each(|part| bytes.extend_from_slice(&part.to_le_bytes()));
        self.intern(Content { level, role, kind, bytes: &bytes })
    }

    /// Whether only an outline of the block is known, so that its bytes are not bytes that were sent.
    pub fn is_outline(&self, id: BlockId) -> bool {
        self.bytes(id).first() == Some(&OUTLINE)
    }

    /// Length of the canonical bytes; for an outline, of the content that it describes.
    pub fn len_bytes(&self, id: BlockId) -> u64 {
        match self.bytes(id) {
            [OUTLINE, outline @ ..] => {
                outline.get(8..16).and_then(<[u8]>::first_chunk).map_or(0, |len| u64::from_le_bytes(*len))
            }
            bytes => bytes.len() as u64,
        }
    }

    /// The name in an outline; `None` if it has none, or the block is no outline.
    pub fn outline_name(&self, id: BlockId) -> Option<&str> {
        let name = std::str::from_utf8(self.outline_tail(id)?.0).ok()?;
        (!name.is_empty()).then_some(name)
    }

    /// Digests of the parts of a block, from its content or from its outline; `None` if neither is known.
    pub fn parts(&self, id: BlockId) -> Option<Vec<u32>> {
        if !self.is_outline(id) {
            return Some(self.bytes(id).chunks(PART_BYTES).map(part_digest).collect());
        }
        let (parts, _) = self.outline_tail(id)?.1.as_chunks();
        (!parts.is_empty()).then(|| parts.iter().map(|part| u32::from_le_bytes(*part)).collect())
    }

    /// Name and part digests in the bytes of an outline.
    fn outline_tail(&self, id: BlockId) -> Option<(&[u8], &[u8])> {
        let (head, tail) = self.bytes(id).split_at_checked(HEAD_BYTES).filter(|(head, _)| head[0] == OUTLINE)?;
        let name_bytes = u32::from_le_bytes(*head.last_chunk()?);
        tail.split_at_checked(usize::try_from(name_bytes).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Outline, part_digest};
    use crate::wire::{BlockKind, Blocks, Content, Level, Role};

    #[test]
    fn outlines_have_the_length_of_their_content() {
        let mut blocks = Blocks::default();
        let one =
            Outline { level: Level::Messages, role: Role::User, kind: BlockKind::Text, digest: 7, len_bytes: 70_000 };
        let id = blocks.outlined(one);
        assert_eq!((blocks.len_bytes(id), blocks.is_outline(id), blocks.role(id)), (70_000, true, Role::User));
        assert_eq!(blocks.outlined(one), id);
        for other in [
            Outline { digest: 8, ..one },
            Outline { len_bytes: 1, ..one },
            Outline { role: Role::Assistant, ..one },
            Outline { kind: BlockKind::ToolUse, ..one },
        ] {
            assert_ne!(blocks.outlined(other), id);
        }
        let opaque = blocks.opaque(1, 7, BlockKind::Text, Level::Messages);
        assert!(!blocks.is_outline(opaque) && opaque != id);
    }

    #[test]
    fn an_outline_keeps_a_name_and_the_digests_of_parts() {
        let mut blocks = Blocks::default();
        let content = Content { level: Level::Tools, role: Role::None, kind: BlockKind::Tool, bytes: &[b'x'; 300] };
        let whole = blocks.intern(content);
        let parts = blocks.parts(whole).unwrap_or_default();
        assert_eq!(parts, [part_digest(&[b'x'; 256]), part_digest(&[b'x'; 44])]);
        let outline =
            Outline { level: Level::Tools, role: Role::None, kind: BlockKind::Tool, digest: 7, len_bytes: 300 };
        let id = blocks.outlined_in_parts(outline, "Read", &parts);
        assert_eq!((blocks.outline_name(id), blocks.parts(id), blocks.len_bytes(id)), (Some("Read"), Some(parts), 300));
        let bare = blocks.outlined(outline);
        assert_eq!((blocks.outline_name(bare), blocks.parts(bare), blocks.outline_name(whole)), (None, None, None));
        assert_ne!(id, bare);
    }
}
