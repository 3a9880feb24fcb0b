//! An export, assembled message by message.

use std::mem;
use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use serde_json::value::RawValue;

use super::{Message, MessageInfo, PartInfo, SessionInfo, Tokens, ToolState};
use crate::exchange::RecordedUsage;
use crate::formats::json::member_text;
use crate::formats::thread::{Names, Place, Unknown, accepted, beside, call_part, cost, parsed, part};
use crate::formats::thread::{pieces_hash, spelled, thread};
use crate::formats::{Reading, when};
use crate::transcript::file_stem;
use crate::transcript::{Answer, Call, InputOrigin, Item, Part, Sign, Spawn, SpawnMode, Stop, Thread};

/// The tool that starts a sub-agent.
const SPAWNING: &str = "task";

/// The state of reading.
#[derive(Default)]
pub(super) struct Export {
    id: Option<Arc<str>>,
    parent: Option<Arc<str>>,
    project: Option<Arc<str>>,
    version: Option<Arc<str>>,
    items: Vec<Item>,
    given_at: Option<Instant>,
    /// Whether a requested compaction was started by the client itself (or by the user).
    compacting: Option<bool>,
    names: Names,
    unknown: Unknown,
}

/// A step of an assistant's message: one request.
#[derive(Default)]
struct Step {
    parts: Vec<Part>,
    calls: Vec<Call>,
    first_at: Option<Instant>,
    last_at: Option<Instant>,
    /// Results of its calls.
    results: Vec<Item>,
    retries: u32,
    usage: Option<RecordedUsage>,
    stop: Option<Stop>,
}

impl Export {
    pub fn head(&mut self, info: &SessionInfo<'_>) {
        self.id = info.id.as_deref().map(Arc::from);
        self.parent = info.parent.as_deref().map(Arc::from);
        self.project = info.directory.as_deref().map(Arc::from);
        self.version = info.version.as_deref().map(Arc::from);
    }

