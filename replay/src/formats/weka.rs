//! WEKA's traces of Claude Code: a conversation with its sub-agents, blocks as ids.
//!
//! ```json
//! {"id":"trace_0001","models":["claude-…"],"block_size":64,"hash_id_scope":"local","tool_tokens":12974,"system_tokens":2771,
//!  "requests":[{"t":0.0,"type":"n","model":"claude-…","in":16564,"out":244,"hash_ids":[1,2,…],"api_time":7.27,"think_time":0.0},
//!              {"t":134.2,"type":"subagent","agent_id":"agent_001","requests":[{"t":0.0,…}],…}],"totals":{…}}
//! ```
//!
//! * `t` counts seconds from the start of the trace; within a sub-agent, from its own start. Requests whose `t` is not
//!   in the order of the file are sorted by time.
//! * Only whole blocks have ids: the rest of a prompt after the last one has none, so there are `in / 64` of them,
//!   rounded down. A sub-agent's ids are its parent's: equal ids are equal content.
//! * `type` is `n` (whole answer), `s` (streamed, with `ttft`) or `subagent`. A missing stop reason is an empty string;
//!   such requests mostly lack `api_time` too.
//! * There is no cache usage: the traces were recorded for their shapes.
//!
//! A file contains one trace, or one on each line. If a file is incomplete, the requests before its end are read.
//!
//! Source: github.com/callanjfox/kv-cache-tester, read 2026-11.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use forkcast_sim::time::{Duration, Instant};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::block_ids::{BlockIds, BlocksLeft};
use super::json::{DEPTH_LIMIT, member, ranges, skip_space, value_start, walk_value};
use super::reader::{File, Probe, Reader};
use super::text::{Text, glimpse};
use super::{Reading, when};
use crate::count::believed;
use crate::error::Fault;
use crate::trace::{BlockSizes, Clock, Conversation, IdScope, Steps, Trace, TraceRequest};

/// Tokens of a block, by default.
const BLOCK_TOKENS: u64 = 64;

/// The maximum offset at which a trace has its scope.
const HEAD: usize = 1_000;

/// The maximum depth of sub-agents of sub-agents.
const AGENTS_DEEP: usize = 16;

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    t: &'a RawValue,
    model: Option<Cow<'a, str>>,
    #[serde(rename = "in")]
    input: u64,
    #[serde(default)]
    out: u64,
    hash_ids: BlockIds,
    api_time: Option<&'a RawValue>,
    think_time: Option<&'a RawValue>,
    ttft: Option<&'a RawValue>,
}

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "weka",
    what: "WEKA's traces of Claude Code: conversations with their sub-agents, prompts as ids of blocks of 64 tokens",
    detected_by: "top-level keys `hash_id_scope` and `requests`",
    probe: |object| Probe::sure(object.has_all(&["hash_id_scope", "requests"])),
    read,
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let blocks_left = BlocksLeft::default();
    let mut traces = Traces { text, reading: Reading::default(), index: 0, odd: 0, late: 0, blocks_left };
    let mut at = skip_space(text.bytes, 0);
    while at < text.bytes.len() {
        // An incomplete trace is read as far as it goes, but not beyond the next one.
        let walked = walk_value(text.bytes, at);
        let end = walked.as_ref().map_or_else(|_| next_trace(text.bytes, at), |end| *end);
        let reported = traces.reading.unreadable.len();
        traces.trace(at..end);
        if let Err(broken) = walked
            && traces.reading.unreadable.len() == reported
        {
            traces.reading.damage(text.fault(broken.at, broken.what));
        }
        at = skip_space(text.bytes, end);
    }
    traces.finish()
}

/// Where the next line with a trace begins.
fn next_trace(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..];
    let starts = memchr::memmem::find_iter(rest, b"\n{").map(|at| from + at + 1);
    // The key comes before the requests.
    let head = |at: usize| &bytes[at..bytes.len().min(at + HEAD)];
    let mut starts = starts.filter(|at| memchr::memmem::find(head(*at), b"\"hash_id_scope\"").is_some());
    starts.next().unwrap_or(bytes.len())
}

struct Traces<'a> {
    text: &'a Text<'a>,
    reading: Reading,
    /// Requests so far, including unreadable ones.
    index: usize,
    /// Requests whose number of blocks does not match their size.
    odd: usize,
    /// Requests older than the previous one in the file.
    late: usize,
    blocks_left: BlocksLeft,
}

