//! The result of reading one file.

use std::fmt;

use serde::Deserialize;

use super::text::Text;
use crate::error::Fault;
use crate::exchange::{Exchange, Origin};
use crate::response::Answer;
use crate::trace::Trace;
use crate::transcript::Thread;

/// The result of reading one file.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The exchanges, in the file's order.
    pub exchanges: Vec<Exchange>,
    /// The agents of a transcript.
    pub threads: Vec<Thread>,
    /// The serving traces.
    pub traces: Vec<Trace>,
    /// Parts of the file that are not model requests (file uploads, token counting, telemetry): one reason each.
    pub skipped: Vec<String>,
    /// Damage that could be repaired without guessing.
    pub repaired: Vec<Fault>,
    /// Damage with a loss: an exchange, or the usage of one.
    pub unreadable: Vec<Fault>,
    /// Damaged places beyond those listed: a file of gigabytes may have as many as it has bytes.
    pub unreadable_beyond: usize,
    /// Observations that change nothing.
    pub notes: Vec<String>,
    /// Exchanges keep their answers.
    pub(crate) keeps_answers: bool,
}

/// The maximum number of listed damaged places of one file; further ones are counted.
const FAULTS_LISTED: usize = 10_000;

impl Reading {
    /// Reports a damaged place.
    pub(crate) fn damage(&mut self, fault: Fault) {
        match self.unreadable.len() < FAULTS_LISTED {
            true => self.unreadable.push(fault),
            false => self.unreadable_beyond += 1,
        }
    }

    /// Adds the exchange of `what` in `line`, if it is one.
    pub(crate) fn take(&mut self, line: usize, what: fmt::Arguments<'_>, read: Result<Option<Exchange>, String>) {
        match read {
            Ok(exchange) => self.exchanges.extend(exchange),
            Err(why) => self.damage(Fault::in_line(line, format!("{what}: {why}"))),
        }
    }

    /// Reports a damaged place in a text of records. Further errors in the same line are consequences and left out.
    pub(crate) fn damage_record(&mut self, fault: Fault) {
        if self.unreadable.last().is_none_or(|last| last.line != fault.line) {
            self.damage(fault);
        }
    }

    /// Passes each record of `text` to `take`, with its index and its line; reports invalid records, and those that
    /// `take` refuses.
    pub(crate) fn records<'a, T: Deserialize<'a>>(
        &mut self,
        text: &Text<'a>,
        mut take: impl FnMut(usize, usize, T) -> Result<(), String>,
    ) {
        let mut index = 0;
        for record in text.records() {
            let range = match record {
                Ok(range) => range,
                Err(damaged) => {
                    self.damage_record(damaged.fault);
                    continue;
                }
            };
            let start = range.start;
            match serde_json::from_slice(&text.bytes[range]) {
                Ok(row) => {
                    if let Err(what) = take(index, text.line_of(start), row) {
                        self.damage_record(text.fault(start, what));
                    }
                }
                Err(error) => self.damage_record(text.json_fault(start, &error)),
            }
            index += 1;
        }
    }

    /// Adds the data of an answer other than its usage.
    pub(crate) fn add(&mut self, origin: &Origin, line: usize, answer: Answer) {
        let place = |what: String| Fault::in_line(line, format!("exchange {}: {what}", origin.index));
        let faults = answer.faults.into_iter().map(place);
        faults.for_each(|fault| self.damage(Fault { of_answer: true, ..fault }));
        self.repaired.extend(answer.repairs.into_iter().map(place));
        self.notes.extend(answer.notes.into_iter().map(|note| format!("exchange {}: {note}", origin.index)));
    }
}

/// The maximum number of listed parts of one file that are not model requests.
const PASSED_NAMED: usize = 10;

/// Parts of a file that are not model requests: the first ones are listed, the others counted, because a browser's
/// archive has hundreds of them.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    beyond: usize,
    named: usize,
}

impl Passed {
    /// Adds one.
    pub fn add(&mut self, reading: &mut Reading, reason: &str) {
        match self.named < PASSED_NAMED {
            true => reading.skipped.push(reason.to_owned()),
            false => self.beyond += 1,
        }
        self.named += 1;
    }

    /// Reports how many there were beyond those listed.
    pub fn finish(&self, reading: &mut Reading) {
        if self.beyond > 0 {
            reading.skipped.push(format!("{} more entries that are no model requests", self.beyond));
        }
    }
}
