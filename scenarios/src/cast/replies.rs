//! The recorded answers as replies of a script, each bound to what asks for it.

use forkcast_replay::transcript::{Answer, Item, OutputCount, What};
use forkcast_sim::service::FIRST_BYTE_AFTER;
use forkcast_sim::time::Instant;
use serde_json::Value;

use super::Take;
use super::node::{self, Fields, list, number, text};
use super::rules::CastRule;
use super::scene::{Part, Scene};
use super::spawns::{NEVER_MS, Spawn, UNKNOWN, agent_input, report};
use super::thread::{Asking, Does, Step};
use super::wording::{Block, Said};
use crate::format::tree::Node;

/// The script of all agents.
pub(super) fn script(scene: &mut Scene<'_>) -> Node {
    scene.script()
}

impl<'a> Scene<'a> {
    fn script(&mut self) -> Node {
        let mut script = Fields::default();
        let parts = std::mem::take(&mut self.parts);
        for part in &parts {
            let replies: Vec<Node> = part.steps.steps.iter().filter_map(|step| self.reply(part, step)).collect();
            script = script.with(&part.name, list(replies));
        }
        let missing = self.spawns.of_call.iter().filter(|(_, spawn)| spawn.thread.is_none());
        let reports: Vec<(String, Node)> = missing
            .map(|(call, spawn)| {
                let began_at = spawn.launched_at.or(spawn.called_at);
                (call.clone(), report(&mut self.veil, spawn, began_at).node())
            })
            .collect();
        for (call, reply) in reports {
            script = script.with(&call, list([reply]));
        }
        self.parts = parts;
        let unknown = Fields::default().with("say", text(UNKNOWN)).with("output_tokens", number(1));
        script.with("*", list([unknown.with("times", number(1_000_000)).node()])).node()
    }

    fn reply(&mut self, part: &Part<'_>, step: &Step) -> Option<Node> {
        let when = step.asked_by.as_ref().map(|asking| self.when(asking));
        let reply = Fields::default();
        let is_reported = step.does == Does::Waits && self.otherwise.has(CastRule::Reported);
        if let Some(spawn) = self.reported(part, step).filter(|_| is_reported) {
            return Some(report(&mut self.veil, &spawn, part.steps.input_at).with("when", when).node());
        }
        match step.does {
            Does::Waits => {
                let reply = reply.with("when", when).with("say", text(UNKNOWN)).with("first_byte_ms", number(NEVER_MS));
                Some(reply.node())
            }
            Does::Fails => {
                let fault = Fields::default().with("status", number(400)).with("message", text("not recorded"));
                Some(reply.with("when", when).with("fault", fault.node()).node())
            }
            Does::Answers(at) => {
                let item = part.agent.thread.items.get(at)?;
                Some(self.answer(part, at, item.answer()?, item.line, when))
            }
        }
    }

    /// The agent of this part, if its recorded conversation lacks the last answer, which `step` asks for, and its report is
    /// known. Transcripts that hold sub-agents as progress of their calls end with the last round of tools.
    fn reported(&self, part: &Part<'_>, step: &Step) -> Option<Spawn> {
        let is_last = part.steps.steps.last().is_some_and(|last| std::ptr::eq(last, step));
        let was_interrupted = self.results.calls.get(&part.name).is_some_and(|call| call.interrupted);
        let spawn = self.spawns.of_call.get(&part.name)?;
        (is_last && !was_interrupted && spawn.report.is_some()).then(|| spawn.clone())
    }

    fn when(&mut self, asking: &Asking) -> Node {
        let when = Fields::default();
        match asking {
            Asking::Result(call) => when.with("after", text(call.as_str())),
            Asking::Text(line) => {
                let what = if line.starts_with("<task-notification") { "notification" } else { "line" };
                when.with("user_has", text(self.veil.text(what, line)))
            }
            Asking::Notice(call) => when.with("user_has", text(format!("<tool-use-id>{call}</tool-use-id>"))),
        }
        .node()
    }

