//! A rollout, assembled line by line.

use std::mem;
use std::sync::Arc;

use forkcast_sim::outside::found;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::BlockKind;
use serde_json::value::RawValue;

use super::content::{Content, sort, started};
use super::{Compacted, Element, Event, Info, Meta, Record, Source, Spawned, Tokens, TurnContext};
use crate::count::{PromptCounts, believed};
use crate::error::Fault;
use crate::exchange::RecordedUsage;
use crate::formats::Reading;
use crate::formats::thread::{Names, Place, Unknown, parsed, part, pieces_hash, thread, within};
use crate::transcript::{Answer, Call, InputOrigin, Item, Part, Sign, SpawnMode, Stop, Thread, What};

/// The state of reading.
#[derive(Default)]
pub(super) struct Rollout {
    session: Option<Arc<str>>,
    agent: Option<Arc<str>>,
    /// The session in which the answers were first given.
    origin: Option<Arc<str>>,
    project: Option<Arc<str>>,
    version: Option<Arc<str>>,
    model: Option<Arc<str>>,
    effort: Option<Arc<str>>,
    is_planning: bool,
    has_meta: bool,
    items: Vec<Item>,
    open: Open,
    /// Items that arrived after the open answer: they are part of the following request.
    later: Vec<Item>,
    /// When the last item of the request arrived.
    given_at: Option<Instant>,
    total: Option<Tokens>,
    /// Tokens of the last request and its answer.
    size: Option<u64>,
    /// The index of each prompt among the items.
    prompts: Vec<usize>,
    /// Something was asked or answered since the task began.
    is_used: bool,
    retries: u32,
    names: Names,
    unknown: Unknown,
}

/// An answer whose usage has not come yet.
#[derive(Default)]
struct Open {
    line: usize,
    first_at: Option<Instant>,
    last_at: Option<Instant>,
    parts: Vec<Part>,
    calls: Vec<Call>,
    searches: u64,
    /// Hash of its items.
    identity: u128,
}

impl Rollout {
    pub fn line(&mut self, reading: &mut Reading, line: usize, record: &Record<'_>) {
        let Record { timestamp, kind, payload } = record;
        let place = self.unknown.place(line, timestamp.as_deref());
        let payload = payload.map_or("null", RawValue::get);
        let read = match &**kind {
            "session_meta" => parsed(payload).map(|meta| self.meta(meta)),
            "turn_context" => parsed(payload).map(|context| self.context(place, &context)),
            "response_item" => parsed(payload).map(|element| self.element(place, &element, payload)),
            "event_msg" => parsed(payload).and_then(|event| self.event(place, &event)),
            "compacted" => parsed(payload).map(|compacted| self.compacted(place, &compacted)),
            other => {
                self.unknown.add(other, line);
                Ok(())
            }
        };
        if let Err(what) = read {
            reading.damage(Fault::in_line(line, format!("{}: {what}", found(kind))));
        }
    }

