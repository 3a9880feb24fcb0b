//! Answers: one each, however many lines contain its blocks.

use std::sync::Arc;

use forkcast_sim::time::Instant;

use super::message::{Blocks, Message, RawCall};
use super::record::Record;
use super::records::{Place, Records, UsageRead};
use super::signs::{each, inside};
use super::tree::Node;
use super::usage;
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::formats::json::{member, unescaped};
use crate::transcript::{Answer, Call, Diagnosis, DiagnosisKind, OutputCount, Sign, Spawn, Stop};

/// The model of answers that the client itself wrote.
pub(super) const SYNTHETIC: &[u8] = b"<synthetic>";

impl<'a> Records<'a> {
    /// A line with a block of an answer.
    pub fn answer_line(
        &mut self,
        place: Place,
        line: &Record<'a>,
        parent: Option<Node>,
        blocks: &Blocks<'a>,
    ) -> Option<u32> {
        let Some(message) = &line.message else {
            self.damage(Fault::in_line(place.line as usize, "found no `message`, expected one in an answer"));
            return None;
        };
        if message.model == Some(SYNTHETIC) {
            return self.synthetic(place);
        }
        let id = self.identity(message.id, place.line);
        if self.agents[place.agent].answer(id).is_none() {
            self.check_rewind(place, line, parent);
            let sent_at = parent.and_then(|parent| parent.at);
            self.begin(place, id, message, line.effort, sent_at);
        }
        let index = self.add(place, id, message, blocks);
        if blocks.parts.len() > 1
            && let Some((_, answer)) = self.agents[place.agent].answer(id)
        {
            answer.at_once = true;
        }
        index
    }

    fn synthetic(&mut self, place: Place) -> Option<u32> {
        let agent = &mut self.agents[place.agent];
        agent.sign(place.line, place.at, Sign::Synthetic);
        if agent.since.exit && !std::mem::replace(&mut agent.since.restarted, true) {
            agent.sign(place.line, place.at, Sign::Restarted);
        }
        None
    }

    pub fn begin(
        &mut self,
        place: Place,
        id: u128,
        message: &Message<'a>,
        effort: Option<&'a [u8]>,
        sent_at: Option<Instant>,
    ) {
        let model = message.model.map_or_else(|| Arc::from(""), |model| self.names.get(model));
        let effort = effort.map(|effort| self.names.get(effort));
        let version = self.version_name();
        let agent = &mut self.agents[place.agent];
        let sent_at = sent_at.or_else(|| agent.newest_at()).or(place.at);
        let answer = Answer {
            version,
            // The clock may have been set back in between.
            sent_at: sent_at.map(|sent_at| place.at.map_or(sent_at, |at| sent_at.min(at))),
            first_at: place.at,
            ended_at: place.at,
            output: OutputCount::StreamStart { estimated_tokens: 0 },
            effort,
            retries: agent.since.failed,
            ..Answer::of(id, model)
        };
        agent.begin(place.line, answer);
    }

    /// Adds the content of this line to its answer.
    pub fn add(&mut self, place: Place, id: u128, message: &Message<'a>, blocks: &Blocks<'a>) -> Option<u32> {
        let usage = self.usage(place, message, blocks);
        let calls: Vec<Call> = blocks.calls.iter().map(|raw| self.call(raw)).collect();
        let agent = &mut self.agents[place.agent];
        let (index, answer) = agent.answer(id)?;
        answer.ended_at = answer.ended_at.max(place.at);
        answer.parts.extend_from_slice(&blocks.parts);
        answer.wording.extend(blocks.wording(place.at));
        answer.calls.extend(calls);
        if let Some(stop) = message.stop {
            (answer.stop, answer.output) = (stopped(stop), OutputCount::Final);
        }
        answer.diagnosis = answer.diagnosis.or_else(|| diagnosis(message.diagnostics?));
        let differs = merge(&mut answer.usage, usage);
        agent.measure(index, blocks.lengths);
        if differs {
            let what = "an answer is repeated with other counts, those with the larger output are taken";
            self.repair(Fault::in_line(place.line as usize, what));
        }
        Some(index)
    }

    fn usage(&mut self, place: Place, message: &Message<'a>, blocks: &Blocks<'a>) -> Option<RecordedUsage> {
        let (raw, model) = (message.usage?, message.model);
        let same = self.usage.as_ref().filter(|last| last.raw == raw && last.model == model);
        match same.map_or_else(|| usage::read(raw, model), |last| Ok(last.usage)) {
            Ok(mut usage) => {
                self.usage = Some(UsageRead { raw, model, usage });
                usage.server_passes |= blocks.server_tool;
                usage.applied_edits = message.context.map_or(0, usage::edits_of);
                Some(usage)
            }
            Err(why) => {
                self.damage(Fault::in_line(place.line as usize, why));
                None
            }
        }
    }

    fn call(&mut self, raw: &RawCall<'a>) -> Call {
        let spawn = matches!(raw.tool, b"Task" | b"Agent").then(|| spawn(raw.input));
        Call { tool: self.names.get(raw.tool), id: raw.id, spawn: spawn.map(Box::new) }
    }
}

/// Keeps the usage with the larger output; returns whether input counts differ.
fn merge(known: &mut Option<RecordedUsage>, found: Option<RecordedUsage>) -> bool {
    let (Some(old), Some(new)) = (*known, found) else {
        *known = known.or(found);
        return false;
    };
    if new.usage.output_tokens > old.usage.output_tokens {
        *known = found;
    }
    let input = |usage: RecordedUsage| forkcast_sim::wire::Usage { output_tokens: 0, ..usage.usage };
    input(old) != input(new)
}

const fn stopped(word: &[u8]) -> Stop {
    match word {
        b"tool_use" => Stop::ToolUse,
        b"end_turn" | b"stop_sequence" => Stop::EndTurn,
        b"max_tokens" => Stop::MaxTokens,
        _ => Stop::Other,
    }
}

/// `{cache_miss_reason: {type, cache_missed_input_tokens?}}`
fn diagnosis(raw: &[u8]) -> Option<Diagnosis> {
    let reason = member(raw, "cache_miss_reason")?;
    let kind = word_of_diagnosis(inside(member(reason, "type")?)?);
    Some(Diagnosis { kind, missed_tokens: member(reason, "cache_missed_input_tokens").and_then(usage::count) })
}

const fn word_of_diagnosis(word: &[u8]) -> DiagnosisKind {
    match word {
        b"system_changed" => DiagnosisKind::SystemChanged,
        b"tools_changed" => DiagnosisKind::ToolsChanged,
        b"messages_changed" => DiagnosisKind::MessagesChanged,
        b"model_changed" => DiagnosisKind::ModelChanged,
        b"previous_message_not_found" => DiagnosisKind::PreviousMessageNotFound,
        b"unavailable" => DiagnosisKind::Unavailable,
        _ => DiagnosisKind::Other,
    }
}

/// The input of a call that starts an agent.
fn spawn(input: &[u8]) -> Spawn {
    let mut spawn = Spawn::default();
    let text = |raw: &[u8]| inside(raw).map(|inner| Arc::from(&*unescaped(inner)));
    each(input, |key, value| match key {
        b"subagent_type" => spawn.kind = text(value),
        b"run_in_background" => spawn.background = value == b"true",
        b"isolation" => spawn.worktree = value == b"\"worktree\"",
        b"resume" => spawn.resumes = text(value),
        _ => {}
    });
    spawn
}
