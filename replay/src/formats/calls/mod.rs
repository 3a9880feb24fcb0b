//! Recorded HTTP calls of all recorders.
//!
//! A reader of such recordings only finds the parts of a call in its own container. What is common is here: calls that
//! are no model requests, the exchange, its instants and its answer; [`message`] has the spellings that several
//! recorders share.

pub(super) mod message;

use std::borrow::Cow;

use forkcast_sim::time::Instant;

use super::reader::File;
use super::text::Text;
use super::value::Value;
use super::{Passed, Reading, json, logged};
use crate::exchange::{Exchange, Origin};
use crate::http::{self, Clock, Request, Response, Sorted};

/// One recorded call.
pub(super) struct Call<'a> {
    /// What was sent.
    pub request: Request<'a>,
    /// What came back; `None` if nothing was recorded.
    pub response: Option<Response<'a>>,
    /// When.
    pub when: When,
}

impl<'a> Call<'a> {
    /// The call of a `{request, response}`; `body` finds the body of either.
    pub fn of_pair(
        pair: &'a Value,
        when: When,
        body: impl Fn(&'a Value) -> Result<Cow<'a, [u8]>, String>,
    ) -> Result<Self, String> {
        let request = pair.get("request").ok_or("found no `request`")?;
        if let Some(name) = pair.repeated(&["request", "response"]) {
            return Err(format!("found `{name}` twice in one call, expected one"));
        }
        let address = ["uri", "url"].into_iter().find_map(|name| request.text_of(name));
        let response = |response| Response {
            status: message::status(response),
            headers: message::headers(response),
            body: body(response),
        };
        Ok(Self {
            request: Request {
                method: request.text_of("method").unwrap_or("POST").into(),
                uri: address.ok_or("found no `request.uri` and no `request.url`")?.into(),
                headers: message::headers(request),
                body: body(request),
            },
            response: pair.get("response").map(response),
            when,
        })
    }
}

/// The instants of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    /// Headers of the answer have them; beside these the recorder noted at most the end.
    ByHeaders {
        /// When the answer was complete.
        ended: Option<Instant>,
    },
    /// The recorder noted them.
    Recorded {
        /// See [`Exchange::sent_at`].
        sent: Option<Instant>,
        /// See [`Exchange::first_byte_at`].
        first_byte: Option<Instant>,
        /// See [`Exchange::ended_at`].
        ended: Option<Instant>,
    },
}

/// The calls of one file.
pub(super) struct Calls<'a> {
    file: &'a str,
    /// The recorder's word for one call: `interaction`, `entry`.
    word: &'static str,
    /// What was read so far.
    pub reading: Reading,
    /// Calls whose prompt was not recorded as a whole.
    pub without_prompt: Vec<usize>,
    passed: Passed,
    clock: Clock,
}

impl<'a> Calls<'a> {
    /// No calls yet.
    pub fn new(file: &File<'a>, word: &'static str) -> Self {
        Self {
            file: file.name,
            word,
            reading: file.reading(),
            without_prompt: Vec::new(),
            passed: Passed::default(),
            clock: Clock::default(),
        }
    }

    /// The place of a call.
    pub fn origin(&self, index: usize, line: usize) -> Origin {
        Origin { file: self.file.to_owned(), index, line }
    }

    /// Lists a call that is no request to a model.
    pub fn pass_over(&mut self, index: usize, line: usize, reason: &str) {
        self.passed.add(&mut self.reading, &format!("{} {index}, line {line}: {reason}", self.word));
    }

    /// Adds the call at `index`, or says why it cannot be read.
    pub fn add(&mut self, index: usize, line: usize, call: Result<Call<'_>, String>) {
        let exchange = call.and_then(|call| self.exchange(index, line, &call));
        self.take(index, line, exchange);
    }

    /// Adds an exchange, or says why it cannot be read.
    pub fn take(&mut self, index: usize, line: usize, exchange: Result<Option<Exchange>, String>) {
        self.reading.take(line, format_args!("{} {index}", self.word), exchange);
    }

    /// The exchange of a call; `None` for a call that is no model request, which is listed as such.
    pub fn exchange(&mut self, index: usize, line: usize, call: &Call<'_>) -> Result<Option<Exchange>, String> {
        let mut exchange = match http::exchange(self.origin(index, line), &call.request)? {
            Sorted::Model(exchange) => *exchange,
            Sorted::Elsewhere(reason) => {
                self.pass_over(index, line, &reason);
                return Ok(None);
            }
        };
        if let When::Recorded { sent, first_byte, ended } = call.when {
            (exchange.sent_at, exchange.first_byte_at, exchange.ended_at) = (sent, first_byte, ended);
        }
        if let Some(response) = &call.response {
            if let When::ByHeaders { ended } = call.when {
                self.clock.stamp(&mut exchange, &response.headers, ended);
            }
            let answer = http::attach(&mut exchange, response, self.reading.keeps_answers);
            self.reading.add(&exchange.origin, line, answer);
        }
        Ok(Some(exchange))
    }

    /// Passes each element of the list at `path` of a JSON document to `take`, with its index and line; reports those
    /// that cannot be read.
    pub fn each(&mut self, text: &Text<'_>, path: &[&str], mut take: impl FnMut(&mut Self, usize, usize, &Value)) {
        let (ranges, fault) = text.elements_at(path);
        let mut is_whole = true;
        for (index, range) in ranges.into_iter().enumerate() {
            let (line, start) = (text.line_of(range.start), range.start);
            match Value::from_json(&text.bytes[range]) {
                Ok(element) => take(self, index, line, &element),
                Err(error) => {
                    is_whole = false;
                    self.reading.damage(text.json_fault(start, &error));
                }
            }
        }
        fault.filter(|_| is_whole).into_iter().for_each(|fault| self.reading.damage(fault));
    }

    /// Passes each record of a text to `take`, likewise.
    pub fn each_record(&mut self, text: &Text<'_>, mut take: impl FnMut(&mut Self, usize, usize, &Value)) {
        let mut index = 0;
        for record in text.records() {
            let (start, value) = match record {
                Ok(range) => (range.start, Value::from_json(&text.bytes[range])),
                Err(damaged) => {
                    self.reading.damage_record(damaged.fault);
                    continue;
                }
            };
            match value {
                Ok(value) => take(self, index, text.line_of(start), &value),
                Err(error) => self.reading.damage_record(text.json_fault(start, &error)),
            }
            index += 1;
        }
    }

    /// Adds the only call of a file that is one JSON document.
    pub fn add_document(&mut self, text: &Text<'_>, describe: impl Fn(&Value) -> Result<Call<'_>, String>) {
        let start = json::skip_space(text.bytes, 0);
        match Value::from_json(text.bytes) {
            Ok(document) => self.add(0, text.line_of(start), describe(&document)),
            Err(error) => self.reading.damage(text.json_fault(0, &error)),
        }
    }

    /// Everything that was read.
    pub fn finish(mut self) -> Reading {
        self.passed.finish(&mut self.reading);
        logged::note_absent(&mut self.reading, &self.without_prompt, self.word);
        self.reading
    }
}
