//! One record: the relevant members of a line, found in one pass.

use forkcast_sim::time::Instant;

use super::message::{Blocks, Message, not_null};
use super::usage;
use super::usage::whole;
use crate::formats::json::{ScanError, Scanner};
use crate::formats::when;
use crate::transcript::answer_id;

/// The members of a line. Strings are as written, including escapes.
#[derive(Debug, Default)]
pub(super) struct Record<'a> {
    /// `type`.
    pub kind: &'a [u8],
    /// `subtype` of a system line.
    pub subtype: &'a [u8],
    /// Hash of `uuid`.
    pub id: Option<u128>,
    /// Hash of `parentUuid`.
    pub parent: Option<u128>,
    /// `sessionId`.
    pub session: Option<&'a [u8]>,
    /// `agentId` of a sub-agent's line.
    pub agent: Option<&'a [u8]>,
    /// The line has an `agentName`: the session is a teammate's.
    pub teammate: bool,
    /// `isSidechain`.
    pub sidechain: bool,
    /// `timestamp`.
    pub at: Option<Instant>,
    /// `version` of the client.
    pub version: Option<&'a [u8]>,
    /// `cwd`.
    pub cwd: Option<&'a [u8]>,
    /// `effort`.
    pub effort: Option<&'a [u8]>,
    /// `isMeta`.
    pub meta: bool,
    /// `isCompactSummary`.
    pub summary: bool,
    /// `isVisibleInTranscriptOnly`.
    pub transcript_only: bool,
    /// `permissionMode` of a prompt, or `mode`.
    pub mode: Option<&'a [u8]>,
    /// `thinkingMetadata`, raw.
    pub thinking: Option<&'a [u8]>,
    /// `message`.
    pub message: Option<Message<'a>>,
    /// `toolUseResult`, as far as it concerns agents.
    pub result: ToolResult<'a>,
    /// `data` of a progress line.
    pub progress: Progress<'a>,
    /// `attachment`, raw.
    pub attachment: Option<&'a [u8]>,
    /// `operation` of a queue operation.
    pub operation: Option<&'a [u8]>,
    /// `content` of a system line or a queue operation.
    pub content: Option<&'a [u8]>,
    /// `compactMetadata` or `microcompactMetadata`, raw.
    pub compaction: Option<&'a [u8]>,
    /// `error` of a failed request, raw.
    pub error: Option<&'a [u8]>,
    /// `retryAttempt`.
    pub attempt: Option<u64>,
    /// `retryInMs`; the client writes fractions.
    pub retry_in_ms: Option<u64>,
    /// `durationMs`.
    pub duration_ms: Option<u64>,
}

/// The fields of a structured tool result that concern an agent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ToolResult<'a> {
    /// `agentId`.
    pub agent: Option<&'a [u8]>,
    /// `isAsync`, or a status with this meaning.
    pub background: bool,
    /// `totalTokens`.
    pub total_tokens: Option<u64>,
}

/// The fields of a progress line.
#[derive(Debug, Default)]
pub(super) struct Progress<'a> {
    /// `data.type`.
    pub kind: &'a [u8],
    /// `data.hookName`.
    pub hook: Option<&'a [u8]>,
    /// `data.agentId`.
    pub agent: Option<&'a [u8]>,
    /// The author of the message: `assistant` or `user`.
    pub speaker: &'a [u8],
    /// The message's own `uuid`.
    pub id: Option<u128>,
    /// The message's own `timestamp`.
    pub at: Option<Instant>,
    /// The message.
    pub message: Option<Message<'a>>,
}

impl<'a> Record<'a> {
    /// Reads the object at the cursor.
    pub fn read(cursor: &mut Scanner<'a>, blocks: &mut Blocks<'a>) -> Result<Self, ScanError> {
        blocks.clear();
        if cursor.peek() != Some(b'{') {
            return Err(ScanError { offset: cursor.offset(), expected: "a JSON object" });
        }
        cursor.enter(b'{')?;
        let mut line = Self::default();
        while let Some(key) = cursor.key()? {
            line.member(key, cursor, blocks)?;
        }
        Ok(line)
    }

