//! Content for the model: prompts, results, and the messages of sub-agents on progress lines.

use super::answered::SYNTHETIC;
use super::message::Blocks;
use super::record::Record;
use super::records::{MAIN, Place, Records};
use super::tree::Node;
use crate::error::Fault;
use crate::transcript::{Input, InputOrigin, Sign, SpawnMode, SpawnResult, What};

/// Since this version the client sends prompts through its queue (observed; earlier versions only those that had to
/// wait).
const QUEUED_SINCE: (u32, u32, u32) = (2, 1, 200);

impl<'a> Records<'a> {
    /// A line from the user, from the client on the user's behalf, or with results.
    pub fn user_line(
        &mut self,
        place: Place,
        line: &Record<'a>,
        parent: Option<Node>,
        blocks: &Blocks<'a>,
    ) -> Option<u32> {
        if line.message.is_none() {
            self.damage(Fault::in_line(place.line as usize, "found no `message`, expected one in a user's line"));
            return None;
        }
        if line.transcript_only && !line.summary || blocks.parts.is_empty() {
            return None;
        }
        self.check_rewind(place, line, parent);
        self.mode_line(place, line.mode);
        if blocks.results > 0 {
            return Some(self.results(place, line, blocks));
        }
        let origin = self.origin(place, line, blocks.head.unwrap_or_default());
        if place.agent == MAIN {
            self.thinking(place, line, origin);
            self.reopened(place);
            self.unqueued(place, origin);
        }
        Some(self.input(place, origin, blocks))
    }

    fn results(&mut self, place: Place, line: &Record<'a>, blocks: &Blocks<'a>) -> u32 {
        if let Some(agent) = line.result.agent {
            let result = SpawnResult {
                call: blocks.answers_call,
                agent: self.names.get(agent),
                mode: if line.result.background { SpawnMode::Background } else { SpawnMode::Sync },
                total_tokens: line.result.total_tokens,
            };
            self.sign(place, Sign::Spawned(Box::new(result)));
        }
        self.input(place, InputOrigin::ToolResults, blocks)
    }

    /// Adds the blocks of the line.
    pub fn input(&mut self, place: Place, origin: InputOrigin, blocks: &Blocks<'a>) -> u32 {
        let input = Input { origin, parts: blocks.parts.clone(), wording: blocks.wording(place.at) };
        self.agents[place.agent].push(place.line, place.at, What::Input(input))
    }

    fn origin(&mut self, place: Place, line: &Record<'a>, head: &'a [u8]) -> InputOrigin {
        if line.summary {
            return InputOrigin::Summary;
        }
        if place.agent != MAIN && self.agents[place.agent].newest().is_none() {
            return InputOrigin::Directive;
        }
        match self.headed(place, head) {
            InputOrigin::Prompt if line.meta => InputOrigin::Injected,
            origin => origin,
        }
    }

    /// Since the queue is used, the first prompt after a restart is one that did not pass it.
    fn unqueued(&mut self, place: Place, origin: InputOrigin) {
        let main = &self.agents[place.agent];
        let begins = matches!(origin, InputOrigin::Prompt | InputOrigin::Injected | InputOrigin::Notification);
        if begins && !main.since.queued && self.version() >= QUEUED_SINCE && main.turn_is_over() {
            self.agents[place.agent].since.queued = true;
            self.sign(place, Sign::Unqueued);
        }
    }

    /// A message of a sub-agent, as shown to its caller.
    pub fn message_of_agent(&mut self, place: Place, line: &Record<'a>, blocks: &Blocks<'a>) {
        let progress = &line.progress;
        let (Some(id), Some(message)) = (progress.agent, &progress.message) else { return };
        if self.tree.get(progress.id).is_some() {
            return;
        }
        let agent = self.agent_named(id);
        let place = Place { agent, at: progress.at.or(place.at), ..place };
        let node = Node { thread: agent, item: None, at: place.at };
        self.tree.put(progress.id, node);
        match progress.speaker {
            b"assistant" if message.model == Some(SYNTHETIC) => {}
            b"assistant" => {
                let id = self.identity(message.id, place.line);
                if self.agents[agent].answer(id).is_none() {
                    self.begin(place, id, message, None, None);
                }
                self.add(place, id, message, blocks);
            }
            b"user" if !blocks.parts.is_empty() => {
                let origin = match (self.agents[agent].newest(), blocks.results) {
                    (_, 1..) => InputOrigin::ToolResults,
                    (None, 0) => InputOrigin::Directive,
                    (Some(_), 0) => InputOrigin::Injected,
                };
                self.input(place, origin, blocks);
            }
            _ => {}
        }
    }
}
