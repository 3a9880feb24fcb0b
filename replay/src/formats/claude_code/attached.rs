//! Attachments: content that the client itself adds to the next request (since 2.1.1xx each has a line).

use forkcast_sim::wire::BlockKind;

use super::message::Blocks;
use super::record::Record;
use super::records::{Place, Records};
use super::signs::{each, inside};
use crate::transcript::{Input, InputOrigin, Part, Sign, What, Wording};

/// Attachments that are not text of the prompt.
const SILENT: [&[u8]; 6] = [
    b"command_permissions",
    b"hook_success",
    b"hook_system_message",
    b"hook_non_blocking_error",
    b"hook_cancelled",
    b"hook_permission_decision",
];

/// Attachments that announce added or removed tools, servers, agents or skills.
const ANNOUNCING: [&[u8]; 4] =
    [b"deferred_tools_delta", b"mcp_instructions_delta", b"agent_listing_delta", b"skill_listing"];

impl<'a> Records<'a> {
    /// A line with an attachment.
    pub fn attachment_line(&mut self, place: Place, line: &Record<'a>, blocks: &Blocks<'a>) -> Option<u32> {
        let raw = line.attachment?;
        let found = attached(raw);
        self.hook(place, found.hook);
        if found.kind == b"hook_additional_context" && found.event == b"PostToolUse" {
            self.sign(place, Sign::HookContext);
        }
        if SILENT.contains(&found.kind) {
            return None;
        }
        if ANNOUNCING.contains(&found.kind) {
            let word = self.names.get(found.kind);
            self.sign(place, Sign::ToolsAnnounced(word));
        }
        let mut origin = InputOrigin::Attachment;
        if found.notifies {
            self.notified(place, found.prompt);
            origin = InputOrigin::Notification;
        }
        let json = found.rendered.unwrap_or(raw);
        let mut part = Part::of(BlockKind::Text, json);
        if let Some(measuring) = blocks.measuring {
            measuring.measure(&mut part, json);
        }
        let wording = blocks.keeps_content.then(|| Wording::new(raw, place.at));
        let input = Input { origin, parts: vec![part], wording: wording.into_iter().collect() };
        let input = What::Input(input);
        Some(self.agents[place.agent].push(place.line, place.at, input))
    }
}

/// The fields of an attachment.
#[derive(Default)]
struct Attached<'a> {
    /// `type`
    kind: &'a [u8],
    /// `hookName`
    hook: Option<&'a [u8]>,
    /// `hookEvent`
    event: &'a [u8],
    /// `prompt` of a queued command.
    prompt: &'a [u8],
    /// The queued command is a notification of a task.
    notifies: bool,
    /// The texts sent, if they are recorded (seen in 2.1.280).
    rendered: Option<&'a [u8]>,
}

fn attached(raw: &[u8]) -> Attached<'_> {
    let mut found = Attached::default();
    each(raw, |key, value| match key {
        b"type" => found.kind = inside(value).unwrap_or_default(),
        b"hookEvent" => found.event = inside(value).unwrap_or_default(),
        b"hookName" => found.hook = inside(value),
        b"prompt" => found.prompt = inside(value).unwrap_or_default(),
        b"commandMode" => found.notifies = value == b"\"task-notification\"",
        b"rendered" => found.rendered = Some(value),
        _ => {}
    });
    found
}
