//! Reads elements of `tools`, `system` and `messages` into parts: the contribution of one element to a prompt.

use memchr::memmem;

use super::block::{BlockId, BlockKind, Blocks, Content};
use super::json::{self, Member, ScanError};
use super::level::{Level, Role};
use super::marker::Ttl;
use super::normal::{self, NormalForms};
use super::number::number;
use super::order;
use super::request::BadMarkerWhy;

/// One interned block of an element, with the facts that the rules need besides its identity.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The interned block.
    pub block: BlockId,
    /// Its kind.
    pub kind: BlockKind,
    /// Role of its message.
    pub role: Role,
    /// Index in the message's `content`.
    pub index: u32,
    /// Breakpoint on the block.
    pub marker: Option<Ttl>,
    /// A breakpoint on its message or on a part of a tool result, which providers refuse.
    pub misplaced_marker: Option<BadMarkerWhy>,
    /// Hash of the id that ties a tool call to its result; zero for other blocks. Equal ids have equal hashes; if the
    /// ids of two calls of one message collided, their results would only keep the order in which they were sent.
    pub call: u64,
    /// Why the block is not part of the identity, if it is not.
    pub place: PartPlace,
    /// A text block without text, which cannot carry a breakpoint.
    pub empty: bool,
    /// The block is or holds an image.
    pub image: bool,
    /// A document with citations switched on.
    pub citations: bool,
    /// It names tools to be loaded (`tool_reference`).
    pub names_tools: bool,
}

/// Position of a part in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartPlace {
    /// At its own position.
    Prompt,
    /// In the head of the system level: the definition of a tool that changes the system text.
    SystemHead,
    /// Excluded: a client's billing header, a tool with deferred loading, thinking that is stripped.
    Excluded,
    /// Excluded: replaced by a summary of the provider's.
    Compacted,
}

/// The contribution of one element of an array.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// Its blocks in the order sent.
    pub parts: Vec<Part>,
}

/// First words of a system text of Claude Code that the provider removes (`clients.md` 1, client 2.1.330, 2026-11).
const BILLING_HEADER: &[u8] = b"\"x-anthropic-billing-header";

/// Reads elements of one request body.
#[derive(Debug)]
pub struct ElementReader<'a> {
    /// Where blocks are interned.
    pub blocks: &'a mut Blocks,
    /// Normal forms in force.
    pub forms: &'a NormalForms,
}