    pub fn message(&mut self, reading: &mut Reading, line: usize, message: &Message<'_>) {
        let place = Place { line, at: message.info.time.and_then(|time| millis(time.created)) };
        let parts = message.parts.iter().filter_map(|raw| {
            let info = accepted(reading, line, "part", parsed(raw.get()).map(Some))?;
            Some((info, raw.get()))
        });
        let parts: Vec<(PartInfo<'_>, &str)> = parts.collect();
        match &*message.info.role {
            "user" => self.user(place, &parts),
            "assistant" => self.assistant(reading, place, &message.info, &parts),
            other => self.unknown.add(other, line),
        }
    }

    fn user(&mut self, place: Place, parts: &[(PartInfo<'_>, &str)]) {
        self.given_at = place.at.or(self.given_at);
        for (info, raw) in parts {
            match &*info.kind {
                "compaction" => self.compacting = Some(info.auto),
                "text" if info.ignored => {}
                "text" => {
                    let origin = if info.synthetic { InputOrigin::Injected } else { InputOrigin::Prompt };
                    let text = info.text.map_or(*raw, RawValue::get);
                    self.items.push(place.input(origin, vec![part(BlockKind::Text, text)]));
                }
                "file" => self.items.push(place.input(InputOrigin::Attachment, vec![part(BlockKind::Media, raw)])),
                "agent" | "subtask" => {
                    self.items.push(place.input(InputOrigin::Injected, vec![part(BlockKind::Text, raw)]));
                }
                "step-start" | "snapshot" | "patch" => {}
                other => self.unknown.add(other, place.line),
            }
        }
    }

    fn assistant(
        &mut self,
        reading: &mut Reading,
        place: Place,
        info: &MessageInfo<'_>,
        parts: &[(PartInfo<'_>, &str)],
    ) {
        let line = place.line;
        let mut step = Step::default();
        let mut steps: u64 = 0;
        let id = info.id.as_deref().unwrap_or_default();
        for (part, raw) in parts {
            if part.kind == "step-finish" {
                steps += 1;
                let own = part.id.as_deref().unwrap_or_default();
                let id = pieces_hash(&[b"opencode", id.as_bytes(), own.as_bytes(), &steps.to_le_bytes()]);
                step.stop = part.reason.as_deref().and_then(stop);
                step.usage = measured(reading, line, part.tokens, part.cost);
                self.close(place, info, id, mem::take(&mut step));
            } else {
                self.part(line, &mut step, part, raw);
            }
        }
        if steps == 0 {
            let id = match id {
                "" => {
                    pieces_hash(&[b"opencode", self.id.as_deref().unwrap_or_default().as_bytes(), &line.to_le_bytes()])
                }
                id => pieces_hash(&[b"opencode", id.as_bytes()]),
            };
            step.usage = measured(reading, line, info.tokens, info.cost);
            self.close(place, info, id, step);
        } else if !step.parts.is_empty() {
            // Parts after the last count were interrupted.
            let id = pieces_hash(&[b"opencode", id.as_bytes(), b"rest"]);
            self.close(place, info, id, step);
        }
        if info.error.is_some_and(|error| error.get().contains("MessageAbortedError")) {
            self.items.push(place.sign(Sign::Interrupted));
        }
        if info.summary.is_some_and(|summary| summary.get() == "true") {
            self.compacted(place, parts);
        }
    }

    fn part(&mut self, line: usize, step: &mut Step, info: &PartInfo<'_>, raw: &str) {
        let start = info.time.or_else(|| info.state.as_ref()?.time).and_then(|time| millis(time.start));
        let end = info.time.and_then(|time| millis(time.end)).or(start);
        let block = match &*info.kind {
            "text" => part(BlockKind::Text, info.text.map_or(raw, RawValue::get)),
            "reasoning" => part(BlockKind::Thinking, info.text.map_or(raw, RawValue::get)),
            "tool" => self.tool(line, step, info),
            "file" => part(BlockKind::Media, raw),
            "retry" => {
                step.retries = info.attempt.unwrap_or(step.retries + 1);
                return;
            }
            "step-start" | "snapshot" | "patch" | "agent" | "subtask" | "compaction" => return,
            other => return self.unknown.add(other, line),
        };
        step.first_at = step.first_at.or(start);
        step.last_at = end.or(step.last_at);
        step.parts.push(block);
    }

    fn tool(&mut self, line: usize, step: &mut Step, info: &PartInfo<'_>) -> Part {
        let id = info.call.as_deref();
        let call = self.names.call(info.tool.as_deref(), id);
        let nothing = ToolState { input: None, output: None, error: None, metadata: None, time: None };
        let state = info.state.as_ref().unwrap_or(&nothing);
        let place = Place { line, at: state.time.and_then(|time| millis(time.end)) };
        if let Some(result) = state.output.or(state.error) {
            let part = call_part(BlockKind::ToolResult, result.get(), id);
            step.results.push(place.input(InputOrigin::ToolResults, vec![part]));
        }
        let spawn = (&*call.tool == SPAWNING).then(|| {
            let kind = state.input.and_then(|input| member_text(input.get().as_bytes(), "subagent_type"));
            let child = state.metadata.and_then(|metadata| {
                let metadata = metadata.get().as_bytes();
                member_text(metadata, "sessionId").or_else(|| member_text(metadata, "sessionID"))
            });
            let agent = child.map(|child| self.names.get(&child));
            step.results.extend(agent.map(|agent| place.spawned(call.id, agent, SpawnMode::Sync)));
            Box::new(Spawn { kind: kind.map(|kind| self.names.get(&kind)), ..Spawn::default() })
        });
        step.calls.push(Call { spawn, ..call });
        call_part(BlockKind::ToolUse, state.input.map_or("{}", RawValue::get), id)
    }

    fn close(&mut self, place: Place, info: &MessageInfo<'_>, id: u128, step: Step) {
        let model = info.model.as_deref().unwrap_or_default();
        let model = self.names.get(&spelled(info.provider.as_deref().unwrap_or_default(), model));
        let completed = info.time.and_then(|time| millis(time.completed));
        let answer = Answer {
            version: self.version.clone(),
            effort: info.effort.as_deref().map(|effort| self.names.get(effort)),
            sent_at: self.given_at.or(place.at),
            first_at: step.first_at.or(place.at),
            ended_at: step.last_at.or(completed),
            usage: step.usage,
            stop: step.stop.unwrap_or(if step.calls.is_empty() { Stop::Other } else { Stop::ToolUse }),
            parts: step.parts,
            calls: step.calls,
            retries: step.retries,
            ..Answer::of(id, model)
        };
        let place = Place { at: answer.first_at, ..place };
        self.given_at = answer.ended_at.or(self.given_at);
        self.items.push(place.answer(answer));
        for result in step.results {
            self.given_at = result.at.max(self.given_at);
            self.items.push(result);
        }
    }

    fn compacted(&mut self, place: Place, parts: &[(PartInfo<'_>, &str)]) {
        let automatic = self.compacting.take().unwrap_or(false);
        self.items.push(place.sign(Sign::Compacted { before_tokens: None, automatic }));
        let texts = parts.iter().filter(|(info, _)| info.kind == "text");
        let summary: Vec<Part> =
            texts.map(|(info, raw)| part(BlockKind::Text, info.text.map_or(*raw, RawValue::get))).collect();
        if !summary.is_empty() {
            self.items.push(place.input(InputOrigin::Summary, summary));
        }
    }

    pub fn finish(self, file: &str, reading: &mut Reading) -> Thread {
        self.unknown.finish(reading);
        let agent = self.parent.as_ref().map(|_| self.id.clone().unwrap_or_else(|| Arc::from(file_stem(file))));
        Thread { agent, ..thread(self.parent.or(self.id), self.project, self.items) }
    }
}

fn stop(reason: &str) -> Option<Stop> {
    match reason {
        "tool-calls" => Some(Stop::ToolUse),
        "stop" => Some(Stop::EndTurn),
        "length" => Some(Stop::MaxTokens),
        _ => None,
    }
}

fn millis(raw: Option<&RawValue>) -> Option<Instant> {
    when::millis(raw?.get())
}

/// The usage of a request; `None` if its counts are implausible, which is reported.
fn measured(reading: &mut Reading, line: usize, tokens: Option<Tokens>, usd: Option<f64>) -> Option<RecordedUsage> {
    accepted(reading, line, "`tokens`", usage(tokens?, usd))
}

/// `None` if nothing was counted.
fn usage(tokens: Tokens, usd: Option<f64>) -> Result<Option<RecordedUsage>, String> {
    let Tokens { input, output, reasoning, cache, total } = tokens;
    // Each is checked against the limit before they are added up.
    let plain = beside(input, cache.read, cache.write, output, reasoning)?;
    let sum = plain.usage.total_input_tokens() + output;
    if sum == 0 {
        return Ok(None);
    }
    let is_within = total == Some(sum) && reasoning <= output;
    let output = if is_within { output } else { output + reasoning };
    let usage = beside(input, cache.read, cache.write, output, reasoning)?;
    Ok(Some(RecordedUsage { reported_cost: usd.and_then(cost), ..usage }))
}