/// What a request inherits from its place.
#[derive(Clone)]
struct Place {
    parent: Option<usize>,
    start: Instant,
    model: Option<Arc<str>>,
    deep: usize,
}

impl<'a> Traces<'a> {
    fn finish(mut self) -> Reading {
        if self.odd > 0 {
            let what = "requests whose number of blocks is not that of their size";
            self.reading.notes.push(format!("{} {what}", self.odd));
        }
        if self.late > 0 {
            let what = "requests are older than the one before them: taken in order of time";
            self.reading.notes.push(format!("{} {what}", self.late));
        }
        self.reading
    }

    fn trace(&mut self, range: Range<usize>) {
        let raw = &self.text.bytes[range.clone()];
        // Every figure of the trace depends on the size of its blocks.
        let size = match self.count(raw, "block_size") {
            Ok(size) => size.filter(|size| *size > 0).unwrap_or(BLOCK_TOKENS),
            Err(fault) => return self.reading.damage(fault),
        };
        let models = member(raw, "models").and_then(|raw| serde_json::from_slice::<Vec<String>>(raw).ok());
        let mut trace = Trace {
            id: string(raw, "id"),
            clock: Clock::Start,
            scope: IdScope::Conversation,
            sizes: BlockSizes::Equal(size),
            texts: Vec::new(),
            conversations: Vec::new(),
        };
        let model = models.and_then(|models| models.into_iter().next()).map(Arc::from);
        let place = Place { parent: None, start: Instant::default(), model, deep: 0 };
        self.conversation(&mut trace, range, "main", &place);
        if trace.requests() > 0 {
            self.reading.traces.push(trace);
        }
    }

    /// Reads the requests of the object at `range`; those of its sub-agents follow.
    fn conversation(&mut self, trace: &mut Trace, range: Range<usize>, id: &str, place: &Place) {
        let raw = &self.text.bytes[range.clone()];
        let Some(list) = value_start(raw, "requests").map(|at| range.start + at) else {
            let fault = self.text.fault(range.start, "found no key `requests`, or damage before it");
            return self.reading.damage(fault);
        };
        if self.text.bytes.get(list) != Some(&b'[') {
            let found = glimpse(&self.text.bytes[list..]);
            let fault = self.text.fault(list, format!("found {found}, expected the list `requests`"));
            return self.reading.damage(fault);
        }
        let own = trace.conversations.len();
        let [tool_tokens, system_tokens] = ["tool_tokens", "system_tokens"].map(|key| {
            let count = self.count(raw, key).map_err(|fault| self.reading.damage(fault));
            count.ok().flatten().unwrap_or(0)
        });
        trace.conversations.push(Conversation {
            id: id.to_owned(),
            parent: place.parent,
            tool_tokens,
            system_tokens,
            requests: Vec::new(),
        });
        let mut steps = Steps::default();
        for element in ranges(&self.text.bytes[..range.end], list) {
            match element {
                Ok(range) => self.element(trace, own, range, &mut steps, place),
                Err(broken) => self.reading.damage(self.text.fault(broken.at, broken.what)),
            }
        }
        self.sort(&mut trace.conversations[own]);
    }

    fn sort(&mut self, conversation: &mut Conversation) {
        let late = conversation.late_requests();
        if late > 0 {
            self.late += late;
            conversation.sort_by_time();
        }
    }

    fn element(&mut self, trace: &mut Trace, own: usize, range: Range<usize>, steps: &mut Steps, place: &Place) {
        let raw = &self.text.bytes[range.clone()];
        if member(raw, "requests").is_some() {
            self.agent(trace, own, range, place);
            return;
        }
        let index = self.index;
        self.index += 1;
        let read = self.request(index, range.start, raw, place).and_then(|(request, mut ids)| {
            self.hold(trace, range.start, &request, &mut ids)?;
            Ok((request, ids))
        });
        match read {
            Ok((request, ids)) => {
                let (kept, added) = steps.step(ids);
                trace.conversations[own].requests.push(TraceRequest { kept, added, ..request });
            }
            Err(fault) => self.reading.damage(fault),
        }
    }

