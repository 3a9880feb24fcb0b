//! One conversation of a recording, request by request, as the items of a transcript.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use forkcast_sim::agent::settings::shared_out;
use forkcast_sim::model::Answer as Events;
use forkcast_sim::model::answer::Fault;
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{BlockKind, Role, number};
use serde_json::json;

use super::answers::{blocks, called};
use super::calls::{NOTIFICATION, inner, messages};
use super::place;
use super::sessions::{Chain, Staging};
use super::verbatim::{SentBlock, Verbatim, contents, piece};
use crate::formats::json::{member_text, text};
use crate::response::events::Content;
use crate::source::Shares;
use crate::source::order::Arrival;
use crate::transcript::{
    Agent, Answer, Input, InputOrigin, Item, OutputCount, Part, Sign, SpawnMode, SpawnResult, Stop, What, Wording,
    answer_id, call_id,
};

/// A text that the client writes when the user interrupts.
const INTERRUPTED: &str = "[Request interrupted by user";

/// What text of the system in a user's message begins with.
const REMINDER: &str = "<system-reminder>";

/// A line that has no text of its own.
const NO_LINE: &str = "(only reminders)";

/// Recorded blocks with the places of their sizes: item and part of the agent's thread.
#[derive(Default)]
pub(super) struct Bytes {
    results: BTreeMap<String, Vec<MeasuredBlock>>,
    notices: BTreeMap<String, Vec<MeasuredBlock>>,
    lines: BTreeMap<String, Vec<MeasuredBlock>>,
    opening: Option<(String, Vec<MeasuredBlock>)>,
    /// The items of answers, by take.
    answers: BTreeMap<usize, usize>,
}

/// A block, and where its size is; blocks of one place share it.
struct MeasuredBlock {
    block: SentBlock,
    place: (usize, usize),
}

impl Bytes {
    /// Adds them to those of the session.
    pub fn write(self, agent: &Agent, before_opening: Option<u64>, verbatim: &mut Verbatim) {
        let shares = Shares::of(agent);
        let before_opening = before_opening.map_or(0, |tokens| tokens);
        let sized = |blocks: Vec<MeasuredBlock>, before: u64| -> Vec<SentBlock> {
            let mut done = Vec::with_capacity(blocks.len());
            for group in blocks.chunk_by(|one, other| one.place == other.place) {
                let (item, part) = group[0].place;
                let weights: Vec<u64> = group.iter().map(|sized| sized.block.piece.json().len() as u64).collect();
                let tokens = shared_out(shares.of_block(item, part).saturating_sub(before), &weights);
                done.extend(group.iter().zip(tokens).map(|(sized, tokens)| SentBlock {
                    piece: sized.block.piece.clone().sized(tokens),
                    ..sized.block.clone()
                }));
            }
            done
        };
        verbatim.results.extend(self.results.into_iter().map(|(id, blocks)| (id, sized(blocks, 0))));
        verbatim.notices.extend(self.notices.into_iter().map(|(id, blocks)| (id, sized(blocks, 0))));
        verbatim.lines.extend(self.lines.into_iter().map(|(text, blocks)| (text, sized(blocks, 0))));
        verbatim.openings.extend(self.opening.into_iter().map(|(call, blocks)| (call, sized(blocks, before_opening))));
        for (take, item) in self.answers {
            let parts = agent.thread.items[item].parts().len();
            let tokens = (0..parts).map(|part| shares.of_block(item, part)).sum();
            verbatim.answers.insert(take, tokens);
        }
    }
}

/// Follows a chain, request by request.
pub(super) struct Following<'s, 'a> {
    staging: &'s Staging<'a>,
    chain: &'s Chain<'a>,
    at: usize,
    launched: &'s BTreeSet<String>,
    is_main: bool,
    pub items: Vec<Item>,
    /// The takes that are played, in order.
    pub played: Vec<usize>,
    pub bytes: Bytes,
    pub gaps: Vec<(String, String)>,
    /// Messages of the request before.
    messages: usize,
    /// When its answer ended.
    ended: Instant,
    /// The newest result.
    result: Option<String>,
}