    /// The first one is the file's own; later ones were copied with a fork, whose answers are the parent's.
    fn meta(&mut self, meta: Meta<'_>) {
        let origin = meta.forked_from_id.as_ref().or(meta.id.as_ref());
        self.origin = origin.map(|id| self.names.get(id)).or_else(|| self.origin.take());
        if mem::replace(&mut self.has_meta, true) {
            return;
        }
        let id = meta.id.map(|id| self.names.get(&id));
        let spawned = meta.source.and_then(|raw| serde_json::from_str::<Source<'_>>(raw.get()).ok());
        let parent = spawned
            .as_ref()
            .and_then(|source| serde_json::from_str::<Spawned<'_>>(source.subagent.get()).ok())
            .map(|spawned| spawned.thread_spawn.parent_thread_id)
            .or(meta.parent_thread_id);
        let is_agent = spawned.is_some() || parent.is_some();
        let root = meta.session_id.or(parent).map(|root| self.names.get(&root));
        self.session = if is_agent { root.or_else(|| id.clone()) } else { id.clone() };
        self.agent = id.filter(|_| is_agent);
        self.project = meta.cwd.map(|cwd| Arc::from(&*cwd));
        self.version = meta.cli_version.map(|version| Arc::from(&*version));
    }

    fn context(&mut self, place: Place, context: &TurnContext<'_>) {
        self.model = context.model.as_deref().map(|model| self.names.get(model)).or_else(|| self.model.take());
        let mode = context.collaboration_mode.as_ref();
        let settings = mode.and_then(|mode| mode.settings.as_ref());
        let effort = context.effort.as_deref().or_else(|| settings?.reasoning_effort.as_deref());
        self.effort = effort.map(|effort| self.names.get(effort));
        let is_planning = mode.and_then(|mode| mode.mode.as_deref()) == Some("plan");
        if mem::replace(&mut self.is_planning, is_planning) != is_planning {
            self.put(place.sign(Sign::PlanMode(is_planning)));
        }
    }

    /// Adds an item at the end, or after the open answer if there is one.
    fn put(&mut self, item: Item) {
        match self.open.parts.is_empty() {
            true => self.push(item),
            false => self.later.push(item),
        }
    }

    fn push(&mut self, item: Item) {
        if let What::Input(given) = &item.what {
            self.given_at = item.at.or(self.given_at);
            if given.origin == InputOrigin::Prompt {
                self.prompts.push(self.items.len());
            }
        }
        self.items.push(item);
    }

    fn element(&mut self, place: Place, element: &Element<'_>, raw: &str) {
        match sort(element, raw, &mut self.names) {
            Content::Given(origin, parts) => {
                self.is_used |= origin == InputOrigin::Prompt;
                self.put(place.input(origin, parts));
            }
            Content::Result { part, output } => {
                self.put(place.input(InputOrigin::ToolResults, vec![part]));
                if let Some(agent) = output.and_then(started) {
                    let agent = self.names.get(&agent);
                    self.put(place.spawned(part.call, agent, SpawnMode::Background));
                }
            }
            Content::Made { part, call, searched } => self.open.add(place, part, call, searched, raw),
            Content::Nothing => {}
            Content::Unknown => self.unknown.add(&element.kind, place.line),
        }
    }

    fn event(&mut self, place: Place, event: &Event<'_>) -> Result<(), String> {
        match &*event.kind {
            "token_count" => self.count(place, event.info.map_or("null", RawValue::get))?,
            "task_started" | "turn_started" => self.is_used = false,
            "task_complete" | "turn_complete" => {
                self.close(place, None);
                self.push(place.sign(Sign::TurnEnded { duration_ms: event.duration_ms }));
            }
            "turn_aborted" => {
                self.close(place, None);
                self.push(place.sign(Sign::Interrupted));
            }
            "thread_rolled_back" => self.roll_back(place, event.num_turns.unwrap_or(1)),
            "stream_error" | "error" => {
                self.retries += 1;
                let failed = Sign::Failed { status: None, attempt: self.retries, retry_in_ms: None };
                self.put(place.sign(failed));
            }
            // What the screen showed of items that are in the file themselves, and internal events of the client.
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, place: Place, info: &str) -> Result<(), String> {
        let Some(Info { total_token_usage, last_token_usage }) = parsed::<Option<Info>>(info)? else { return Ok(()) };
        let before = self.total.unwrap_or_default();
        let last = last_token_usage.or_else(|| Some(total_token_usage?.since(before)));
        let repeats = total_token_usage.is_some() && total_token_usage == self.total;
        self.total = total_token_usage.or(self.total);
        let is_counted = |last: &Tokens| last.input_tokens > 0 || last.output_tokens > 0;
        let Some(last) = last.filter(|last| !repeats && is_counted(last)) else { return Ok(()) };
        let usage = last.usage();
        self.size = usage.is_ok().then(|| last.input_tokens + last.output_tokens);
        self.close(place, Some((last, usage.as_ref().ok().copied())));
        usage.map(|_| ())
    }

    /// Ends the open answer, with its usage if known.
    fn close(&mut self, place: Place, counted: Option<(Tokens, Option<RecordedUsage>)>) {
        let open = mem::take(&mut self.open);
        if counted.is_none() && open.parts.is_empty() {
            return self.settle();
        }
        let id = self.identity(&open, place.line, counted.map(|(last, _)| last));
        let model = self.model.clone().unwrap_or_else(|| self.names.get(""));
        let usage = counted.and_then(|(_, usage)| usage).map(|usage| RecordedUsage {
            web_search_requests: open.searches,
            server_passes: open.searches > 0,
            ..usage
        });
        let answer = Answer {
            version: self.version.clone(),
            effort: self.effort.clone(),
            sent_at: self.given_at.or(open.first_at),
            first_at: open.first_at.or(place.at),
            ended_at: open.last_at.or(place.at),
            usage,
            stop: match (open.calls.is_empty(), counted) {
                (false, _) => Stop::ToolUse,
                (true, Some(_)) => Stop::EndTurn,
                (true, None) => Stop::Other,
            },
            parts: open.parts,
            calls: open.calls,
            retries: mem::take(&mut self.retries),
            ..Answer::of(id, model)
        };
        let line = if open.line == 0 { place.line } else { open.line };
        self.items.push(Place { line, at: answer.first_at }.answer(answer));
        self.is_used = true;
        self.given_at = open.last_at.or(place.at).or(self.given_at);
        self.settle();
    }

    /// Moves the items that arrived after the answer to their place.
    fn settle(&mut self) {
        for item in mem::take(&mut self.later) {
            self.push(item);
        }
    }

    /// If nothing was counted, the items themselves identify a request.
    fn identity(&self, open: &Open, line: usize, counted: Option<Tokens>) -> u128 {
        let origin = self.origin.as_deref().unwrap_or_default().as_bytes();
        let Some(last) = counted else {
            return pieces_hash(&[b"codex", origin, &open.identity.to_le_bytes()]);
        };
        let place = if self.total.is_some() { 0 } else { line };
        last.request_id(origin, place, self.total.unwrap_or_default())
    }

    fn roll_back(&mut self, place: Place, turns: usize) {
        self.close(place, None);
        self.prompts.truncate(self.prompts.len().saturating_sub(turns.saturating_sub(1)));
        let Some(prompt) = self.prompts.pop() else { return };
        let to = prompt.checked_sub(1).and_then(|last| u32::try_from(last).ok());
        self.push(place.sign(Sign::Rewound { to }));
    }

    fn compacted(&mut self, place: Place, compacted: &Compacted<'_>) {
        self.close(place, None);
        self.push(place.sign(Sign::Compacted { before_tokens: self.size, automatic: self.is_used }));
        let kept = compacted.replacement_history.iter().flatten();
        let message = compacted.message.into_iter().filter(|message| message.get() != "\"\"");
        let parts = match &compacted.replacement_history {
            Some(_) => kept.map(|item| part(BlockKind::Opaque, item.get())).collect::<Vec<_>>(),
            None => message.map(|text| part(BlockKind::Text, text.get())).collect(),
        };
        if !parts.is_empty() {
            self.push(place.input(InputOrigin::Summary, parts));
        }
    }

    pub fn finish(mut self, reading: &mut Reading) -> Thread {
        let last = self.items.last().map_or(0, |item| item.line as usize);
        self.close(Place { line: last, at: None }, None);
        self.unknown.finish(reading);
        if self.model.is_none() && self.items.iter().any(|item| item.answer().is_some()) {
            reading.notes.push("no `turn_context` names the model: requests have usage and no price".to_owned());
        }
        Thread { agent: self.agent, ..thread(self.session, self.project, self.items) }
    }
}

impl Open {
    fn add(&mut self, place: Place, part: Part, call: Option<Call>, searched: bool, raw: &str) {
        if self.parts.is_empty() {
            (self.line, self.first_at) = (place.line, place.at);
        }
        self.last_at = place.at.or(self.last_at);
        self.identity = pieces_hash(&[&self.identity.to_le_bytes(), raw.as_bytes()]);
        self.parts.push(part);
        self.calls.extend(call);
        self.searches += u64::from(searched);
    }
}

impl Tokens {
    /// The increase since an earlier sum. Sums that decreased were restarted.
    fn since(self, before: Self) -> Self {
        let less = |now: u64, then: u64| now.checked_sub(then).unwrap_or(now);
        Self {
            input_tokens: less(self.input_tokens, before.input_tokens),
            cached_input_tokens: less(self.cached_input_tokens, before.cached_input_tokens),
            cache_write_input_tokens: less(self.cache_write_input_tokens, before.cache_write_input_tokens),
            output_tokens: less(self.output_tokens, before.output_tokens),
            reasoning_output_tokens: less(self.reasoning_output_tokens, before.reasoning_output_tokens),
            total_tokens: less(self.total_tokens, before.total_tokens),
        }
    }

    /// Sums grow with every request, so a sum and its last increase identify one request of a session.
    fn request_id(self, session: &[u8], place: usize, sum: Self) -> u128 {
        let mut pieces: Vec<[u8; 8]> = self.words().map(u64::to_le_bytes).to_vec();
        pieces.extend(sum.words().map(u64::to_le_bytes));
        pieces_hash(&[b"codex", session, &place.to_le_bytes(), pieces.as_flattened()])
    }

    const fn words(self) -> [u64; 5] {
        let Self { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens, total_tokens, .. } = self;
        [input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens, total_tokens]
    }

    fn usage(self) -> Result<RecordedUsage, String> {
        // Other providers may count reasoning separately from the output: their total shows it.
        let input = believed("input_tokens", self.input_tokens)?;
        let output = believed("output_tokens", self.output_tokens)?;
        let reasoning = believed("reasoning_output_tokens", self.reasoning_output_tokens)?;
        let is_beside = input + output + reasoning == self.total_tokens;
        let beside = if is_beside { reasoning } else { 0 };
        let prompt = PromptCounts {
            name: "input_tokens",
            tokens: input,
            read: self.cached_input_tokens,
            written: self.cache_write_input_tokens,
        };
        within(prompt, output + beside, reasoning)
    }
}

/// The requests of a rollout that another file lists without its text: counted in order, they have the ids of the rollout's.
#[derive(Default)]
pub(in crate::formats) struct Listed {
    sum: Tokens,
}

impl Listed {
    /// The id of the session's next request.
    pub fn next(&mut self, session: &str, [input, cached, output, reasoning]: [u64; 4]) -> u128 {
        let tokens = |[input, cached, output, reasoning]: [u64; 4]| Tokens {
            input_tokens: input,
            cached_input_tokens: cached,
            output_tokens: output,
            reasoning_output_tokens: reasoning,
            total_tokens: input.saturating_add(output),
            ..Tokens::default()
        };
        let [sum_input, sum_cached, sum_output, sum_reasoning, _] = self.sum.words();
        let sums = [(sum_input, input), (sum_cached, cached), (sum_output, output), (sum_reasoning, reasoning)];
        self.sum = tokens(sums.map(|(sum, tokens)| sum.saturating_add(tokens)));
        tokens([input, cached, output, reasoning]).request_id(session.as_bytes(), 0, self.sum)
    }
}