    /// Compares the number of blocks with the size of the prompt: rounded down or up it is as expected, fewer are
    /// noted, and more contradict the size. The id of a last block that is not full is dropped: another prompt with this
    /// id has other content there.
    fn hold(&mut self, trace: &Trace, at: usize, request: &TraceRequest, ids: &mut Vec<u64>) -> Result<(), Fault> {
        let BlockSizes::Equal(size) = trace.sizes else { return Ok(()) };
        let (blocks, most) = (ids.len() as u64, request.input_tokens.div_ceil(size));
        if blocks > most {
            let what = format!(
                "found {blocks} blocks of {size} tokens, expected at most {most} in a prompt of {}",
                request.input_tokens
            );
            return Err(self.text.fault(at, what));
        }
        self.odd += usize::from(blocks < request.input_tokens / size);
        if blocks > request.input_tokens / size {
            ids.pop();
        }
        Ok(())
    }

    fn agent(&mut self, trace: &mut Trace, own: usize, range: Range<usize>, place: &Place) {
        let raw = &self.text.bytes[range.clone()];
        if place.deep == AGENTS_DEEP {
            let fault = self.text.fault(range.start, format!("found agents {} deep", DEPTH_LIMIT.min(AGENTS_DEEP + 1)));
            return self.reading.damage(fault);
        }
        let started = member(raw, "t").and_then(|raw| nanos(std::str::from_utf8(raw).ok()?));
        let Some(start) = started.and_then(|started| when::believed(place.start + Duration(started))) else {
            let fault = self.text.fault(range.start, "found no seconds under `t` of a sub-agent");
            return self.reading.damage(fault);
        };
        let place = Place { parent: Some(own), start, model: place.model.clone(), deep: place.deep + 1 };
        let id = string(raw, "agent_id");
        self.conversation(trace, range, &id, &place);
    }

    fn request(
        &mut self,
        index: usize,
        at: usize,
        raw: &[u8],
        place: &Place,
    ) -> Result<(TraceRequest, Vec<u64>), Fault> {
        let row: Record<'_> = serde_json::from_slice(raw).map_err(|error| self.text.json_fault(at, &error))?;
        self.blocks_left.take(&row.hash_ids).map_err(|what| self.text.fault(at, what))?;
        let sent = self.seconds("t", Some(row.t))?.unwrap_or_default();
        let late = || self.text.fault(at, "`t`: found an instant more than two centuries after the start of the trace");
        let counted = |name, count| believed(name, count).map_err(|what| self.text.fault(at, what));
        let request = TraceRequest {
            index,
            line: self.text.line_of(at),
            at: when::believed(place.start + sent).ok_or_else(late)?,
            api_time: self.seconds("api_time", row.api_time)?,
            first_byte_time: self.seconds("ttft", row.ttft)?,
            think_time: self.seconds("think_time", row.think_time)?,
            model: named(row.model.as_deref(), place.model.as_ref()),
            input_tokens: counted("in", row.input)?,
            output_tokens: counted("out", row.out)?,
            ..TraceRequest::default()
        };
        Ok((request, row.hash_ids.0))
    }

    /// The count under `key` of the object `raw`, a part of the text; `None` if there is none.
    fn count(&self, raw: &[u8], key: &str) -> Result<Option<u64>, Fault> {
        let Some(digits) = member(raw, key) else { return Ok(None) };
        let place = |what| self.text.fault(self.text.offset_of(digits), what);
        let count = serde_json::from_slice::<Option<u64>>(digits)
            .map_err(|_| place(format!("`{key}`: found {}, expected a whole number", glimpse(digits))))?;
        count.map(|count| believed(key, count).map_err(place)).transpose()
    }

    fn seconds(&self, key: &str, raw: Option<&RawValue>) -> Result<Option<Duration>, Fault> {
        let Some(raw) = raw.map(RawValue::get).filter(|raw| *raw != "null") else { return Ok(None) };
        nanos(raw).map(|nanos| Some(Duration(nanos))).ok_or_else(|| {
            let at = self.text.offset_of(raw.as_bytes());
            self.text.fault(at, format!("`{key}`: expected seconds, with at most nine decimals"))
        })
    }
}

/// The request's model, else the trace's; most are equal, and then it is stored once.
fn named(own: Option<&str>, given: Option<&Arc<str>>) -> Option<Arc<str>> {
    match own.filter(|own| given.is_none_or(|given| given.as_ref() != *own)) {
        Some(own) => Some(Arc::from(own)),
        None => given.cloned(),
    }
}

fn nanos(text: &str) -> Option<u64> {
    when::seconds(text).map(|instant| instant.0)
}

fn string(raw: &[u8], key: &str) -> String {
    super::json::member_text(raw, key).map(|text| text.into_owned()).unwrap_or_default()
}
