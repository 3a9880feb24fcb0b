//! An export put together message by message.

use std::mem;
use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use serde_json::value::RawValue;

use super::{Message, MessageInfo, PartInfo, SessionInfo, Tokens, ToolState};
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::formats::json::member_text;
use crate::formats::text::json_reason;
use crate::formats::thread::{Names, Unknown, answer, beside, call_hash, call_part, cost, input, line_number, part};
use crate::formats::thread::{pieces_hash, sign, spelled, user};
use crate::formats::{Reading, when};
use crate::transcript::{
    Answer, Call, InputOrigin, Item, Part, Sign, Spawn, SpawnMode, SpawnResult, Stop, Thread, What, file_stem,
};

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
    /// A compaction was asked for, by the client itself or by the user.
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
}

impl Export {
    pub fn head(&mut self, info: &SessionInfo<'_>) {
        self.id = info.id.as_deref().map(Arc::from);
        self.parent = info.parent.as_deref().map(Arc::from);
        self.project = info.directory.as_deref().map(Arc::from);
        self.version = info.version.as_deref().map(Arc::from);
    }

    pub fn message(&mut self, reading: &mut Reading, line: usize, message: &Message<'_>) {
        let at = message.info.time.and_then(|time| millis(time.created));
        let parts: Vec<(PartInfo<'_>, &str)> = message
            .parts
            .iter()
            .filter_map(|raw| match serde_json::from_str(raw.get()) {
                Ok(part) => Some((part, raw.get())),
                Err(error) => {
                    reading.damage(Fault::in_line(line, format!("part: {}", json_reason(&error))));
                    None
                }
            })
            .collect();
        match &*message.info.role {
            "user" => self.user(line, at, &parts),
            "assistant" => self.assistant(reading, line, at, &message.info, &parts),
            other => self.unknown.add(other, line),
        }
    }

    fn user(&mut self, line: usize, at: Option<Instant>, parts: &[(PartInfo<'_>, &str)]) {
        self.given_at = at.or(self.given_at);
        for (info, raw) in parts {
            match &*info.kind {
                "compaction" => self.compacting = Some(info.auto),
                "text" if info.ignored => {}
                "text" => {
                    let origin = if info.synthetic { InputOrigin::Injected } else { InputOrigin::Prompt };
                    let text = info.text.map_or(*raw, RawValue::get);
                    self.items.push(input(line, at, origin, vec![part(BlockKind::Text, text)]));
                }
                "file" => {
                    self.items.push(input(line, at, InputOrigin::Attachment, vec![part(BlockKind::Media, raw)]));
                }
                "agent" | "subtask" => {
                    self.items.push(input(line, at, InputOrigin::Injected, vec![part(BlockKind::Text, raw)]));
                }
                "step-start" | "snapshot" | "patch" => {}
                other => self.unknown.add(other, line),
            }
        }
    }

    fn assistant(
        &mut self,
        reading: &mut Reading,
        line: usize,
        at: Option<Instant>,
        info: &MessageInfo<'_>,
        parts: &[(PartInfo<'_>, &str)],
    ) {
        let mut step = Step::default();
        let mut steps: u64 = 0;
        let id = info.id.as_deref().unwrap_or_default();
        for (part, raw) in parts {
            if part.kind == "step-finish" {
                steps += 1;
                let own = part.id.as_deref().unwrap_or_default();
                let id = pieces_hash(&[b"opencode", id.as_bytes(), own.as_bytes(), &steps.to_le_bytes()]);
                let stop = part.reason.as_deref();
                let usage = measured(reading, line, part.tokens, part.cost);
                self.close(line, at, info, mem::take(&mut step), (id, usage, stop));
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
            let usage = measured(reading, line, info.tokens, info.cost);
            self.close(line, at, info, step, (id, usage, None));
        } else if !step.parts.is_empty() {
            // What stands behind the last count was interrupted.
            let id = pieces_hash(&[b"opencode", id.as_bytes(), b"rest"]);
            self.close(line, at, info, step, (id, None, None));
        }
        if info.error.is_some_and(|error| error.get().contains("MessageAbortedError")) {
            self.items.push(sign(line, at, Sign::Interrupted));
        }
        if info.summary.is_some_and(|summary| summary.get() == "true") {
            self.compacted(line, at, parts);
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
        let id = info.call.as_deref().unwrap_or_default();
        let tool = self.names.get(info.tool.as_deref().unwrap_or_default());
        let nothing = ToolState { input: None, output: None, error: None, metadata: None, time: None };
        let state = info.state.as_ref().unwrap_or(&nothing);
        let at = state.time.and_then(|time| millis(time.end));
        if let Some(result) = state.output.or(state.error) {
            let part = call_part(BlockKind::ToolResult, result.get(), id);
            step.results.push(input(line, at, InputOrigin::ToolResults, vec![part]));
        }
        let spawn = (&*tool == SPAWNING).then(|| {
            let kind = state.input.and_then(|input| member_text(input.get().as_bytes(), "subagent_type"));
            let child = state.metadata.and_then(|metadata| {
                let metadata = metadata.get().as_bytes();
                member_text(metadata, "sessionId").or_else(|| member_text(metadata, "sessionID"))
            });
            if let Some(agent) = child.map(|child| self.names.get(&child)) {
                let result = SpawnResult { call: call_hash(id), agent, mode: SpawnMode::Sync, total_tokens: None };
                step.results.push(sign(line, at, Sign::Spawned(Box::new(result))));
            }
            Box::new(Spawn { kind: kind.map(|kind| self.names.get(&kind)), ..Spawn::default() })
        });
        step.calls.push(Call { tool, id: call_hash(id), spawn });
        call_part(BlockKind::ToolUse, state.input.map_or("{}", RawValue::get), id)
    }

    fn close(
        &mut self,
        line: usize,
        at: Option<Instant>,
        info: &MessageInfo<'_>,
        step: Step,
        (id, usage, reason): (u128, Option<RecordedUsage>, Option<&str>),
    ) {
        let model = info.model.as_deref().unwrap_or_default();
        let model = self.names.get(&spelled(info.provider.as_deref().unwrap_or_default(), model));
        let completed = info.time.and_then(|time| millis(time.completed));
        let answer = Answer {
            version: self.version.clone(),
            effort: info.effort.as_deref().map(|effort| self.names.get(effort)),
            sent_at: self.given_at.or(at),
            first_at: step.first_at.or(at),
            ended_at: step.last_at.or(completed),
            usage,
            stop: match reason {
                Some("tool-calls") => Stop::ToolUse,
                Some("stop") => Stop::EndTurn,
                Some("length") => Stop::MaxTokens,
                _ if !step.calls.is_empty() => Stop::ToolUse,
                _ => Stop::Other,
            },
            parts: step.parts,
            calls: step.calls,
            retries: step.retries,
            ..answer(id, model)
        };
        let at = answer.first_at;
        self.given_at = answer.ended_at.or(self.given_at);
        self.items.push(Item { line: line_number(line), at, what: What::Answer(Box::new(answer)) });
        for result in step.results {
            self.given_at = result.at.max(self.given_at);
            self.items.push(result);
        }
    }

    fn compacted(&mut self, line: usize, at: Option<Instant>, parts: &[(PartInfo<'_>, &str)]) {
        let automatic = self.compacting.take().unwrap_or(false);
        self.items.push(sign(line, at, Sign::Compacted { before_tokens: None, automatic }));
        let texts = parts.iter().filter(|(info, _)| info.kind == "text");
        let summary: Vec<Part> =
            texts.map(|(info, raw)| part(BlockKind::Text, info.text.map_or(*raw, RawValue::get))).collect();
        if !summary.is_empty() {
            self.items.push(input(line, at, InputOrigin::Summary, summary));
        }
    }

    pub fn finish(self, file: &str, reading: &mut Reading) -> Thread {
        self.unknown.finish(reading);
        let agent = self.parent.as_ref().map(|_| self.id.clone().unwrap_or_else(|| Arc::from(file_stem(file))));
        Thread {
            session: self.parent.or(self.id),
            agent,
            user: self.project.as_deref().map(user),
            project: self.project,
            items: self.items,
        }
    }
}

fn millis(raw: Option<&RawValue>) -> Option<Instant> {
    when::millis(raw?.get())
}

/// The usage of a request; without any where its counts cannot be believed, which is reported.
fn measured(reading: &mut Reading, line: usize, tokens: Option<Tokens>, usd: Option<f64>) -> Option<RecordedUsage> {
    usage(tokens?, usd).unwrap_or_else(|what| {
        reading.damage(Fault::in_line(line, format!("`tokens`: {what}")));
        None
    })
}

/// Nothing where nothing was counted.
fn usage(tokens: Tokens, usd: Option<f64>) -> Result<Option<RecordedUsage>, String> {
    let Tokens { input, output, reasoning, cache, total } = tokens;
    // Each is held to the bound before they are added up.
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