impl ElementReader<'_> {
    /// Reads one element of `level`.
    ///
    /// # Errors
    /// When the element is not an object of the shape that its level requires.
    pub fn read(&mut self, level: Level, raw: &[u8]) -> Result<Element, ScanError> {
        let raw = &*json::plain(raw);
        match level {
            Level::Tools => self.tool(raw),
            Level::System => self.system(raw),
            Level::Messages => self.message(raw),
        }
    }

    /// Reads one tool definition, system block, or content block of a message with `role`.
    ///
    /// A value that is not an object is taken as it is: the maker of a piece is responsible for it.
    pub fn piece(&mut self, level: Level, role: Role, raw: &[u8]) -> Part {
        let spelled = &*json::plain(raw);
        let part = match level {
            Level::Tools => self.tool_part(spelled),
            Level::System => self.system_part(spelled),
            Level::Messages => self.block(level, role, spelled),
        };
        part.unwrap_or_else(|_| self.part(level, role, BlockKind::Opaque, raw))
    }

    fn tool(&mut self, raw: &[u8]) -> Result<Element, ScanError> {
        Ok(Element { parts: vec![self.tool_part(raw)?] })
    }

    fn tool_part(&mut self, raw: &[u8]) -> Result<Part, ScanError> {
        let members = json::members(raw).collect::<Result<Vec<_>, _>>()?;
        let mut bytes = Vec::with_capacity(raw.len());
        normal::push_envelope(&members, self.forms, &mut bytes)?;
        let mut part = self.part(Level::Tools, Role::None, BlockKind::Tool, &bytes);
        part.marker = normal::marker(&members);
        if named(&members, b"\"defer_loading\"") == Some(b"true") {
            part.place = PartPlace::Excluded;
        } else if named(&members, b"\"type\"").is_some_and(|name| name.starts_with(b"\"web_search_")) {
            // Adding or removing web search alters the system text and leaves the tools valid
            // (prompt-caching page, "what invalidates the cache", 2026-09).
            part.place = PartPlace::SystemHead;
        }
        Ok(part)
    }

    fn system(&mut self, raw: &[u8]) -> Result<Element, ScanError> {
        Ok(Element { parts: vec![self.system_part(raw)?] })
    }

    fn system_part(&mut self, raw: &[u8]) -> Result<Part, ScanError> {
        let mut part = self.block(Level::System, Role::None, raw)?;
        if json::member(raw, b"\"text\"").is_some_and(|text| text.starts_with(BILLING_HEADER)) {
            part.place = PartPlace::Excluded;
        }
        Ok(part)
    }

    /// The block that a plain-string system prompt means.
    pub fn system_string(&mut self, raw: &[u8]) -> Element {
        let raw = &*json::plain(raw);
        let mut part = self.string(Level::System, Role::None, raw);
        if raw.starts_with(BILLING_HEADER) {
            part.place = PartPlace::Excluded;
        }
        Element { parts: vec![part] }
    }

    fn message(&mut self, raw: &[u8]) -> Result<Element, ScanError> {
        let mut role = Role::Other;
        let mut content = None;
        let mut own_keys = Vec::new();
        let members = json::members(raw).collect::<Result<Vec<_>, _>>()?;
        for (key, value) in normal::enveloped(&members) {
            match key {
                b"\"role\"" => role = json::string(value).map_or(Role::Other, |name| Role::named(&name)),
                b"\"content\"" => content = Some(value),
                _ => own_keys.push((key, value)),
            }
        }
        let mut parts = Vec::new();
        if !own_keys.is_empty() {
            parts.push(self.own_keys(role, &own_keys));
        }
        self.content(role, content, &mut parts)?;
        if let Some(first) = parts.first_mut().filter(|_| normal::marker(&members).is_some()) {
            first.misplaced_marker = Some(BadMarkerWhy::OnMessage);
        }
        Ok(Element { parts })
    }

    /// The message's own keys (such as `output_config`) as a block before its content.
    fn own_keys(&mut self, role: Role, keys: &[(&[u8], &[u8])]) -> Part {
        let mut bytes = Vec::new();
        normal::push_members(keys.iter().copied(), &mut bytes);
        self.part(Level::Messages, role, BlockKind::Parameters, &bytes)
    }

    fn content(&mut self, role: Role, raw: Option<&[u8]>, parts: &mut Vec<Part>) -> Result<(), ScanError> {
        match raw.and_then(|raw| Some((raw, *raw.first()?))) {
            Some((raw, b'"')) => parts.push(self.string(Level::Messages, role, raw)),
            Some((raw, b'[')) => {
                for (index, element) in json::elements(raw).enumerate() {
                    let mut part = self.block(Level::Messages, role, element?)?;
                    part.index = number(index);
                    parts.push(part);
                }
            }
            Some((raw, _)) if !json::is_null(raw) => parts.push(self.opaque(Level::Messages, role, raw)?),
            _ => {}
        }
        Ok(())
    }

    fn string(&mut self, level: Level, role: Role, raw: &[u8]) -> Part {
        let mut bytes = Vec::with_capacity(raw.len() + 24);
        if self.forms.string_is_block {
            normal::push_text_block(raw, &mut bytes);
        } else {
            json::normalise(raw, &mut bytes);
        }
        let mut part = self.part(level, role, BlockKind::Text, &bytes);
        part.empty = raw == b"\"\"";
        part
    }

    fn block(&mut self, level: Level, role: Role, raw: &[u8]) -> Result<Part, ScanError> {
        match raw.first() {
            Some(b'{') => {}
            Some(b'"') => return Ok(self.string(level, role, raw)),
            _ => return self.opaque(level, role, raw),
        }
        // Long texts are scanned once for all questions.
        let members = json::members(raw).collect::<Result<Vec<_>, _>>()?;
        let kind = kind(&members);
        let mut part = if kind == BlockKind::Opaque {
            self.opaque(level, role, raw)?
        } else {
            let mut bytes = Vec::with_capacity(raw.len());
            normal::push_envelope(&members, self.forms, &mut bytes)?;
            self.part(level, role, kind, &bytes)
        };
        part.marker = normal::marker(&members);
        describe(&members, &mut part);
        Ok(part)
    }

    fn opaque(&mut self, level: Level, role: Role, raw: &[u8]) -> Result<Part, ScanError> {
        let mut bytes = Vec::with_capacity(raw.len());
        normal::push_opaque(raw, &mut bytes)?;
        Ok(self.part(level, role, BlockKind::Opaque, &bytes))
    }

    fn part(&mut self, level: Level, role: Role, kind: BlockKind, bytes: &[u8]) -> Part {
        Part {
            block: self.blocks.intern(Content { level, role, kind, bytes }),
            kind,
            role,
            index: 0,
            marker: None,
            misplaced_marker: None,
            call: 0,
            place: PartPlace::Prompt,
            empty: false,
            image: false,
            citations: false,
            names_tools: false,
        }
    }
}

