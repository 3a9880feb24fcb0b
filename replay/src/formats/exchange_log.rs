//! Our own format, `forkcast.exchanges/1`: one exchange per line, in JSON.
//!
//! ```json
//! {"v":1,"at_ms":1767225600000,"first_byte_ms":1767225600900.25,"ended_ms":1767225604000,"chain":"main","scope":"org-1",
//!  "batch":false,"request":{"model":"claude-opus-4-8","messages":[…]},"response":{"usage":{…}},"status":200}
//! ```
//!
//! (One line in the file; broken here.)
//!
//! | field | |
//! |---|---|
//! | `v` | 1, required |
//! | `at_ms` | when the request was sent: milliseconds since 1970, up to six decimals; null or absent if unknown |
//! | `first_byte_ms`, `ended_ms` | when the first byte of the answer arrived, and when it ended; also optional |
//! | `chain` | requests with equal values form one chain (session and agent); absent: determined from the bodies |
//! | `parent` | the chain that started this one |
//! | `agent_kind` | `main`, `fork`, `internal`, or the requested type |
//! | `continues` | the request of another chain that this one continues, by its position among the lines, counted from zero |
//! | `scope` | requests that may share a cache: an organisation or workspace; absent: the file |
//! | `batch` | sent through the batch interface; absent: no |
//! | `request` | the body, byte for byte as sent, required; line breaks outside of its strings become spaces |
//! | `block_tokens` | tokens of each block of the prompt, if they are declared |
//! | `response` | the body of the answer, or null; only `usage`, `content[].type` and `context_management` are read |
//! | `response_sse` | instead of `response`: the text of a streamed answer |
//! | `status` | HTTP status; from 400 on nothing was billed; absent: the answer, if there is one, was fine |
//! | `events_ms` | when each event of the stream arrived; only for those who play it again |
//! | `broke_off` | how an answer ended that is not whole: `lost`, `reset`, `silent`, `closed`, `given-up` |
//! | `retry_after_ms` | how long the provider asked the client to wait, if it refused |
//! | `usage` | what was billed, if the answer broke off before it said so |
//!
//! Unknown fields are refused, because a misspelt one would otherwise be lost without notice.

mod write;

use forkcast_sim::outside::found;
use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::TOKENS_MAX;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reader::{File, Probe, Reader};
use super::text::{Text, no_object, not_utf8};
use super::{Reading, bodies, body, json, when};
use crate::error::Fault;
use crate::exchange::{BreakOff, Exchange, Origin};

pub use write::{RawAnswer, write_line};

/// The version that is read and written.
const VERSION: &str = "1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'a> {
    #[serde(borrow)]
    v: &'a RawValue,
    at_ms: Option<&'a RawValue>,
    first_byte_ms: Option<&'a RawValue>,
    ended_ms: Option<&'a RawValue>,
    chain: Option<String>,
    parent: Option<String>,
    agent_kind: Option<String>,
    continues: Option<usize>,
    scope: Option<String>,
    #[serde(default)]
    batch: bool,
    #[serde(borrow)]
    request: &'a RawValue,
    block_tokens: Option<Vec<u64>>,
    response: Option<&'a RawValue>,
    response_sse: Option<String>,
    status: Option<u16>,
    events_ms: Option<Vec<&'a RawValue>>,
    broke_off: Option<String>,
    retry_after_ms: Option<&'a RawValue>,
    usage: Option<&'a RawValue>,
}

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "exchange-log",
    what: "forkcast.exchanges/1, one exchange per line with instants, bodies and answers",
    detected_by: "lines with keys `v` and `request`",
    probe: |object| Probe::sure(object.has_all(&["v", "request"])),
    read,
    // A run folder has both, and only the log has the answers.
    owner_of_bodies: |folder| (folder == "bodies").then_some("exchanges"),
    ..Reader::BARE
};

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut log = Log { file: file.name, text, reading: file.reading() };
    for (number, start, line) in text.lines() {
        log.line(number, start, line);
    }
    log.reading
}

/// Tokens of each prefix; `None` if sums are beyond any prompt.
fn cumulative(blocks: &[u64]) -> Option<Vec<u64>> {
    let mut end: u64 = 0;
    let ends = blocks.iter().map(|tokens| {
        end = end.checked_add(*tokens).filter(|end| *end <= TOKENS_MAX)?;
        Some(end)
    });
    ends.collect()
}

struct Log<'a> {
    file: &'a str,
    text: &'a Text<'a>,
    reading: Reading,
}

