//! Streamed answers. Event grammar: Anthropic streaming page (2026-09); kinds that it does not name are tolerated and counted.

use super::messages::{applied_edits, is_server_tool_use, usage};
use super::sse::{Frame, frames};
use super::tokens::{Fields, fields};
use super::{Answer, dialects};
use crate::exchange::Dialect;
use crate::formats::json::{member, member_text};
use crate::formats::text::json_reason;

/// Reads a stream in the event grammar of its dialect.
pub(super) fn read(dialect: Dialect, body: &[u8]) -> Answer {
    match dialect {
        Dialect::Messages | Dialect::BedrockInvoke => Message::default().read(body),
        Dialect::OpenRouter => last_usage(body, dialects::openrouter),
        Dialect::BedrockConverse => last_usage(body, dialects::converse),
    }
}

/// Streams of chunks: usage stands in the last chunk that has one.
fn last_usage(body: &[u8], read: fn(&[u8]) -> Answer) -> Answer {
    let with_usage = frames(body).filter(|frame| member(&frame.data, "usage").is_some_and(|usage| usage != b"null"));
    match with_usage.last() {
        Some(frame) => read(&frame.data),
        None => Answer::without_usage("no chunk of the stream has `usage`"),
    }
}

/// How many damaged events of one stream are listed; further ones are counted.
const FAULTS_LISTED: usize = 4;

/// A message as its events build it up.
#[derive(Default)]
struct Message {
    /// Usage of `message_start`, overwritten by what `message_delta` repeats: its counts are cumulative.
    usage: Option<Fields>,
    final_output: bool,
    server_tools: bool,
    applied_edits: u32,
    stopped: bool,
    events: usize,
    unknown: usize,
    faults: Vec<String>,
    faults_beyond: usize,
    broken_off: Option<String>,
}

impl Message {
    fn read(mut self, body: &[u8]) -> Answer {
        for frame in frames(body) {
            self.frame(&frame);
        }
        self.finish()
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&frame.data) {
            let what = format!("event {}: {}", self.events, json_reason(&error));
            match frame.last {
                true => self.broken_off = Some(what),
                false if self.faults.len() < FAULTS_LISTED => self.faults.push(what),
                false => self.faults_beyond += 1,
            }
            return;
        }
        self.events += 1;
        let kind = member_text(&frame.data, "type");
        match kind.as_deref() {
            Some("message_start") => self.start(&frame.data),
            Some("message_delta") => self.delta(&frame.data),
            Some("content_block_start") => {
                self.server_tools |= member(&frame.data, "content_block").is_some_and(is_server_tool_use);
            }
            Some("message_stop") => self.stopped = true,
            Some("error") => {
                let error = member(&frame.data, "error").and_then(|error| member_text(error, "type"));
                self.broken_off = Some(format!("the provider sent `{}`", error.as_deref().unwrap_or("error")));
            }
            Some("ping" | "content_block_delta" | "content_block_stop") => {}
            _ => self.unknown += 1,
        }
    }

    fn start(&mut self, event: &[u8]) {
        let message = member(event, "message").unwrap_or_default();
        match member(message, "usage").map(fields) {
            Some(Ok(usage)) => self.usage = Some(usage),
            Some(Err(why)) => self.faults.push(why),
            None => self.faults.push("`message_start` has no `usage`".to_owned()),
        }
    }

    fn delta(&mut self, event: &[u8]) {
        self.applied_edits = self.applied_edits.max(applied_edits(event));
        match member(event, "usage").map(fields) {
            Some(Ok(update)) => self.update(update),
            Some(Err(why)) => self.faults.push(why),
            None => {}
        }
    }

    fn update(&mut self, update: Fields) {
        let usage = self.usage.get_or_insert_default();
        let total = update.get("cache_creation_input_tokens").filter(|total| !total.is_null());
        if total.is_some() && total != usage.get("cache_creation_input_tokens") {
            // The split of the start event belongs to the total that is being replaced.
            usage.remove("cache_creation");
        }
        for (name, value) in update.into_iter().filter(|(_, value)| !value.is_null()) {
            self.final_output |= name == "output_tokens";
            usage.insert(name, value);
        }
    }

    fn finish(self) -> Answer {
        let mut answer = Answer { faults: self.faults, ..Answer::default() };
        if self.faults_beyond > 0 {
            answer.faults.push(format!("{} more damaged events", self.faults_beyond));
        }
        match self.usage.as_ref().map(usage) {
            Some(Ok(mut usage)) => {
                usage.server_passes |= self.server_tools;
                usage.applied_edits = self.applied_edits;
                usage.output_is_start_value = !self.final_output;
                answer.usage = Some(usage);
            }
            Some(Err(why)) => answer.faults.push(why),
            None => answer.faults.push("the stream has no `message_start` with usage".to_owned()),
        }
        if !self.stopped {
            let cause = self.broken_off.unwrap_or_else(|| "no `message_stop`".to_owned());
            answer.repairs.push(format!("the stream breaks off after {} events ({cause})", self.events));
        }
        if self.unknown > 0 {
            answer.notes.push(format!("{} stream events of unknown kinds", self.unknown));
        }
        answer
    }
}