    fn answer(&mut self, part: &Part<'_>, at: usize, answer: &Answer, line: u32, when: Option<Node>) -> Node {
        let id = format!("{}/{}", part.name, self.takes.len());
        let added_at = added_at(&part.agent.thread.items[..at]).filter(|_| self.otherwise.has(CastRule::SentLast));
        // The clock may have been set back in between.
        let sent_at = answer.sent_at.max(added_at.min(answer.first_at)).or(answer.first_at).unwrap_or(self.began);
        let first_at = answer.first_at.unwrap_or(sent_at).max(sent_at);
        let ended_at = answer.ended_at.unwrap_or(first_at).max(first_at);
        let first_byte = first_at.min(sent_at + FIRST_BYTE_AFTER);
        let since = |at: Option<Instant>| number(at.unwrap_or(ended_at).since(first_byte).as_millis());
        let mut says = Vec::new();
        let (mut calls, mut ends, mut text_ends) = (Vec::new(), Vec::new(), None);
        for block in answer.wording.iter().map(Block::of) {
            match block.said {
                Said::Text(said) if !said.is_empty() => {
                    says.push(said);
                    text_ends = text_ends.max(block.at);
                }
                Said::Call { id, tool, input } => {
                    ends.push(since(block.at));
                    calls.push(self.call(&id, &tool, &input));
                }
                _ => {}
            }
        }
        let says = (!says.is_empty()).then(|| self.veil.text("answer", &says.join("\n")));
        let is_silent = says.is_none() && calls.is_empty();
        if says.is_some() {
            ends.insert(0, since(text_ends));
        }
        let kept = (0..answer.parts.len()).map(|block| part.shares.of_block(at, block));
        let usage = answer.usage.map(|recorded| recorded.usage);
        let output = match answer.output {
            OutputCount::Final => usage.map_or(0, |usage| usage.output_tokens),
            OutputCount::StreamStart { estimated_tokens } => u64::from(estimated_tokens),
        };
        let output = part.scaled(output);
        self.takes.push(Take {
            reply: id.clone(),
            agent: part.name.clone(),
            sent_at: Instant(sent_at.since(self.began).0),
            ended_at: Instant(ended_at.since(self.began).0),
            output_tokens: output,
            line,
            ..self.take(part, at, answer)
        });
        let switched = part.begins_with.filter(|model| **model != *answer.model && !answer.model.is_empty());
        let switched = switched.map(|_| answer.model.to_string());
        Fields::default()
            .with("id", text(id))
            .with("when", when)
            .with("unseen", self.unseen(part, at, answer))
            .with("model", switched.map(text))
            .with("think", is_silent.then(|| text("(Only thinking is recorded.)")))
            .with("say", says.map(text))
            .with("tools", node::some(calls))
            .with("output_tokens", number(output))
            .with("kept_tokens", number(kept.sum()))
            .with("first_byte_ms", number(first_byte.since(sent_at).as_millis()))
            .with("streaming_ms", since(None))
            .with("block_ends_ms", node::some(ends))
            .node()
    }

    /// What is known of an answer without its times.
    fn take(&self, part: &Part<'_>, at: usize, answer: &Answer) -> Take {
        let decision = self.forecasts.decision(part.number, at);
        Take {
            model: answer.model.to_string(),
            usage: answer.usage.map(|recorded| recorded.usage),
            answer: answer.usage,
            rule: decision.map(|decision| decision.rule),
            foreseen_read: decision.map(|decision| decision.read_tokens),
            place: [part.number, at],
            copied: answer.copied,
            ..Take::default()
        }
    }

    /// What happened to the prompt of a request unseen by its agent. The prompts of an agent that is built otherwise are others.
    fn unseen(&self, part: &Part<'_>, at: usize, answer: &Answer) -> Option<Node> {
        if self.switched.rebuilt.contains(&part.name) {
            return None;
        }
        // The shares have the size that tokens have here.
        let dropped = part.shares.dropped.get(&at).copied();
        let unseen = self.forecasts.unseen(part.number, at, answer, dropped);
        let tokens = |tokens: Option<u64>| tokens.map(|tokens| number(part.scaled(tokens)));
        Fields::default()
            .with("changed_after_tokens", tokens(unseen.changed_after_tokens))
            .with("dropped_tokens", unseen.dropped_tokens.map(number))
            .with("tail_tokens", tokens(unseen.tail_tokens))
            .with("kept_tokens", tokens(unseen.kept_tokens))
            .with("ttl", unseen.ttl.map(|ttl| text(ttl.name())))
            .some()
    }

    fn call(&mut self, id: &str, tool: &str, input: &Value) -> Node {
        let name = self.tool_name(id, tool);
        let call = self.results.calls.get(id);
        let input = match self.spawns.of_call.get(id) {
            Some(spawn) if name == "Agent" => agent_input(&mut self.veil, input, spawn),
            _ => node::json(&self.veil.input(input)),
        };
        let brief = self.briefs.get(id).copied();
        let launched = self.spawns.of_call.get(id).and_then(|spawn| spawn.launched_at.zip(spawn.called_at));
        Fields::default()
            .with("tool", text(name))
            .with("id", text(id))
            .with("input", input)
            .with("result_tokens", call.and_then(|call| call.result_tokens).map(number))
            .with("notice_tokens", call.and_then(|call| call.notice_tokens).map(number))
            .with("brief_tokens", brief.map(number))
            .with("launch_ms", launched.map(|(launched, called)| number(launched.since(called).as_millis())))
            .node()
    }
}

/// The latest instant of the lines added after the newest answer of `items`. What waited in the queue is recorded with the instant
/// at which it began to wait, so that the last line before a request may be older than those before it.
fn added_at(items: &[Item]) -> Option<Instant> {
    let added = items.iter().rev().take_while(|item| item.answer().is_none());
    added.filter(|item| matches!(item.what, What::Input(_))).filter_map(|item| item.at).max()
}
