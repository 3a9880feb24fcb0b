//! The words for kinds of blocks in a lock.

use crate::wire::BlockKind;

/// Every kind with its word.
const KINDS: [(BlockKind, &str); 9] = [
    (BlockKind::Tool, "tool"),
    (BlockKind::Text, "text"),
    (BlockKind::Thinking, "thinking"),
    (BlockKind::ToolUse, "tool_use"),
    (BlockKind::ToolResult, "tool_result"),
    (BlockKind::Media, "media"),
    (BlockKind::ServerTool, "server_tool"),
    (BlockKind::Parameters, "parameters"),
    (BlockKind::Opaque, "opaque"),
];

/// Written instead of the digests of 256 bytes if the content was not kept.
pub(super) const NO_CHUNKS: &str = "-";

/// The word for `kind`.
pub(super) fn word(kind: BlockKind) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("opaque", |(_, word)| word)
}

/// The kind that `word` means.
pub(super) fn kind(word: &str) -> Option<BlockKind> {
    KINDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
}

/// All words, for messages.
pub(super) fn words() -> String {
    KINDS.map(|(_, word)| word).join(", ")
}
