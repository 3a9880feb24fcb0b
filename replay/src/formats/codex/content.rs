//! What one item of a rollout adds to the conversation, and on which side.

use std::borrow::Cow;

use forkcast_sim::wire::BlockKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Element;
use crate::formats::thread::{Names, call_part, part};
use crate::transcript::{Call, InputOrigin, Part, Spawn};

/// The effect of an item.
pub(super) enum Content<'a> {
    /// It is part of the next request.
    Given(InputOrigin, Vec<Part>),
    /// It is part of an answer.
    Made { part: Part, call: Option<Call>, searched: bool },
    /// The result of a call, which may show that an agent was started.
    Result { part: Part, output: Option<&'a RawValue> },
    /// It reaches no model.
    Nothing,
    /// Its kind is not in this table.
    Unknown,
}

/// A block from an element of `content`.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    text: Option<&'a RawValue>,
}

/// The tool that starts a sub-agent.
const SPAWNING: &str = "spawn_agent";

/// Classifies an item. `raw` is its JSON.
pub(super) fn sort<'a>(element: &Element<'a>, raw: &str, names: &mut Names) -> Content<'a> {
    match (&*element.kind, element.role.as_deref()) {
        ("message", Some("assistant")) => made(part(BlockKind::Text, raw)),
        ("message", role) => given(role, element.content, raw),
        ("reasoning", _) => made(part(BlockKind::Thinking, raw)),
        ("web_search_call", _) => Content::Made {
            part: part(BlockKind::ServerTool, raw),
            call: None,
            searched: element.action.is_some_and(|action| kind_of(action).is_some_and(|kind| kind == "search")),
        },
        ("image_generation_call", _) => made(part(BlockKind::ServerTool, raw)),
        ("agent_message", _) => Content::Given(InputOrigin::Directive, vec![part(BlockKind::Text, raw)]),
        ("additional_tools", _) => Content::Given(InputOrigin::Attachment, vec![part(BlockKind::Tool, raw)]),
        ("compaction" | "compaction_summary" | "context_compaction", _) => {
            Content::Given(InputOrigin::Summary, vec![part(BlockKind::Opaque, raw)])
        }
        ("ghost_snapshot" | "compaction_trigger" | "other", _) => Content::Nothing,
        (kind, _) if kind.ends_with("_call") => call(element, raw, names),
        (kind, _) if kind.ends_with("_output") => Content::Result {
            part: call_part(BlockKind::ToolResult, raw, element.call_id.as_deref()),
            output: element.output,
        },
        _ => Content::Unknown,
    }
}

fn made<'a>(part: Part) -> Content<'a> {
    Content::Made { part, call: None, searched: false }
}

fn call<'a>(element: &Element<'a>, raw: &str, names: &mut Names) -> Content<'a> {
    let id = element.call_id.as_deref();
    let tool = element.name.as_deref().unwrap_or(&element.kind);
    let spawn = (tool == SPAWNING).then(|| Box::new(spawn(element.arguments, names)));
    let call = Call { spawn, ..names.call(Some(tool), id) };
    Content::Made { part: call_part(BlockKind::ToolUse, raw, id), call: Some(call), searched: false }
}

#[derive(Deserialize)]
struct Spawning<'a> {
    #[serde(borrow)]
    agent_type: Option<Cow<'a, str>>,
}

/// Arguments are a string of JSON.
fn spawn(arguments: Option<&RawValue>, names: &mut Names) -> Spawn {
    let text = arguments.and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok()).unwrap_or_default();
    let kind = serde_json::from_str::<Spawning<'_>>(&text).ok().and_then(|spawning| spawning.agent_type);
    Spawn { kind: kind.map(|kind| names.get(&kind)), background: true, worktree: false, resumes: None }
}

fn kind_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Block<'_>>(raw.get()).ok()?.kind
}

fn given<'a>(role: Option<&str>, content: Option<&RawValue>, raw: &str) -> Content<'a> {
    let blocks: Vec<&RawValue> = content.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let origin = match role {
        Some("user") => origin(&blocks),
        _ => InputOrigin::Attachment,
    };
    let parts: Vec<Part> = blocks.iter().map(|block| part(block_kind(block), block.get())).collect();
    match parts.is_empty() {
        true => Content::Given(origin, vec![part(BlockKind::Text, raw)]),
        false => Content::Given(origin, parts),
    }
}

fn block_kind(block: &RawValue) -> BlockKind {
    match kind_of(block).as_deref() {
        Some("input_image" | "input_file" | "image") => BlockKind::Media,
        _ => BlockKind::Text,
    }
}

/// Text that the client itself adds to user messages begins with a tag.
fn origin(blocks: &[&RawValue]) -> InputOrigin {
    let first = blocks.iter().find_map(|raw| serde_json::from_str::<Block<'_>>(raw.get()).ok()?.text);
    let text = first.map_or("", |text| text.get().trim_start_matches('"'));
    if text.starts_with("<subagent_notification>") {
        InputOrigin::Notification
    } else if text.starts_with("<skill>") {
        InputOrigin::Injected
    } else if text.starts_with("<environment_context>")
        || text.starts_with("<user_instructions>")
        || text.starts_with("<turn_aborted>")
        || text.starts_with("# AGENTS.md instructions")
    {
        InputOrigin::Attachment
    } else {
        InputOrigin::Prompt
    }
}

#[derive(Deserialize)]
struct Started<'a> {
    #[serde(borrow)]
    agent_id: Cow<'a, str>,
}

/// The agent that was started according to the result of a call; results are a string of JSON.
pub(super) fn started(output: &RawValue) -> Option<String> {
    let text = serde_json::from_str::<Cow<'_, str>>(output.get()).ok()?;
    let started: Started<'_> = serde_json::from_str(&text).ok()?;
    Some(started.agent_id.into_owned())
}