impl<'s, 'a> Following<'s, 'a> {
    pub fn new(
        staging: &'s Staging<'a>,
        chain: &'s Chain<'a>,
        at: usize,
        launched: &'s BTreeSet<String>,
        is_main: bool,
    ) -> Self {
        Self {
            staging,
            chain,
            at,
            launched,
            is_main,
            items: Vec::new(),
            played: Vec::new(),
            bytes: Bytes::default(),
            gaps: Vec::new(),
            messages: 0,
            ended: Instant::default(),
            result: None,
        }
    }

    pub fn items(&mut self) {
        let takes = &self.staging.recording.takes;
        for take in &self.chain.takes {
            let arrival = self.staging.arrival(*take);
            let all = messages(&arrival.exchange.body);
            if matches!(takes[*take].answer.fault, Some(Fault::Refusal(_))) {
                self.gap(arrival, "the provider refused it; it is not played");
                continue;
            }
            self.request(&all, arrival);
            self.answer(*take, arrival);
            self.messages = all.len();
            self.played.push(*take);
        }
    }

    fn gap(&mut self, arrival: &Arrival<'_>, says: &str) {
        self.gaps.push((place(arrival.exchange), says.to_owned()));
    }

    fn item(&mut self, line: u32, at: Option<Instant>, what: What) {
        self.items.push(Item { line, at, what });
    }