impl Log<'_> {
    fn line(&mut self, number: usize, start: usize, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_slice::<Record<'_>>(line) {
            Ok(parsed) => self.record(number, start, parsed),
            Err(_) => self.damaged(number, start, line),
        }
    }

    /// Two records without a line break between them (an interrupted write) are both read; anything else is damage.
    fn damaged(&mut self, number: usize, start: usize, line: &[u8]) {
        if let Some(at) = not_utf8(line) {
            let fault = self.text.fault(start + at, "found bytes that are not UTF-8");
            self.reading.damage(fault);
            return;
        }
        let mut at = json::skip_space(line, 0);
        let mut records = 0;
        while at < line.len() {
            if let Some(what) = no_object(&line[at..]) {
                self.reading.damage_record(self.text.fault(start + at, what));
                break;
            }
            let end = json::walk_value(line, at).unwrap_or(line.len());
            let raw = &line[at..end];
            match serde_json::from_slice::<Record<'_>>(raw) {
                Ok(parsed) => self.record(number, start + at, parsed),
                Err(error) => {
                    let fault = self.no_record(start + at, raw, &error);
                    self.reading.damage(fault);
                }
            }
            records += 1;
            at = json::skip_space(line, end);
        }
        if records > 1 {
            let what = format!("{records} records on one line, read one by one");
            self.reading.repaired.push(Fault::in_line(number, what));
        }
    }

    fn no_record(&self, start: usize, raw: &[u8], error: &serde_json::Error) -> Fault {
        match json::member(raw, "v") {
            Some(version) if version != VERSION.as_bytes() => self.other_version(start),
            _ => self.text.json_fault(start, error),
        }
    }

    fn other_version(&self, start: usize) -> Fault {
        self.text.fault(start, format!("found another version of forkcast.exchanges, expected `\"v\":{VERSION}`"))
    }

    fn record(&mut self, number: usize, start: usize, line: Record<'_>) {
        if let Err(fault) = self.exchange(number, start, line) {
            self.reading.damage(fault);
        }
    }

    fn exchange(&mut self, number: usize, start: usize, mut line: Record<'_>) -> Result<(), Fault> {
        if line.v.get() != VERSION {
            return Err(self.other_version(start));
        }
        let request = line.request.get().as_bytes();
        let at = self.text.offset_of(request);
        let model = body::look(request).map_err(|broken| self.text.fault(at + broken.at, broken.what))?;
        let origin = Origin { file: self.file.to_owned(), index: self.reading.exchanges.len(), line: number };
        let exchange = bodies::exchange(origin, model, request);
        let mut exchange = exchange.map_err(|why| self.text.fault(at, why))?;
        exchange.sent_at = self.instant("at_ms", line.at_ms)?;
        exchange.first_byte_at = self.instant("first_byte_ms", line.first_byte_ms)?;
        exchange.ended_at = self.instant("ended_ms", line.ended_ms)?;
        (exchange.chain, exchange.parent, exchange.scope) = (line.chain.take(), line.parent.take(), line.scope.take());
        (exchange.agent_kind, exchange.continues) = (line.agent_kind.take(), line.continues);
        // A block has at least one byte: a longer list of sizes belongs to another body.
        let block_tokens = line.block_tokens.take().filter(|blocks| blocks.len() <= request.len());
        exchange.sizes = block_tokens.and_then(|blocks| cumulative(&blocks));
        exchange.status = line.status;
        if line.batch {
            exchange.tier = ServiceTier::Batch;
        }
        match (line.response, &line.response_sse) {
            (Some(_), Some(_)) => return Err(self.text.fault(start, "found both `response` and `response_sse`")),
            (Some(raw), None) => bodies::attach(&mut exchange, raw.get().as_bytes(), number, &mut self.reading),
            (None, Some(events)) => bodies::attach(&mut exchange, events.as_bytes(), number, &mut self.reading),
            (None, None) => {}
        }
        if let Some(raw) = line.usage {
            let usage = bodies::usage(raw.get().as_bytes());
            exchange.usage = Some(usage.map_err(|why| self.text.fault(start, format!("`usage`: {why}")))?);
        }
        self.keep(&mut exchange, start, &line)?;
        self.reading.exchanges.push(exchange);
        Ok(())
    }

    /// The fields that only matter to those who play the answer again. They are checked in any case.
    fn keep(&self, exchange: &mut Exchange, start: usize, line: &Record<'_>) -> Result<(), Fault> {
        let break_off = line.broke_off.as_deref().map(|word| {
            BreakOff::named(word).ok_or_else(|| {
                let words = BreakOff::ALL.map(BreakOff::name).join(", ");
                self.text.fault(start, format!("`broke_off` is {}, expected one of: {words}", found(word)))
            })
        });
        let break_off = break_off.transpose()?;
        let is_answered = line.response.is_some() || line.response_sse.is_some() || exchange.usage.is_some();
        let is_begun = is_answered || exchange.first_byte_at.is_some() || line.events_ms.is_some();
        exchange.given_up = break_off == Some(BreakOff::GivenUp) && !is_begun;
        let retry_after = self.instant("retry_after_ms", line.retry_after_ms)?;
        let events = line.events_ms.iter().flatten();
        let events_at = events.map(|raw| self.instant("events_ms", Some(raw))).collect::<Result<Vec<_>, _>>()?;
        let says_more = break_off.is_some() || retry_after.is_some() || !events_at.is_empty();
        if self.reading.keeps_answers && says_more {
            let answer = exchange.answer.get_or_insert_default();
            answer.break_off = break_off;
            answer.retry_after = retry_after.map(|wait| wait.since(Instant::default()));
            answer.events_at = events_at.into_iter().flatten().collect();
        }
        Ok(())
    }

    fn instant(&self, name: &str, raw: Option<&RawValue>) -> Result<Option<Instant>, Fault> {
        let Some(raw) = raw else { return Ok(None) };
        let instant = when::millis(raw.get());
        instant.map(Some).ok_or_else(|| {
            let at = self.text.offset_of(raw.get().as_bytes());
            self.text.fault(at, format!("`{name}`: expected milliseconds with at most six decimals"))
        })
    }
}
