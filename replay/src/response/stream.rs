//! Streamed answers. Event grammar: Anthropic streaming page (2026-09); other kinds of events are accepted and counted.

use forkcast_sim::diagnosis::AnsweredThinking;
use forkcast_sim::outside::found;

use super::chunks::Damage;
use super::messages::{applied_edits, is_server_tool_use, thinking, usage};
use super::payload::{Event, Events};
use super::tokens::{Fields, fields};
use super::{Answer, bedrock};
use crate::exchange::RecordedUsage;
use crate::formats::json::{member, member_text};

/// Reads the events of a message.
pub(super) fn read(events: &Events<'_>) -> Answer {
    let mut message = Message::default();
    for event in &events.list {
        message.event(event);
    }
    message.broken_off = events.cut.clone().or(message.broken_off);
    let mut answer = message.finish();
    answer.faults.extend(events.faults.iter().cloned());
    answer
}

/// A message, assembled from its events.
#[derive(Default)]
struct Message {
    /// Usage of `message_start`, overwritten by that of `message_delta`, whose counts are cumulative.
    usage: Option<Fields>,
    final_output: bool,
    model: Option<String>,
    /// Bedrock's own counts, if the beginning is missing.
    metrics: Option<Result<RecordedUsage, String>>,
    server_tools: bool,
    applied_edits: u32,
    /// Of `message_start`, or of the last `message_delta` after a fallback.
    thinking: Option<AnsweredThinking>,
    stopped: bool,
    unknown: usize,
    damage: Damage,
    faults: Vec<String>,
    broken_off: Option<String>,
}

impl Message {
    fn event(&mut self, event: &Event<'_>) {
        if !self.damage.passes(event) {
            return;
        }
        let kind = member_text(&event.data, "type");
        match kind.as_deref() {
            Some("message_start") => self.start(&event.data),
            Some("message_delta") => self.delta(&event.data),
            Some("content_block_start") => {
                self.server_tools |= member(&event.data, "content_block").is_some_and(is_server_tool_use);
            }
            Some("message_stop") => {
                self.stopped = true;
                self.metrics = bedrock::metrics_of(&event.data);
            }
            Some("error") => {
                let error = member(&event.data, "error").and_then(|error| member_text(error, "type"));
                self.broken_off = Some(format!("the provider sent {}", found(error.as_deref().unwrap_or("error"))));
            }
            Some("ping" | "content_block_delta" | "content_block_stop") => {}
            _ => self.unknown += 1,
        }
    }

    fn start(&mut self, event: &[u8]) {
        let message = member(event, "message");
        self.thinking = message.and_then(thinking);
        self.model = message.and_then(|message| member_text(message, "model")).map(|model| model.into_owned());
        match message.and_then(|message| member(message, "usage")).map(fields) {
            Some(Ok(usage)) => self.usage = Some(usage),
            Some(Err(why)) => self.faults.push(why),
            None => self.faults.push("`message_start` has no `usage`".to_owned()),
        }
    }

    fn delta(&mut self, event: &[u8]) {
        self.applied_edits = self.applied_edits.max(applied_edits(event));
        self.thinking = thinking(event).or(self.thinking);
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
            // The split of the start event belongs to the replaced total.
            usage.remove("cache_creation");
        }
        for (name, value) in update.into_iter().filter(|(_, value)| !value.is_null()) {
            self.final_output |= name == "output_tokens";
            usage.insert(name, value);
        }
    }

    fn finish(mut self) -> Answer {
        let mut answer = Answer { faults: self.faults, model: self.model, ..Answer::default() };
        let (broken_off, events) = (self.damage.broken_off.take().or(self.broken_off), self.damage.whole());
        self.damage.report(&mut answer.faults);
        let model = answer.model.clone();
        match (self.usage.as_ref().map(|fields| usage(fields, model.as_deref())), self.metrics) {
            (Some(Ok(mut found)), _) => {
                found.recorded.server_passes |= self.server_tools;
                found.recorded.applied_edits = self.applied_edits;
                found.recorded.thinking = self.thinking;
                found.recorded.output_is_start_value = !self.final_output;
                answer.take(found);
            }
            (None, Some(Ok(metrics))) => answer.usage = Some(metrics),
            (Some(Err(why)), _) | (None, Some(Err(why))) => answer.faults.push(why),
            (None, None) => answer.faults.push("the stream has no `message_start` with usage".to_owned()),
        }
        if !self.stopped {
            let cause = broken_off.unwrap_or_else(|| "no `message_stop`".to_owned());
            answer.repairs.push(format!("the stream breaks off after {events} events ({cause})"));
        }
        if self.unknown > 0 {
            answer.notes.push(format!("{} stream events of unknown kinds", self.unknown));
        }
        answer
    }
}