    /// What the client added since the request before.
    fn request(&mut self, all: &[&'a [u8]], arrival: &Arrival<'_>) {
        let is_first = self.played.is_empty();
        if is_first && !self.is_main {
            return self.opening(all, arrival.times.at);
        }
        let own_from = self.messages;
        let goes_on = is_first || all.len() > self.messages;
        if !goes_on {
            self.gap(arrival, "the history was replaced; it is played on with all of it");
        }
        let added = if goes_on { &all[own_from..] } else { &all[all.len().saturating_sub(1)..] };
        let mut added: Vec<&[u8]> = added.to_vec();
        let is_answer = |message: &&[u8]| member_text(message, "role").as_deref() == Some("assistant");
        let answers = added.iter().filter(|message| is_answer(message)).count();
        if is_first && answers > 0 && self.is_main {
            self.gap(
                arrival,
                "the recording begins in the middle of a conversation; what was said before is not played",
            );
            added = added.last().into_iter().copied().collect();
        } else if answers > 1 {
            self.gap(
                arrival,
                &format!("{} answers before it have no request; they are played from its history", answers - 1),
            );
        }
        let mut user: Vec<&[u8]> = Vec::new();
        let mut is_known = !is_first;
        // Requests that are missing were sent at some time before this one.
        let step = Duration(arrival.times.at.since(self.ended).0 / (answers.max(1) as u64));
        let mut at = self.ended;
        for message in added {
            if !is_answer(&message) {
                user.push(message);
                continue;
            }
            // The first is the answer that was recorded.
            if std::mem::replace(&mut is_known, false) {
                continue;
            }
            at = at + step;
            self.input(&std::mem::take(&mut user), at);
            self.unrequested(message, arrival, at);
        }
        self.input(&user, arrival.times.at);
    }

    /// What an agent begins with: the last message of its first request. That of a fork has results too, which are its own.
    fn opening(&mut self, all: &[&'a [u8]], at: Instant) {
        let Some(last) = all.last() else { return };
        let block = |raw: &[u8]| {
            let is_result = member_text(raw, "type").as_deref() == Some("tool_result");
            let said = text(raw).or_else(|| member_text(raw, "text"));
            let said = said.filter(|said| !is_result && !said.starts_with(REMINDER)).map(|said| said.into_owned());
            (SentBlock { role: Role::User, piece: piece(raw), begins: false }, said)
        };
        self.line(contents(last).into_iter().map(block).collect(), at);
    }

    /// An answer that is known from a later history only.
    fn unrequested(&mut self, message: &[u8], arrival: &Arrival<'_>, at: Instant) {
        // Its request is taken to have had the shape of the one before.
        self.played.extend(self.played.last().copied());
        let mut content = Content::default();
        content.message(message);
        let answer = Events { events: content.events, ..Events::default() };
        let at = Some(at);
        let said = Answer {
            sent_at: at,
            first_at: at,
            ended_at: at,
            model: arrival.exchange.model.as_str().into(),
            ..Answer::default()
        };
        self.said(0, said, &answer, |_| at);
    }

    /// Adds messages of the user and the system.
    fn input(&mut self, added: &[&'a [u8]], at: Instant) {
        let is_result = |block: &&[u8]| member_text(block, "type").as_deref() == Some("tool_result");
        let in_round = added.iter().copied().flat_map(contents).any(|block| is_result(&block));
        if !in_round {
            self.result = None;
        }
        let mut line: Vec<(SentBlock, Option<String>)> = Vec::new();
        for message in added {
            let role =
                if member_text(message, "role").as_deref() == Some("system") { Role::System } else { Role::User };
            for (part, raw) in contents(message).into_iter().enumerate() {
                let block = SentBlock { role, piece: piece(raw), begins: part == 0 };
                let said = text(raw).or_else(|| member_text(raw, "text")).filter(|_| !is_result(&raw));
                match said.as_deref() {
                    _ if is_result(&raw) => self.answered(raw, block, at),
                    Some(notice) if notice.starts_with(NOTIFICATION) => self.notified(notice, block, at),
                    Some(said) if said.starts_with(INTERRUPTED) => {
                        self.input_of(InputOrigin::Interruption, raw, Some(said), at);
                    }
                    said => {
                        let said = said.filter(|said| role == Role::User && !said.starts_with(REMINDER));
                        line.push((block, said.map(str::to_owned)));
                    }
                }
            }
        }
        match self.result.clone() {
            Some(call) => line.into_iter().for_each(|(block, _)| self.attached(&call, block, at)),
            None if !line.is_empty() => self.line(line, at),
            None => {}
        }
    }

    /// Adds a block; returns its item.
    fn input_of(&mut self, origin: InputOrigin, raw: &[u8], said: Option<&str>, at: Instant) -> usize {
        let kind = if origin == InputOrigin::ToolResults { BlockKind::ToolResult } else { BlockKind::Text };
        let wording = match said {
            Some(said) => Wording::new(json!({ "type": "text", "text": said }).to_string().as_bytes(), Some(at)),
            None => Wording::new(raw, Some(at)),
        };
        let input = Input { origin, parts: vec![Part::of(kind, raw)], wording: vec![wording] };
        self.item(0, Some(at), What::Input(input));
        self.items.len() - 1
    }

    fn answered(&mut self, raw: &[u8], block: SentBlock, at: Instant) {
        let Some(call) = member_text(raw, "tool_use_id") else { return };
        let place = (self.input_of(InputOrigin::ToolResults, raw, None, at), 0);
        // Results come first in their message.
        let block = SentBlock { begins: false, ..block };
        self.bytes.results.insert(call.to_string(), vec![MeasuredBlock { block, place }]);
        self.result = Some(call.into_owned());
    }

    /// A text of the client after a result.
    fn attached(&mut self, call: &str, block: SentBlock, at: Instant) {
        let json = block.piece.json().to_owned();
        let item = self.input_of(InputOrigin::Attachment, b"{}", None, at);
        if let What::Input(input) = &mut self.items[item].what {
            input.parts = vec![Part::of(BlockKind::Text, json.as_bytes())];
        }
        self.bytes.results.entry(call.to_owned()).or_default().push(MeasuredBlock { block, place: (item, 0) });
    }

    fn notified(&mut self, notice: &str, block: SentBlock, at: Instant) {
        let raw = block.piece.json().to_owned();
        let place = (self.input_of(InputOrigin::Notification, raw.as_bytes(), Some(notice), at), 0);
        let block = SentBlock { begins: false, ..block };
        let call = inner(notice, "tool-use-id").map(str::to_owned);
        let is_ours = |call: &String| {
            self.staging.chains.iter().any(|chain| chain.started_by.as_ref().is_some_and(|start| start.call == *call))
        };
        match call.filter(is_ours) {
            Some(call) => self.bytes.notices.insert(call, vec![MeasuredBlock { block, place }]),
            None => self.bytes.lines.insert(notice.to_owned(), vec![MeasuredBlock { block, place }]),
        };
    }

    /// A line of the user, or the brief of an agent: its texts as one, and all its blocks.
    fn line(&mut self, blocks: Vec<(SentBlock, Option<String>)>, at: Instant) {
        let said: Vec<&str> = blocks.iter().filter_map(|(_, said)| said.as_deref()).collect();
        let mut said = if said.is_empty() { NO_LINE.to_owned() } else { said.join("\n") };
        let json = |blocks: &[MeasuredBlock]| {
            blocks.iter().map(|sized| sized.block.piece.json().to_owned()).collect::<Vec<_>>()
        };
        let own: Vec<String> = blocks.iter().map(|(block, _)| block.piece.json().to_owned()).collect();
        while self.bytes.lines.get(&said).is_some_and(|known| json(known) != own) {
            said.push_str(" (again)");
        }
        let raw = own.concat();
        let origin = if self.is_main { InputOrigin::Prompt } else { InputOrigin::Directive };
        let place = (self.input_of(origin, raw.as_bytes(), Some(&said), at), 0);
        let blocks: Vec<MeasuredBlock> = blocks.into_iter().map(|(block, _)| MeasuredBlock { block, place }).collect();
        match &self.chain.started_by {
            Some(start) if self.played.is_empty() => self.bytes.opening = Some((start.call.clone(), blocks)),
            _ => {
                self.bytes.lines.insert(said, blocks);
            }
        }
    }

    fn answer(&mut self, take: usize, arrival: &Arrival<'_>) {
        let exchange = arrival.exchange;
        let answer = &self.staging.recording.takes[take].answer;
        let recorded = exchange.usage;
        let estimated_tokens = number(blocks(answer).iter().map(|(json, _)| json.len() * 10 / 31).sum());
        let is_start = recorded.is_some_and(|recorded| recorded.output_is_start_value);
        let times = arrival.times;
        let ended = exchange.ended_at.unwrap_or(times.ended_at).max(times.at);
        self.ended = ended;
        let first_at = exchange.first_byte_at.unwrap_or(ended).clamp(times.at, ended);
        let said = Answer {
            id: answer_id(format!("{} {take}", place(exchange)).as_bytes()),
            model: exchange.model.as_str().into(),
            sent_at: Some(times.at),
            first_at: Some(first_at),
            ended_at: Some(ended),
            usage: recorded,
            estimated_input_tokens: recorded.is_none().then(|| self.staging.recording.estimated_tokens(take, exchange)),
            output: if is_start { OutputCount::StreamStart { estimated_tokens } } else { OutputCount::Final },
            ..Answer::default()
        };
        let since = |event: usize| answer.arrivals.get(event).map(|after| first_at + *after).or(Some(ended));
        let item = self.said(number(take + 1), said, answer, since);
        self.bytes.answers.insert(take, item);
    }

    /// Adds an answer, and the agents that it started.
    fn said(&mut self, line: u32, said: Answer, answer: &Events, at: impl Fn(usize) -> Option<Instant>) -> usize {
        let blocks = blocks(answer);
        let kind = |json: &str| match member_text(json.as_bytes(), "type").as_deref() {
            Some("thinking") => BlockKind::Thinking,
            Some("tool_use") => BlockKind::ToolUse,
            _ => BlockKind::Text,
        };
        let parts = blocks.iter().map(|(json, _)| Part::of(kind(json), json.as_bytes())).collect();
        let wording = blocks.iter().map(|(json, last)| Wording::new(json.as_bytes(), at(*last))).collect();
        let stop = if called(answer).is_empty() { Stop::EndTurn } else { Stop::ToolUse };
        let (sent_at, ended_at) = (said.sent_at, said.ended_at);
        self.item(line, sent_at, What::Answer(Box::new(Answer { parts, wording, stop, ..said })));
        let item = self.items.len() - 1;
        let own = |chain: &Chain<'_>| chain.started_by.as_ref().is_some_and(|start| start.chain == self.at);
        let calls = called(answer);
        let started = self.staging.chains.iter().filter(|chain| own(chain)).filter_map(|chain| {
            let call = &chain.started_by.as_ref()?.call;
            calls.iter().any(|known| *known.id == **call).then(|| SpawnResult {
                call: call_id(call.as_bytes()),
                agent: Arc::from(&*chain.name),
                mode: if self.launched.contains(call) { SpawnMode::Background } else { SpawnMode::Sync },
                total_tokens: None,
            })
        });
        let started: Vec<SpawnResult> = started.collect();
        for spawn in started {
            self.item(0, ended_at, What::Sign(Sign::Spawned(Box::new(spawn))));
        }
        item
    }
}
