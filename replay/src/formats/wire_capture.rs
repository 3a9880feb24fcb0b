//! Captures of a proxy between a client and the provider: `{header, records[]}`, or request records line by line.
//!
//! Requests are `{ts, sid, key, headers, body}`, outcomes `{type: "outcome", ts, model, ms, usage}`. They share no id:
//! an outcome belongs to the request of its model that was sent `ms` before it. The proxy may rewrite a body on its
//! way, so the cached content is not exactly the captured one (`altered`), and the output count is the one at the start
//! of the stream.

mod outcome;

use std::ops::Range;

use forkcast_sim::outside::found;
use forkcast_sim::time::{Duration, Instant};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::outcome::Outcome;
use super::reader::{File, Object, Probe, Reader};
use super::text::{Text, no_object};
use super::{Reading, body, json, when};
use crate::error::Fault;
use crate::exchange::{Exchange, Origin};

/// The maximum distance between an outcome's start and its request. All 92 pairs of the known captures are within 1 ms.
const JOIN_WITHIN: Duration = Duration::from_millis(5);

/// The reader.
pub(super) const READER: Reader = Reader {
    name: "wire-capture",
    what: "requests of a real client seen by a proxy, joined with the outcomes it logged",
    detected_by: "top-level keys `header` and `records`, or lines with `ts` and `body`",
    probe,
    read,
    ..Reader::BARE
};

fn probe(object: &Object<'_>) -> Probe {
    let is_whole = object.is_document && object.has_all(&["header", "records"]);
    Probe::sure(is_whole || object.has_all(&["ts", "body"]))
}

fn read(file: &File<'_>) -> Reading {
    let text = &file.text();
    let mut capture =
        Capture { file: file.name, text, requests: Vec::new(), outcomes: Vec::new(), reading: Reading::default() };
    if json::value_start(text.bytes, "records").is_some() {
        let (ranges, fault) = text.elements_under("records");
        for range in ranges {
            capture.record(range);
        }
        if capture.reading.unreadable.is_empty() {
            fault.into_iter().for_each(|fault| capture.reading.damage(fault));
        }
    } else {
        for (_, start, line) in text.lines().filter(|(_, _, line)| !line.trim_ascii().is_empty()) {
            capture.record(start..start + line.len());
        }
    }
    capture.finish()
}

/// The relevant fields of a record; the body stays as bytes.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    ts: Option<String>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    model: Option<String>,
    ms: Option<f64>,
    usage: Option<&'a RawValue>,
}

struct Capture<'a> {
    file: &'a str,
    text: &'a Text<'a>,
    requests: Vec<Exchange>,
    outcomes: Vec<Outcome>,
    reading: Reading,
}

impl Capture<'_> {
    fn record(&mut self, range: Range<usize>) {
        let (start, bytes) = (range.start, &self.text.bytes[range]);
        if let Some(what) = no_object(bytes) {
            return self.reading.damage(self.text.fault(start, what));
        }
        let result = match serde_json::from_slice::<Record<'_>>(bytes) {
            Ok(record) => self.sort(start, &record),
            Err(error) => Err(self.text.record_fault(start, bytes, &error)),
        };
        if let Err(fault) = result {
            self.reading.damage(fault);
        }
    }

    fn sort(&mut self, start: usize, record: &Record<'_>) -> Result<(), Fault> {
        match (record.kind.as_deref(), record.body) {
            (Some("outcome"), _) => self.outcome(start, record),
            (None, Some(raw)) => self.request(start, record, raw),
            (Some("boot"), _) => Ok(()),
            (kind, _) => {
                let kind = kind.map_or_else(|| "`without type and body`".to_owned(), found);
                self.reading.notes.push(format!("line {}: record {kind}", self.text.line_of(start)));
                Ok(())
            }
        }
    }

    fn request(&mut self, start: usize, fields: &Record<'_>, raw: &RawValue) -> Result<(), Fault> {
        let raw = raw.get().as_bytes();
        let place = |broken: json::Broken| self.text.fault(self.text.offset_of(raw) + broken.at, broken.what);
        let model = body::look(raw).map_err(place)?;
        let origin = Origin { file: self.file.to_owned(), index: self.requests.len(), line: self.text.line_of(start) };
        let mut exchange = Exchange::request_only(origin, model, raw.to_vec());
        exchange.sent_at = self.instant(start, fields)?;
        exchange.altered = true;
        self.requests.push(exchange);
        Ok(())
    }

    fn outcome(&mut self, start: usize, fields: &Record<'_>) -> Result<(), Fault> {
        let place = |what: String| self.text.fault(start, what);
        let ended_at = self.instant(start, fields)?.ok_or_else(|| place("outcome without `ts`".to_owned()))?;
        let outcome = Outcome::new(ended_at, fields.model.as_deref(), fields.ms, fields.usage).map_err(place)?;
        self.outcomes.push(outcome);
        Ok(())
    }

    fn instant(&self, start: usize, fields: &Record<'_>) -> Result<Option<Instant>, Fault> {
        let Some(ts) = fields.ts.as_deref() else { return Ok(None) };
        let instant = when::iso(ts);
        instant.map(Some).ok_or_else(|| self.text.fault(start, "`ts` is no date as in 2000-01-01T00:00:00.000Z"))
    }

    /// Joins, nearest pairs first, each outcome and each request once.
    fn finish(mut self) -> Reading {
        let mut pairs = outcome::candidates(&self.requests, &self.outcomes, JOIN_WITHIN);
        pairs.sort_unstable();
        let mut joined = vec![false; self.outcomes.len()];
        for (_, outcome, request) in pairs {
            let (Some(used), Some(exchange)) = (joined.get_mut(outcome), self.requests.get_mut(request)) else {
                continue;
            };
            if !*used && exchange.usage.is_none() {
                self.outcomes[outcome].attach(exchange);
                *used = true;
            }
        }
        let lonely = joined.iter().filter(|used| !**used).count();
        if lonely > 0 {
            self.reading.notes.push(format!("{lonely} outcomes belong to no request of this capture"));
        }
        self.reading.exchanges = self.requests;
        self.reading
    }
}