    fn member(&mut self, key: &[u8], cursor: &mut Scanner<'a>, blocks: &mut Blocks<'a>) -> Result<(), ScanError> {
        match key {
            b"type" => self.kind = cursor.string()?.unwrap_or_default(),
            b"uuid" => self.id = cursor.string()?.map(answer_id),
            b"parentUuid" => self.parent = cursor.string()?.map(answer_id),
            b"sessionId" => self.session = cursor.string()?,
            b"agentId" => self.agent = cursor.string()?,
            b"timestamp" => self.at = instant(cursor)?,
            b"version" => self.version = cursor.string()?,
            b"cwd" => self.cwd = cursor.string()?,
            b"message" => self.message = Message::read(cursor, blocks)?,
            b"toolUseResult" => self.result = ToolResult::read(cursor)?,
            b"data" => self.progress = Progress::read(cursor, blocks)?,
            b"subtype" => self.subtype = cursor.string()?.unwrap_or_default(),
            b"effort" => self.effort = cursor.string()?,
            b"isSidechain" => self.sidechain = cursor.value()? == b"true",
            b"isMeta" => self.meta = cursor.value()? == b"true",
            b"isCompactSummary" => self.summary = cursor.value()? == b"true",
            b"isVisibleInTranscriptOnly" => self.transcript_only = cursor.value()? == b"true",
            _ => return self.rare(key, cursor),
        }
        Ok(())
    }

    fn rare(&mut self, key: &[u8], cursor: &mut Scanner<'a>) -> Result<(), ScanError> {
        match key {
            b"permissionMode" | b"mode" => self.mode = cursor.string()?,
            b"thinkingMetadata" => self.thinking = not_null(cursor.value()?),
            b"attachment" => self.attachment = Some(cursor.value()?),
            b"operation" => self.operation = cursor.string()?,
            b"content" => self.content = cursor.string()?,
            b"compactMetadata" | b"microcompactMetadata" => self.compaction = Some(cursor.value()?),
            b"error" => self.error = Some(cursor.value()?),
            b"retryAttempt" => self.attempt = whole(cursor.value()?),
            b"retryInMs" => self.retry_in_ms = rounded_down(cursor.value()?),
            b"durationMs" => self.duration_ms = rounded_down(cursor.value()?),
            b"agentName" => self.teammate = cursor.string()?.is_some(),
            _ => {
                cursor.value()?;
            }
        }
        Ok(())
    }
}

fn instant(cursor: &mut Scanner<'_>) -> Result<Option<Instant>, ScanError> {
    Ok(cursor.string()?.and_then(|text| when::iso(std::str::from_utf8(text).ok()?)))
}

/// The integer part of a number.
fn rounded_down(raw: &[u8]) -> Option<u64> {
    whole(raw.split(|byte| *byte == b'.').next()?)
}

impl<'a> ToolResult<'a> {
    fn read(cursor: &mut Scanner<'a>) -> Result<Self, ScanError> {
        let mut result = Self::default();
        if !cursor.enter(b'{')? {
            return Ok(result);
        }
        while let Some(key) = cursor.key()? {
            match key {
                b"agentId" => result.agent = cursor.string()?,
                b"isAsync" => result.background |= cursor.value()? == b"true",
                b"status" => result.background |= cursor.string()? == Some(b"async_launched"),
                b"totalTokens" => result.total_tokens = usage::count(cursor.value()?),
                _ => {
                    cursor.value()?;
                }
            }
        }
        Ok(result)
    }
}

impl<'a> Progress<'a> {
    fn read(cursor: &mut Scanner<'a>, blocks: &mut Blocks<'a>) -> Result<Self, ScanError> {
        let mut progress = Self::default();
        if !cursor.enter(b'{')? {
            return Ok(progress);
        }
        while let Some(key) = cursor.key()? {
            match key {
                b"type" => progress.kind = cursor.string()?.unwrap_or_default(),
                b"hookName" => progress.hook = cursor.string()?,
                b"agentId" => progress.agent = cursor.string()?,
                b"message" => progress.envelope(cursor, blocks)?,
                _ => {
                    cursor.value()?;
                }
            }
        }
        Ok(progress)
    }

    /// The message of a sub-agent, in an envelope like that of a line.
    fn envelope(&mut self, cursor: &mut Scanner<'a>, blocks: &mut Blocks<'a>) -> Result<(), ScanError> {
        if !cursor.enter(b'{')? {
            return Ok(());
        }
        while let Some(key) = cursor.key()? {
            match key {
                b"type" => self.speaker = cursor.string()?.unwrap_or_default(),
                b"uuid" => self.id = cursor.string()?.map(answer_id),
                b"timestamp" => self.at = instant(cursor)?,
                b"message" => self.message = Message::read(cursor, blocks)?,
                _ => {
                    cursor.value()?;
                }
            }
        }
        Ok(())
    }
}