/// The same for members that were already read.
fn named<'a>(members: &[Member<'a>], key: &[u8]) -> Option<&'a [u8]> {
    members.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| *value)
}

fn kind(members: &[Member<'_>]) -> BlockKind {
    match named(members, b"\"type\"") {
        Some(b"\"text\"") => BlockKind::Text,
        Some(b"\"thinking\"" | b"\"redacted_thinking\"") => BlockKind::Thinking,
        Some(b"\"tool_use\"") => BlockKind::ToolUse,
        Some(b"\"tool_result\"") => BlockKind::ToolResult,
        Some(b"\"image\"" | b"\"document\"") => BlockKind::Media,
        Some(b"\"server_tool_use\"" | b"\"mcp_tool_use\"") => BlockKind::ServerTool,
        Some(name) if name.ends_with(b"_tool_result\"") => BlockKind::ServerTool,
        _ => BlockKind::Opaque,
    }
}

/// Fills in the facts that the rules need about a message block besides its bytes.
fn describe(members: &[Member<'_>], part: &mut Part) {
    let id = match part.kind {
        BlockKind::ToolUse => named(members, b"\"id\""),
        BlockKind::ToolResult => named(members, b"\"tool_use_id\""),
        _ => None,
    };
    part.call = id.map_or(0, call);
    part.empty = part.kind == BlockKind::Text && named(members, b"\"text\"") == Some(b"\"\"");
    part.image = match part.kind {
        BlockKind::Media => named(members, b"\"type\"") == Some(b"\"image\""),
        BlockKind::ToolResult => holds_image(members),
        _ => false,
    };
    part.misplaced_marker = match part.kind {
        BlockKind::ToolResult => marked_within(members).map(|index| BadMarkerWhy::WithinResult { index }),
        _ => None,
    };
    part.names_tools = matches!(part.kind, BlockKind::ToolResult | BlockKind::ServerTool)
        && members.iter().any(|(_, value)| memmem::find(value, order::TOOL_REFERENCE).is_some());
    part.citations = part.kind == BlockKind::Media
        && named(members, b"\"citations\"").and_then(|value| json::member(value, b"\"enabled\"")) == Some(b"true");
}

/// The number of an id, with any escapes.
fn call(id: &[u8]) -> u64 {
    let mut spelled = Vec::new();
    let id = if memchr::memchr(b'\\', id).is_some() {
        json::normalise(id, &mut spelled);
        &spelled
    } else {
        id
    };
    xxhash_rust::xxh3::xxh3_64(id) | 1
}

fn holds_image(members: &[Member<'_>]) -> bool {
    parts_within(members).is_some_and(|content| {
        json::elements(content).flatten().any(|block| json::member(block, b"\"type\"") == Some(b"\"image\""))
    })
}

fn marked_within(members: &[Member<'_>]) -> Option<u32> {
    let content = parts_within(members).filter(|content| memmem::find(content, normal::MARKER_KEY).is_some())?;
    let marked = |block| json::member(block, normal::MARKER_KEY).is_some_and(|marker| !json::is_null(marker));
    json::elements(content).flatten().position(marked).map(number)
}

/// The list of a tool result's content.
fn parts_within<'a>(members: &[Member<'a>]) -> Option<&'a [u8]> {
    named(members, b"\"content\"").filter(|content| content.first() == Some(&b'['))
}
